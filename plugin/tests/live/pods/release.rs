//! Pods that are deleted by force: only where they run no more.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::super::api_server::{ApiServer, Response};
use super::{PODS, going, healthy, node};
use crate::{command, run};

/// Answers for the pod, and for its node.
fn with_node(node: impl Fn() -> Response + Send + Sync + 'static) -> ApiServer {
    ApiServer::start(move |request| match (request.method.as_str(), request.path.as_str()) {
        ("DELETE", path) if path == format!("{PODS}/going") => Response::ok(json!({"kind": "Pod", "metadata": {}})),
        (_, path) if path == format!("{PODS}/going") => Response::ok(going()),
        (_, "/api/v1/nodes/node-2") => node(),
        _ => healthy(request),
    })
}

#[test]
fn a_pod_is_released_whose_node_is_gone_with_what_was_looked_at_in_the_request() {
    let server = with_node(|| Response::not_found("node-2"));
    let (code, stdout, stderr) = run(&server, &["pods", "release", "pod/going", "-n", "team-a", "--yes"]);
    assert_eq!((code, stdout.as_str()), (0, "pod/going force deleted\n"), "{stderr}");
    let delete = server.requests().into_iter().find(|request| request.method == "DELETE").unwrap();
    let body: Value = serde_json::from_str(&delete.body).unwrap();
    assert_eq!(body["gracePeriodSeconds"], 0);
    assert_eq!(body["preconditions"], json!({"uid": "u-going", "resourceVersion": "7"}));
}

#[test]
fn a_pod_that_may_still_run_is_not_released() {
    for (node, why) in [
        (node as fn(&Value) -> Response, "kubectl taint node node-2 node.kubernetes.io/out-of-service"),
        (|_| Response::forbidden("no nodes for you"), "its node node-2 cannot be read: Forbidden: no nodes for you"),
    ] {
        let server = with_node(move || node(&json!([])));
        let (code, stdout, stderr) = run(&server, &["pods", "release", "going", "-n", "team-a", "--yes"]);
        assert_eq!((code, stdout.as_str()), (4, ""), "{stderr}");
        assert!(stderr.contains("error: refused: pod/going may still run") && stderr.contains(why), "{stderr}");
        assert!(server.requests().iter().all(|request| request.method == "GET"));
    }
}

#[test]
fn dry_runs_delete_nothing() {
    let out = json!([{"key": "node.kubernetes.io/out-of-service"}]);
    for (dry_run, suffix, sent) in [("client", " (dry run)", false), ("server", " (server dry run)", true)] {
        let taints = out.clone();
        let server = with_node(move || node(&taints));
        let flag = format!("--dry-run={dry_run}");
        let (code, stdout, stderr) = run(&server, &["pods", "release", "going", "-n", "team-a", &flag]);
        assert_eq!((code, stdout), (0, format!("pod/going force deleted{suffix}\n")), "{stderr}");
        let delete = server.requests().into_iter().find(|request| request.method == "DELETE");
        let body = delete.map(|delete| serde_json::from_str::<Value>(&delete.body).unwrap());
        assert_eq!(body.map(|body| body["dryRun"].clone()), sent.then(|| json!(["All"])));
    }
}

#[test]
fn top_shows_what_the_outbox_says_and_releases_after_a_dry_run_and_the_typed_name() {
    let server = ApiServer::start(|request| match (request.method.as_str(), request.path.as_str()) {
        ("DELETE", path) if path == format!("{PODS}/going") => Response::ok(json!({"kind": "Pod", "metadata": {}})),
        (_, path) if path == format!("{PODS}/going") => Response::ok(going()),
        (_, path) if path.ends_with("/resourceslices") => Response::metadata_list(&[]),
        (_, path) if path.ends_with("/compositions") || path == "/api/v1/namespaces" => Response::list(&[]),
        _ => healthy(request),
    });
    let (_folder, mut command) = command(&server, &["top", "--plain", "-n", "team-a"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut typed = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut heard = Vec::new();
    for (word, answer) in [
        ("pods\n", "pod team-a/going: stuck, composition team-a/web, Going"),
        ("release going\n", "pod/going force deleted (server dry run)"),
        ("", "Type the name to confirm (going):"),
        ("going\n", "pod/going force deleted"),
    ] {
        typed.write_all(word.as_bytes()).unwrap();
        while !heard.last().is_some_and(|line: &String| line.contains(answer)) {
            let line = lines.next().unwrap_or_else(|| panic!("{answer:?} is not in {heard:#?}")).unwrap();
            heard.push(line);
        }
    }
    drop(typed);
    assert!(child.wait().unwrap().success());
    assert!(heard.iter().any(|line| line.contains("$ kubectl eno pods release going -n team-a")), "{heard:#?}");
    let deletes = server.requests().into_iter().filter(|request| request.method == "DELETE");
    let dry_runs: Vec<Value> =
        deletes.map(|delete| serde_json::from_str::<Value>(&delete.body).unwrap()["dryRun"].clone()).collect();
    assert_eq!(dry_runs, [json!(["All"]), Value::Null], "first a dry run, then in earnest");
}
