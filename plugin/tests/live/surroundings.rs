//! The commands that read more than slices and compositions.

use std::process::Command;

use serde_json::{Value, json};

use super::api_server::{ApiServer, Request, Response};
use crate::{kubeconfig, run};

fn slice(name: &str, resources: &[(&str, &str)]) -> Value {
    let manifest = |(kind, name): &(&str, &str)| {
        json!({"manifest": json!({
            "apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "prod"}}).to_string()})
    };
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
        "metadata": {
            "namespace": "team-a", "name": name, "uid": format!("uid-{name}"),
            "creationTimestamp": "2026-03-01T09:00:00Z", "finalizers": ["eno.azure.io/cleanup"],
            "ownerReferences": [{
                "apiVersion": "eno.azure.io/v1", "kind": "Composition", "name": "web", "uid": "uid-web",
                "controller": true,
            }],
        },
        "spec": {"resources": resources.iter().map(manifest).collect::<Vec<_>>()},
        "status": {"resources": vec![json!({"reconciled": true}); resources.len()]},
    })
}

fn composition() -> Value {
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Composition",
        "metadata": {
            "namespace": "team-a", "name": "web", "uid": "uid-web", "generation": 1,
            "finalizers": ["eno.azure.io/cleanup"],
            "ownerReferences": [{
                "apiVersion": "eno.azure.io/v1", "kind": "Symphony", "name": "all", "uid": "uid-all", "controller": true,
            }],
        },
        "spec": {"synthesizer": {"name": "helm"}},
        "status": {"currentSynthesis": {
            "uuid": "s1", "reconciled": "2026-03-01T10:00:00Z", "observedCompositionGeneration": 1,
            "resourceSlices": [{"name": "web-a"}],
        }},
    })
}

fn symphony() -> Value {
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Symphony",
        "metadata": {"namespace": "team-a", "name": "all", "uid": "uid-all", "generation": 1,
            "finalizers": ["eno.azure.io/cleanup"]},
        "spec": {"variations": [{"synthesizer": {"name": "helm"}}]},
        "status": {"observedGeneration": 1, "reconciled": "2026-03-01T10:00:00Z"},
    })
}

fn slices() -> [Value; 2] {
    let old = [("Secret", "there"), ("Secret", "gone"), ("Secret", "hidden"), ("Widget", "odd")];
    [slice("web-a", &[("Secret", "held")]), slice("web-old", &old)]
}

/// A composition of a symphony, with a slice that it needs and one that it does not; and what the two hold.
fn cluster(request: &Request) -> Response {
    let namespaced = "/apis/eno.azure.io/v1/namespaces/team-a";
    let path =
        request.path.replacen("/apis/eno.azure.io/v1/resourceslices", &format!("{namespaced}/resourceslices"), 1);
    let path = path.replacen("/apis/eno.azure.io/v1/compositions", &format!("{namespaced}/compositions"), 1);
    let [needed, old] = slices();
    let metadata = |name: &str| {
        json!({"metadata": {"name": name, "namespace": "prod", "uid": "u"},
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata"})
    };
    match path.strip_prefix(namespaced).unwrap_or(&path) {
        "/resourceslices" => Response::metadata_list(&[needed, old]),
        "/resourceslices/web-a" => Response::ok(needed),
        "/resourceslices/web-old" => Response::ok(old),
        "/compositions" => Response::list(&[composition()]),
        "/symphonies" => Response::list(&[symphony()]),
        "/api/v1/namespaces/team-a" => {
            Response::ok(json!({"metadata": {"name": "team-a"}, "status": {"phase": "Active"}}))
        }
        "/api/v1" => Response::ok(json!({
            "apiVersion": "v1", "kind": "APIResourceList", "groupVersion": "v1",
            "resources": [{"name": "secrets", "singularName": "secret", "namespaced": true, "kind": "Secret",
                "verbs": ["get"]}],
        })),
        "/api/v1/namespaces/prod/secrets/there" => Response::ok(metadata("there")),
        "/api/v1/namespaces/prod/secrets/held" => Response::ok(metadata("held")),
        "/api/v1/namespaces/prod/secrets/hidden" => Response::forbidden("secrets is forbidden"),
        path => Response::not_found(path.rsplit('/').next().unwrap_or_default()),
    }
}

#[test]
fn orphans_are_what_exists_and_no_slice_holds() {
    let server = ApiServer::start(cluster);
    let paths = "jsonpath={range .items[*]}{.kind}/{.name}={.presence}({.slice.name}) {end}";
    let (code, stdout, stderr) = run(&server, &["orphans", "--target-same", "-o", paths]);
    let expected = "Secret/hidden=Unknown(web-old) Secret/there=Exists(web-old) Widget/odd=Unknown(web-old) ";
    assert_eq!((code, stdout.as_str()), (2, expected), "{stderr}");
    assert_eq!(stderr, "Warning: of 2 resources it could not be told whether they exist\n");
    let asked: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    assert!(
        asked.contains(&"/apis/eno.azure.io/v1/resourceslices".to_owned()),
        "all namespaces may hold it: {asked:?}"
    );
    assert!(!asked.iter().any(|path| path.ends_with("/secrets/held")), "what is held is not asked for: {asked:?}");
}

#[test]
fn orphans_are_looked_for_in_the_target_alone() {
    let (server, target) = (ApiServer::start(cluster), ApiServer::start(cluster));
    let folder = tempfile::tempdir().unwrap();
    let other = kubeconfig(folder.path(), &target);
    let (_, stdout, _) = run(&server, &["orphans", "--target-kubeconfig", other.to_str().unwrap(), "--no-headers"]);
    assert!(stdout.contains("secret/there    Exists"), "{stdout}");
    assert!(server.requests().iter().all(|request| request.path.starts_with("/apis/eno.azure.io/")));
    assert!(target.requests().iter().all(|request| request.path.starts_with("/api/v1")));
}

#[test]
fn orphans_cannot_be_told_where_slices_are_hidden() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        "/apis/eno.azure.io/v1/namespaces/team-a/compositions" | "/apis/eno.azure.io/v1/compositions" => {
            Response::forbidden("no compositions")
        }
        _ => cluster(request),
    });
    let (code, stdout, stderr) = run(&server, &["orphans", "-A", "--target-same"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("cannot tell what no slice holds"), "{stderr}");
}

#[test]
fn orphans_of_lost_slices_are_known_from_snapshots() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        path if path.ends_with("/resourceslices") => Response::metadata_list(&[slice("web-a", &[("Secret", "held")])]),
        _ => cluster(request),
    });
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup.json");
    std::fs::write(&backup, slice("web-old", &[("Secret", "there"), ("Secret", "held")]).to_string()).unwrap();
    let backup = backup.to_str().unwrap();
    let (code, stdout, _) = run(&server, &["orphans", "--target-same", "--from", backup, "--no-headers"]);
    let words: Vec<&str> = stdout.split_whitespace().collect();
    assert_eq!((code, words), (0, vec!["prod", "secret/there", "Exists", "team-a/web-old", "web", "snapshot"]));
}

#[test]
fn tree_says_what_exists_only_where_it_looked() {
    let server = ApiServer::start(cluster);
    let (code, stdout, stderr) = run(&server, &["tree"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("`- v1/Secret prod/held"), "without a locale it is ASCII: {stdout}");
    assert!(stderr.contains("not looked at"), "{stderr}");
    assert!(!server.requests().iter().any(|request| request.path.contains("/secrets/")));
    let (_, stdout, stderr) = run(&server, &["tree", "symphony/all", "--target-same"]);
    assert!(stdout.contains("Reconciled     exists"), "{stdout}");
    assert_eq!(stderr, "");
}

#[test]
fn tree_is_drawn_with_boxes_in_a_locale_of_utf_8() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-eno"));
    let args = ["tree", "comp/web", "-f", "tests/data/dump.yaml"];
    let output = command.env_clear().env("LC_ALL", "C.UTF-8").args(args).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("├─ Synthesis/current/") && stdout.contains("└─ ResourceSlice/web-b"), "{stdout}");
}

#[test]
fn why_symphony_asks_for_what_it_owns() {
    let server = ApiServer::start(cluster);
    let (code, stdout, stderr) =
        run(&server, &["why", "symphony/all", "-o", "jsonpath={.state}: {.compositions[*].name}"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "NotReady: web", ""));
    let forbidden = ApiServer::start(|request| match request.path.ends_with("/symphonies") {
        true => Response::forbidden("no symphonies"),
        false => cluster(request),
    });
    let (code, _, stderr) = run(&forbidden, &["why", "symphony/all"]);
    assert_eq!(code, 1);
    assert!(
        stderr.contains("error: cannot list symphonies.eno.azure.io in namespace \"team-a\" (Forbidden)"),
        "{stderr}"
    );
}

#[test]
fn why_namespace_says_what_it_could_not_see() {
    let server = ApiServer::start(|request| match request.path.ends_with("/symphonies") {
        true => Response::forbidden("no symphonies"),
        false => cluster(request),
    });
    let (code, stdout, stderr) = run(&server, &["why", "ns/team-a"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("it holds 0 symphonies, 1 compositions and 2 slices of Eno's"), "{stdout}");
    assert!(stdout.contains("it may hold others: cannot list symphonies"), "{stdout}");
    assert!(stderr.contains("Warning: cannot list symphonies.eno.azure.io"), "{stderr}");
    let (code, _, stderr) = run(&server, &["why", "ns/absent"]);
    assert_eq!(
        (code, stderr.as_str().lines().last()),
        (1, Some("Error from server (NotFound): namespaces \"absent\" not found"))
    );
}

#[test]
fn compositions_that_may_not_be_listed_are_an_error() {
    let server = ApiServer::start(|request| match request.path.ends_with("/compositions") {
        true => Response::forbidden("no compositions"),
        false => cluster(request),
    });
    let (code, stdout, stderr) = run(&server, &["compositions"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains("cannot list compositions.eno.azure.io in namespace \"team-a\": Forbidden"), "{stderr}");
    assert!(!stderr.contains("No resources found"), "{stderr}");
}

#[test]
fn compositions_read_whole_only_what_eno_is_at_work_on() {
    let server = ApiServer::start(cluster);
    let (code, stdout, _) = run(&server, &["compositions", "-o", "jsonpath={.items[*].state} {.items[*].resources}"]);
    assert_eq!((code, stdout.trim_end()), (0, "NotReady null"));
    assert!(!server.requests().iter().any(|request| request.path.contains("/resourceslices/")));
    let (_, stdout, _) = run(&server, &["compositions", "-o", "wide", "--no-headers"]);
    assert!(stdout.contains("1/1"), "{stdout}");
}

#[test]
fn plan_delete_asks_whether_resources_exist() {
    let server = ApiServer::start(cluster);
    let paths = "jsonpath={.webhook.outcome} {range .deleted[*]}{.name}={.presence} {end}";
    let (code, stdout, _) = run(&server, &["plan-delete", "comp/web", "--target-same", "-o", paths]);
    assert_eq!((code, stdout.as_str()), (0, "allow held=Exists "));
    let (code, stdout, _) =
        run(&server, &["plan-delete", "slice/web-a", "-o", "jsonpath={.webhook.outcome} {.atRisk[*].presence}"]);
    assert_eq!((code, stdout.as_str()), (0, "deny NotLookedAt"));
}

#[test]
fn why_says_whether_what_force_would_orphan_exists() {
    let server = ApiServer::start(|request| {
        let mut deleting = slice("web-a", &[("Secret", "there"), ("Secret", "gone")]);
        deleting["metadata"]["deletionTimestamp"] = json!("2026-03-01T11:00:00Z");
        deleting["status"] = json!({"resources": [{}, {}]});
        let mut web = composition();
        web["metadata"]["deletionTimestamp"] = json!("2026-03-01T11:00:00Z");
        web["status"]["currentSynthesis"]["reconciled"] = Value::Null;
        match request.path.as_str() {
            path if path.ends_with("/resourceslices/web-a") => Response::ok(deleting),
            path if path.ends_with("/compositions") => Response::list(&[web]),
            _ => cluster(request),
        }
    });
    let (code, stdout, _) = run(&server, &["why", "slice/web-a", "--target-context", "c"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("v1/Secret prod/there (exists)\n  v1/Secret prod/gone (gone)"), "{stdout}");
    let (_, stdout, _) = run(&server, &["why", "slice/web-a"]);
    assert!(stdout.contains("whether they exist was not looked at (see --target-same)"), "{stdout}");
}
