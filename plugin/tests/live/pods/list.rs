//! The list, what is undelivered, and what Tab knows of both.

use serde_json::json;

use super::super::api_server::{ApiServer, Request, Response};
use super::{LETTER, MAPS, healthy, shard};
use crate::run;

#[test]
fn lists_what_is_stuck_first_then_what_is_going() {
    let server = ApiServer::start(healthy);
    let (code, stdout, stderr) = run(&server, &["pods", "-A"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let rows: Vec<Vec<&str>> = stdout.lines().map(|line| line.split_whitespace().take(6).collect()).collect();
    assert_eq!(
        rows,
        [
            ["NAMESPACE", "NAME", "STATE", "CAUSE", "NODE", "COMPOSITION"],
            ["team-a", "going", "Going", "<none>", "node-2", "team-a/web"],
            ["team-a", "ended", "Ended", "Replaced", "node-1", "<none>"],
            ["team-a", "lives", "Followed", "<none>", "node-1", "<none>"],
        ]
    );
    let (_, stdout, _) = run(&server, &["pods", "-A", "--stuck", "-o", "name"]);
    assert_eq!(stdout, "pod/going\n", "it was to have ended long ago");
    let (_, stdout, _) = run(&server, &["pods", "-n", "team-a", "lives", "-o", "jsonpath={.uid}"]);
    assert_eq!(stdout, "u-lives");
}

#[test]
fn an_outbox_of_another_cluster_is_not_believed() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        "/api/v1/namespaces/kube-system" => Response::ok(json!({"metadata": {"uid": "another-cluster"}})),
        _ => healthy(request),
    });
    let (code, stdout, stderr) = run(&server, &["pods", "-A"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("it is of the cluster \"this-cluster\", and not of this one"), "{stderr}");
    assert!(stderr.contains("no eno-webhook keeps pods in namespace eno-webhook-system"), "{stderr}");
}

#[test]
fn says_who_may_not_read_it() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        MAPS => Response::forbidden("configmaps is forbidden: no"),
        _ => healthy(request),
    });
    let (code, _, stderr) = run(&server, &["pods"]);
    assert_eq!((code, stderr.as_str()), (1, "Error from server (Forbidden): configmaps is forbidden: no\n"));
}

#[test]
fn undelivered_ends_say_which_sink_would_not_take_them_and_why() {
    let server = ApiServer::start(healthy);
    let (code, stdout, stderr) = run(&server, &["pods", "undelivered", "-o", "wide", "--no-headers"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with(LETTER), "{stdout}");
    for told in ["Replaced", "team-a/ended", "http:Dead,log:Pending", "400 Bad Request"] {
        assert!(stdout.contains(told), "{told} is not in {stdout}");
    }
}

#[test]
fn tab_knows_pods_that_are_followed_and_ends_that_are_undelivered() {
    let server = ApiServer::start(healthy);
    let words = |line: &[&str]| -> Vec<String> {
        let (_, stdout, _) = run(&server, &[&["__complete", "pods"], line].concat());
        stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(words(&["l"]), ["lives", ":4"]);
    assert_eq!(words(&["re"]), ["release", "redeliver", ":4"]);
    assert_eq!(words(&["lives", ""]), ["ended", "going", ":4"]);
    assert_eq!(words(&["release", ""]), ["going", ":4"], "only what is going can be released");
    assert_eq!(words(&["release", "-n", "elsewhere", ""]), [":4"]);
    assert_eq!(words(&["redeliver", ""]), [LETTER, ":4"]);
    assert_eq!(words(&["drop", LETTER, ""]), [":4"]);
}

/// A server whose webhook runs in another namespace than that of the manifests.
fn elsewhere(request: &Request) -> Response {
    let hook = json!({
        "name": "slices-delete.webhook.kubectl-eno.dev",
        "clientConfig": {"service": {"namespace": "guards", "name": "eno-webhook"}},
    });
    match request.path.as_str() {
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations" => {
            Response::list(&[json!({"webhooks": [hook]})])
        }
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations" => Response::list(&[]),
        "/api/v1/namespaces/guards/configmaps" => Response::list(&[shard()]),
        MAPS => Response::list(&[]),
        path if path.ends_with("/resourceslices") => Response::metadata_list(&[]),
        path if path.ends_with("/compositions") || path == "/api/v1/namespaces" => Response::list(&[]),
        _ => healthy(request),
    }
}

#[test]
fn what_the_webhook_keeps_is_looked_for_where_its_service_is() {
    let server = ApiServer::start(elsewhere);
    let (code, stdout, stderr) = run(&server, &["pods", "-o", "name"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(stdout, "pod/going\npod/ended\npod/lives\n");
    let (_, stdout, _) = run(&server, &["__complete", "pods", "l"]);
    assert!(stdout.starts_with("lives"), "{stdout}");
    let (code, stdout, _) = run(&server, &["top", "--plain"]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("\n3 pods, 1 stuck.\n"), "{stdout}");
    // Whoever says where it is need not be able to read webhook configurations.
    let server = ApiServer::start(|request| match request.path.as_str() {
        path if path.starts_with("/apis/admissionregistration") => Response::forbidden("no hooks for you"),
        _ => elsewhere(request),
    });
    let (_, stdout, _) = run(&server, &["pods", "-o", "name", "--webhook-namespace=guards"]);
    assert_eq!(stdout, "pod/going\npod/ended\npod/lives\n");
    let (_, stdout, _) = run(&server, &["top", "--plain", "--webhook-namespace=guards"]);
    assert!(stdout.contains("\n3 pods, 1 stuck.\n"), "{stdout}");
    let (_, _, stderr) = run(&server, &["pods"]);
    assert!(stderr.contains("no eno-webhook keeps pods in namespace eno-webhook-system"), "{stderr}");
}

#[test]
fn top_says_that_it_may_not_read_what_the_webhook_keeps() {
    for path in [MAPS, "/api/v1/namespaces/kube-system"] {
        let server = ApiServer::start(move |request| match request.path.as_str() {
            asked if asked == path => Response::forbidden("you may not"),
            path if path.ends_with("/resourceslices") => Response::metadata_list(&[]),
            path if path.ends_with("/compositions") || path == "/api/v1/namespaces" => Response::list(&[]),
            _ => healthy(request),
        });
        let (code, stdout, stderr) = run(&server, &["top", "--plain"]);
        assert_eq!(code, 0, "{stdout} {stderr}");
        assert!(
            stderr.contains("cannot read what eno-webhook keeps of pods") && stderr.contains("you may not"),
            "{stderr}"
        );
    }
}
