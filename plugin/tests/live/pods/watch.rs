//! `-w`: what becomes of pods.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::super::api_server::{ApiServer, Response};
use super::{MAPS, healthy, shard};
use crate::run;

/// A list that can be watched from there on.
fn watchable(items: &[Value]) -> Response {
    Response::ok(json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": items}))
}

/// The events of one watch, which ends after them.
fn event(kind: &str, object: &Value) -> Response {
    Response::plain(200, &format!("{}\n", json!({"type": kind, "object": object})))
}

#[test]
fn a_watch_says_what_becomes_of_pods_until_none_is_left() {
    let watches = AtomicUsize::new(0);
    let server = ApiServer::start(move |request| match request.path.as_str() {
        MAPS if !request.query.contains("watch=") => watchable(&[shard()]),
        MAPS => match watches.fetch_add(1, Ordering::Relaxed) {
            0 => {
                let mut next = shard();
                let going = json!({"node": "node-1", "goingSince": "2026-03-01T12:00:00Z"});
                let entry = json!({"namespace": "team-a", "name": "lives", "following": going});
                next["data"]["u-lives"] = json!(entry.to_string());
                event("MODIFIED", &next)
            }
            _ => event("DELETED", &shard()),
        },
        _ => healthy(request),
    });
    let (code, stdout, stderr) = run(&server, &["pods", "-w", "--until=empty", "--timeout=60s"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let rows: Vec<Vec<&str>> = stdout.lines().map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(
        rows,
        [
            ["EVENT", "NAME", "STATE", "CAUSE"],
            ["ADDED", "ended", "Ended", "Replaced"],
            ["ADDED", "going", "Going", "<none>"],
            ["ADDED", "lives", "Followed", "<none>"],
            ["MODIFIED", "lives", "Going", "<none>"],
            ["DELETED", "ended", "Ended", "Replaced"],
            ["DELETED", "going", "Going", "<none>"],
            ["DELETED", "lives", "Going", "<none>"],
        ]
    );
}

#[test]
fn a_watch_that_waits_too_long_says_for_what() {
    let server = ApiServer::start(healthy);
    let (code, stdout, stderr) = run(&server, &["pods", "--stuck", "-w", "--until=empty", "--timeout=0", "-o", "json"]);
    assert_eq!((code, stderr.as_str()), (124, "error: timed out waiting for 1 pod to go\n"));
    let event: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&event["type"], &event["object"]["name"]), (&json!("ADDED"), &json!("going")));
}

#[test]
fn a_watch_says_who_may_not_read_it() {
    let server = ApiServer::start(|request| match request.path.as_str() {
        MAPS => Response::forbidden("configmaps is forbidden: no"),
        _ => healthy(request),
    });
    let (code, _, stderr) = run(&server, &["pods", "-w"]);
    assert_eq!((code, stderr.as_str()), (1, "Error from server (Forbidden): configmaps is forbidden: no\n"));
}
