//! The plugin against an HTTP server that answers as an API server would.

mod live {
    pub mod api_server;
    mod cleanup;
    mod completion;
    mod pods;
    mod prompts;
    mod release;
    mod restore;
    mod resynth;
    mod store;
    mod surroundings;
    mod terminal;
    mod top;
    mod version;
}

use std::process::{Command, Output};

use live::api_server::{ApiServer, Request, Response};
use serde_json::{Value, json};

/// Runs the plugin with a kubeconfig for the server, and nothing of the caller's environment.
fn run(server: &ApiServer, args: &[&str]) -> (i32, String, String) {
    let (_folder, mut command) = command(server, args);
    outcome(&command.output().unwrap())
}

/// The plugin with that kubeconfig, which lies in the folder.
fn command(server: &ApiServer, args: &[&str]) -> (tempfile::TempDir, Command) {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = kubeconfig(folder.path(), server);
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-eno"));
    command.env_clear().env("KUBECONFIG", kubeconfig).args(args);
    (folder, command)
}

/// A kubeconfig for the server, in the folder.
fn kubeconfig(folder: &std::path::Path, server: &ApiServer) -> std::path::PathBuf {
    let path = folder.join("config");
    let config = json!({
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "team-a"}}],
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"token": "secret"}}],
    });
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

fn outcome(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn slice(namespace: &str, name: &str, composition: &str, deleting: bool) -> Value {
    let deleted = if deleting { json!("2026-03-01T11:00:00Z") } else { Value::Null };
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
        "metadata": {
            "namespace": namespace, "name": name, "uid": format!("uid-{name}"),
            "creationTimestamp": "2026-03-01T09:00:00Z", "deletionTimestamp": deleted,
            "finalizers": ["eno.azure.io/cleanup"],
            "ownerReferences": [{
                "apiVersion": "eno.azure.io/v1", "kind": "Composition", "name": composition,
                "uid": format!("uid-{composition}"), "controller": true,
            }],
        },
        "spec": {"resources": [{"manifest": "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"}}"}]},
    })
}

fn composition(namespace: &str, name: &str, current: &[&str], deleting: bool) -> Value {
    let deleted = if deleting { json!("2026-03-01T11:00:00Z") } else { Value::Null };
    let slices: Vec<Value> = current.iter().map(|name| json!({"name": name})).collect();
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Composition",
        "metadata": {
            "namespace": namespace, "name": name, "uid": format!("uid-{name}"), "generation": 1,
            "deletionTimestamp": deleted, "finalizers": ["eno.azure.io/cleanup"],
        },
        "status": {"currentSynthesis": {"uuid": "u", "observedCompositionGeneration": 1, "resourceSlices": slices}},
    })
}

const SLICES: &str = "/apis/eno.azure.io/v1/namespaces/team-a/resourceslices";
const COMPOSITIONS: &str = "/apis/eno.azure.io/v1/namespaces/team-a/compositions";

/// A namespace with a live composition, a deleting one, and what belongs to them.
fn healthy(request: &Request) -> Response {
    match request.path.as_str() {
        SLICES => Response::metadata_list(&[
            slice("team-a", "web-a", "web", false),
            slice("team-a", "legacy-a", "legacy", true),
        ]),
        COMPOSITIONS => Response::list(&[
            composition("team-a", "web", &["web-a"], false),
            composition("team-a", "legacy", &["legacy-a"], true),
        ]),
        path if path == format!("{SLICES}/legacy-a") => Response::ok(slice("team-a", "legacy-a", "legacy", true)),
        path if path == format!("{SLICES}/web-a") => Response::ok(slice("team-a", "web-a", "web", false)),
        "/api/v1/namespaces/team-a" => Response::ok(json!({"metadata": {"name": "team-a"}})),
        path => Response::not_found(path.rsplit('/').next().unwrap_or_default()),
    }
}

fn paths(server: &ApiServer) -> Vec<String> {
    server.requests().into_iter().map(|request| request.path).collect()
}

#[test]
fn lists_metadata_and_reads_whole_only_what_is_being_deleted() {
    let server = ApiServer::start(healthy);
    let (code, stdout, stderr) = run(&server, &["slices", "--no-headers"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let rows: Vec<Vec<&str>> = stdout.lines().map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(
        rows,
        [["legacy-a", "legacy", "Hold", "NeededForDeletion"], ["web-a", "web", "Keep", "ReferencedByCurrent"]]
    );
    let requests = server.requests();
    let list = requests.iter().find(|request| request.path == SLICES).unwrap();
    assert!(list.headers["accept"].contains("PartialObjectMetadataList"), "{:?}", list.headers["accept"]);
    assert!(paths(&server).contains(&format!("{SLICES}/legacy-a")));
    assert!(!paths(&server).contains(&format!("{SLICES}/web-a")));
}

#[test]
fn wide_reads_every_slice() {
    let server = ApiServer::start(healthy);
    let (code, stdout, _) = run(&server, &["slices", "-o", "wide"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("NoReconcilerSeen") && !stdout.contains("<unknown>"), "{stdout}");
    assert!(paths(&server).contains(&format!("{SLICES}/web-a")));
}

#[test]
fn says_who_it_is_and_as_whom_it_asks() {
    let server = ApiServer::start(healthy);
    let args =
        ["slices", "--as=eve", "--as-uid=7", "--as-group=a", "--as-group=b", "--as-user-extra=scope=x", "--token=t"];
    assert_eq!(run(&server, &args).0, 0);
    for request in server.requests() {
        let agent = format!("kubectl-eno/{} ", env!("CARGO_PKG_VERSION"));
        assert!(request.headers["user-agent"].starts_with(&agent), "{:?}", request.headers["user-agent"]);
        assert_eq!(request.headers["authorization"], "Bearer t");
        assert_eq!(request.headers["impersonate-user"], "eve");
        assert_eq!(request.headers["impersonate-uid"], "7");
        assert_eq!(request.headers["impersonate-group"], "a,b");
        assert_eq!(request.headers["impersonate-extra-scope"], "x");
    }
}

#[test]
fn flags_choose_server_namespace_and_selectors() {
    let server = ApiServer::start(|_| Response::list(&[]));
    let args = ["slices", "-n", "other", "-l", "app=web", "--field-selector", "metadata.name=x"];
    let (code, _, stderr) = run(&server, &args);
    assert_eq!((code, stderr.as_str()), (0, "No resources found in other namespace.\n"));
    let requests = server.requests();
    let list = requests.iter().find(|request| request.path.ends_with("/other/resourceslices")).unwrap();
    assert!(list.query.contains("labelSelector=app%3Dweb"), "{}", list.query);
    assert!(list.query.contains("fieldSelector=metadata.name%3Dx"), "{}", list.query);
}

#[test]
fn prints_warnings_of_the_server_once() {
    let server = ApiServer::start(|request| healthy(request).with("warning", "299 - \"old \\\"v1\\\" client\""));
    let (code, _, stderr) = run(&server, &["slices"]);
    assert_eq!((code, stderr.as_str()), (0, "Warning: old \"v1\" client\n"));
}

#[test]
fn shows_requests_from_level_six_on() {
    let server = ApiServer::start(healthy);
    let (_, _, stderr) = run(&server, &["slices", "-v", "6"]);
    assert!(stderr.contains(&format!("GET {}{SLICES}", server.host())) && stderr.contains(" 200 OK in "), "{stderr}");
    assert!(!stderr.contains("secret"), "{stderr}");
    assert_eq!(run(&server, &["slices", "--v=5"]).2, "");
}

#[test]
fn forbidden_compositions_make_verdicts_unknown_and_fail_nothing() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        COMPOSITIONS => Response::forbidden("compositions.eno.azure.io is forbidden: User \"eve\" cannot list"),
        _ => healthy(request),
    });
    let (code, stdout, stderr) = run(&server, &["slices", "-o", "jsonpath={.items[*].verdict}"]);
    assert_eq!((code, stdout.as_str()), (0, "Unknown Unknown"));
    assert_eq!(
        stderr,
        "Warning: cannot list compositions.eno.azure.io in namespace \"team-a\": Forbidden: compositions.eno.azure.io is \
         forbidden: User \"eve\" cannot list\n"
    );
    let (code, stdout, _) = run(&server, &["why", "slice/web-a"]);
    assert_eq!(code, 2);
    assert!(stdout.contains("kubectl auth can-i list compositions.eno.azure.io -n team-a"), "{stdout}");
}

#[test]
fn with_all_namespaces_compositions_are_listed_apart_where_one_list_is_forbidden() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        "/apis/eno.azure.io/v1/resourceslices" => {
            Response::metadata_list(&[slice("team-a", "web-a", "web", false), slice("team-b", "api-a", "api", false)])
        }
        "/apis/eno.azure.io/v1/compositions" | "/apis/eno.azure.io/v1/namespaces/team-b/compositions" => {
            Response::forbidden("no")
        }
        _ => healthy(request),
    });
    let (code, stdout, stderr) = run(
        &server,
        &["slices", "-A", "-o", "jsonpath={range .items[*]}{.name}={.verdict}:{.composition.found} {end}"],
    );
    assert_eq!((code, stdout.as_str()), (0, "web-a=Keep:true api-a=Unknown:null "));
    assert_eq!(stderr, "Warning: cannot list compositions.eno.azure.io in namespace \"team-b\": Forbidden: no\n");
}

#[test]
fn nobody_is_told_that_compositions_are_as_wanted_where_they_cannot_be_listed() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        COMPOSITIONS => Response::forbidden("no compositions"),
        _ => healthy(request),
    });
    for until in ["deleted", "reconciled", "empty"] {
        let (code, stdout, stderr) = run(&server, &["compositions", "-w", &format!("--until={until}"), "--timeout=9s"]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        let told = "error: cannot tell when it will be so: cannot list compositions.eno.azure.io in namespace \"team-a\" (Forbidden)";
        assert!(stderr.contains(told), "{stderr}");
    }
}

#[test]
fn what_single_namespaces_do_not_show_of_all_compositions_is_said() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        "/apis/eno.azure.io/v1/resourceslices" => Response::metadata_list(&[slice("team-a", "web-a", "web", false)]),
        "/apis/eno.azure.io/v1/compositions" => Response::forbidden("no"),
        _ => healthy(request),
    });
    let (code, stdout, stderr) = run(&server, &["compositions", "-A", "-o", "name"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("composition.eno.azure.io/web\n"), "{stdout}");
    assert!(stderr.contains("Warning: compositions can be listed in single namespaces only"), "{stderr}");
}

#[test]
fn why_composition_explains_without_slices() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        SLICES => Response::forbidden("no slices"),
        _ => healthy(request),
    });
    let (code, stdout, stderr) = run(&server, &["why", "composition/legacy"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("DELETING"), "{stdout}");
    assert!(stderr.contains("Warning: cannot list resourceslices.eno.azure.io"), "{stderr}");
    let (code, _, stderr) = run(&server, &["slices"]);
    assert_eq!((code, stderr.as_str()), (1, "Error from server (Forbidden): no slices\n"));
}

#[test]
fn why_composition_fails_where_nothing_can_be_read() {
    let unauthorized = ApiServer::start(|_| Response::status(401, "Unauthorized", "Unauthorized"));
    let (code, stdout, stderr) = run(&unauthorized, &["why", "composition/web"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains("error: You must be logged in to the server (Unauthorized)\n"), "{stderr}");
}

#[test]
fn names_that_would_ask_for_something_else_are_refused() {
    let server = ApiServer::start(healthy);
    for name in ["web-a?x=y", "web-a/status", "..", "a%2e", ""] {
        let (code, stdout, stderr) = run(&server, &["slices", name]);
        assert_eq!((code, stdout.as_str(), stderr), (1, "", format!("error: invalid resource name {name:?}\n")));
    }
    let (code, _, stderr) = run(&server, &["slices", "-n", "../x"]);
    assert_eq!((code, stderr.as_str()), (1, "error: invalid namespace \"../x\"\n"));
    assert_eq!(paths(&server), [""; 0]);
}

#[test]
fn why_reads_what_force_would_orphan() {
    let server = ApiServer::start(healthy);
    for object in ["slice/legacy-a", "composition/legacy"] {
        let (code, stdout, _) = run(&server, &["why", object]);
        assert_eq!(code, 0);
        assert!(stdout.contains("Would be orphaned if you force it: 1 resource\n  v1/Secret s\n"), "{stdout}");
    }
}

#[test]
fn reads_all_pages() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        SLICES if !request.query.contains("continue=") => {
            Response::metadata_list(&[slice("team-a", "web-a", "web", false)]).page("next")
        }
        SLICES => Response::metadata_list(&[slice("team-a", "web-b", "web", false)]),
        _ => healthy(request),
    });
    assert_eq!(run(&server, &["slices", "-o", "name"]).1.lines().count(), 2);
}

#[test]
fn what_is_named_and_missing_is_not_found() {
    let server = ApiServer::start(healthy);
    let (code, stdout, stderr) = run(&server, &["slices", "web-a", "absent", "-o", "name"]);
    assert_eq!((code, stdout.as_str()), (1, "resourceslice.eno.azure.io/web-a\n"));
    assert_eq!(stderr, "Error from server (NotFound): resourceslices.eno.azure.io \"absent\" not found\n");
    for (object, plural) in [("slice/absent", "resourceslices"), ("composition/absent", "compositions")] {
        let (code, _, stderr) = run(&server, &["why", object]);
        let expected = format!("Error from server (NotFound): {plural}.eno.azure.io \"absent\" not found\n");
        assert_eq!((code, stderr), (1, expected));
    }
}

#[test]
fn failures_read_as_those_of_kubectl() {
    let unauthorized = ApiServer::start(|_| Response::status(401, "Unauthorized", "Unauthorized"));
    let (code, _, stderr) = run(&unauthorized, &["slices"]);
    assert_eq!((code, stderr.as_str()), (1, "error: You must be logged in to the server (Unauthorized)\n"));

    let no_crds = ApiServer::start(|_| Response::plain(404, "404 page not found"));
    let (code, _, stderr) = run(&no_crds, &["slices"]);
    let expected = "error: the server doesn't have a resource type \"resourceslices.eno.azure.io\"\n";
    assert_eq!((code, stderr.as_str()), (1, expected));

    let stopped = ApiServer::start(healthy).stop();
    let (code, _, stderr) = run(&stopped, &["slices"]);
    let expected = format!(
        "The connection to the server {} was refused - did you specify the right host or port?\n",
        stopped.host()
    );
    assert_eq!((code, stderr), (1, expected));

    let slow = ApiServer::start(|_| Response::never());
    let (code, _, stderr) = run(&slow, &["slices", "--request-timeout=1s"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("no answer from the API server within 1.0s (--request-timeout)"), "{stderr}");
}

#[test]
fn exec_plugins_that_fail_are_named_without_their_output() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("config");
    let run = |exec: Value| {
        let config = json!({
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"exec": exec}}],
        });
        std::fs::write(&kubeconfig, config.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-eno"));
        command.env("KUBECONFIG", &kubeconfig).args(["slices"]).stdin(std::process::Stdio::null());
        outcome(&command.output().unwrap())
    };
    let version = "client.authentication.k8s.io/v1";
    let missing = json!({"apiVersion": version, "command": "no-such-login", "installHint": "Install no-such-login."});
    let (code, _, stderr) = run(missing);
    let expected = "error: getting credentials: exec: executable no-such-login not found\n\nInstall no-such-login.\n";
    assert_eq!((code, stderr.as_str()), (1, expected));

    let script = "echo a-token; echo 'log in first' >&2; exit 3";
    let failing = json!({"apiVersion": version, "command": "sh", "args": ["-c", script]});
    let (code, _, stderr) = run(failing);
    let expected = "error: getting credentials: exec: executable sh failed with exit code 3\nlog in first\n";
    assert_eq!((code, stderr.as_str()), (1, expected));

    let interactive = json!({"apiVersion": version, "command": "sh", "interactiveMode": "Always"});
    let (code, _, stderr) = run(interactive);
    assert_eq!(code, 1);
    assert!(stderr.contains("standard input is not a terminal"), "{stderr}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::Stdio;
    let server = ApiServer::start(|request| match request.path.as_str() {
        // More than a pipe holds.
        SLICES => Response::metadata_list(
            &(0..2000).map(|n| slice("team-a", &format!("web-{n}"), "web", false)).collect::<Vec<_>>(),
        ),
        _ => healthy(request),
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-eno"))
        .args(["slices", "-s", &server.url, "-n", "team-a"])
        .env("KUBECONFIG", "")
        .env("HOME", "/nonexistent")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let (code, _, stderr) = outcome(&child.wait_with_output().unwrap());
    assert_eq!((code, stderr.as_str()), (0, ""));
}
