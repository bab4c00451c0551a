//! `kubectl eno pods` against a server that answers as an API server would.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::api_server::{ApiServer, Request, Response};
use super::terminal;
use crate::{command, run};

const MAPS: &str = "/api/v1/namespaces/eno-webhook-system/configmaps";
const PODS: &str = "/api/v1/namespaces/team-a/pods";
const LETTER: &str = "11111111-1111-5111-8111-111111111111";

/// A pod that lives, one that is going, and one that has ended and that one sink would not take.
fn shard() -> Value {
    let labels = "eno.azure.io/composition-name=web,eno.azure.io/composition-namespace=team-a";
    let entries = [
        ("u-lives", json!({"namespace": "team-a", "name": "lives", "following": {"node": "node-1"}})),
        (
            "u-going",
            json!({"namespace": "team-a", "name": "going", "following": {
                "goingSince": "2026-03-01T10:00:00Z",
                "record": {
                    "node": "node-2", "labels": labels, "deletedAt": "2026-03-01T10:00:30Z",
                    "sandboxes": [{"source": "calico", "id": "abc"}],
                },
            }}),
        ),
        (
            "u-ended",
            json!({"namespace": "team-a", "name": "ended", "undelivered": [{
                "destroy": {
                    "id": LETTER, "sequence": 1, "cause": "Replaced", "node": "node-1",
                    "pod": {"namespace": "team-a", "name": "ended", "uid": "u-ended"},
                    "observedAt": "2026-03-01T11:00:00Z", "confirmed": true,
                },
                "sinks": {
                    "http": {"state": "dead", "why": "400 Bad Request", "at": "2026-03-01T11:00:01Z"},
                    "log": {"state": "pending"},
                },
            }]}),
        ),
    ];
    let data: serde_json::Map<_, _> =
        entries.into_iter().map(|(uid, entry)| (uid.to_owned(), json!(entry.to_string()))).collect();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {
            "name": "pods-0", "namespace": "eno-webhook-system",
            "annotations": {"kubectl-eno.dev/outbox-format": "1", "kubectl-eno.dev/cluster-uid": "this-cluster"},
        },
    })
}

fn pod(deleting: bool) -> Value {
    let deleted = if deleting { json!("2026-03-01T10:00:30Z") } else { Value::Null };
    json!({
        "apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": "node-2"},
        "metadata": {
            "name": "going", "namespace": "team-a", "uid": "u-going", "resourceVersion": "7",
            "deletionTimestamp": deleted,
        },
    })
}

fn node(taints: &Value) -> Response {
    let status = json!({"conditions": [{"type": "Ready", "status": "Unknown"}]});
    Response::ok(json!({"kind": "Node", "metadata": {"name": "node-2"}, "spec": {"taints": taints}, "status": status}))
}

fn healthy(request: &Request) -> Response {
    match request.path.as_str() {
        "/api/v1/namespaces/kube-system" => Response::ok(json!({"metadata": {"uid": "this-cluster"}})),
        MAPS => Response::list(&[shard()]),
        "/api/v1/pods" | PODS => Response::list(&[]),
        path => Response::not_found(path.rsplit('/').next().unwrap_or_default()),
    }
}

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

#[test]
fn top_shows_what_the_outbox_says_and_releases_after_a_dry_run_and_the_typed_name() {
    let server = ApiServer::start(|request| match (request.method.as_str(), request.path.as_str()) {
        ("DELETE", path) if path == format!("{PODS}/going") => Response::ok(json!({"kind": "Pod", "metadata": {}})),
        (_, path) if path == format!("{PODS}/going") => Response::ok(pod(true)),
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

/// A leader that carries out a request when it is looked at for the second time.
fn led(looks: Arc<AtomicUsize>) -> impl Fn(&Request) -> Response + Send + Sync {
    move |request| match (request.method.as_str(), request.path.as_str()) {
        ("POST", MAPS) => Response::ok(json!({"metadata": {"name": "request-1"}})),
        ("GET", path) if path == format!("{MAPS}/request-1") => match looks.fetch_add(1, Ordering::Relaxed) {
            0 => Response::ok(json!({"metadata": {"name": "request-1"}})),
            _ => Response::not_found("request-1"),
        },
        _ => healthy(request),
    }
}

#[test]
fn redelivery_is_asked_of_the_leader_and_waited_for() {
    let looks = Arc::new(AtomicUsize::new(0));
    let server = ApiServer::start(led(Arc::clone(&looks)));
    let (code, stdout, stderr) = run(&server, &["pods", "redeliver", "--all"]);
    assert_eq!((code, stdout), (0, format!("destroy/{LETTER} redelivery requested\n")), "{stderr}");
    assert_eq!(looks.load(Ordering::Relaxed), 2);
    let asked = server.requests().into_iter().find(|request| request.method == "POST").unwrap();
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body["data"], json!({"redeliver": LETTER}));
    assert_eq!(body["metadata"]["labels"], json!({"kubectl-eno.dev/pod-outbox": "request"}));
}

#[test]
fn a_request_that_nobody_carries_out_is_said_to_stay() {
    let server = ApiServer::start(|request| match (request.method.as_str(), request.path.as_str()) {
        ("POST", MAPS) => Response::ok(json!({"metadata": {"name": "request-1"}})),
        ("GET", path) if path == format!("{MAPS}/request-1") => {
            Response::ok(json!({"metadata": {"name": "request-1"}}))
        }
        _ => healthy(request),
    });
    let (code, stdout, stderr) = run(&server, &["pods", "redeliver", LETTER, "--timeout=0"]);
    assert_eq!((code, stdout.as_str()), (124, ""));
    assert!(stderr.contains("request request-1 stays in namespace eno-webhook-system"), "{stderr}");
}

#[test]
fn an_id_that_is_not_there_asks_for_nothing() {
    let server = ApiServer::start(healthy);
    let (code, _, stderr) = run(&server, &["pods", "redeliver", "nope"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("destroy \"nope\" is not in the outbox"), "{stderr}");
    assert!(server.requests().iter().all(|request| request.method == "GET"));
}

#[test]
fn to_drop_takes_a_person() {
    for (answer, dropped) in [("1\n", true), ("y\n", false)] {
        let server = ApiServer::start(led(Arc::default()));
        let (_folder, mut command) = command(&server, &["pods", "drop", "--all"]);
        let (code, shown) = terminal::run(&mut command, 80, &[("Type how many to confirm (1): ", answer)]);
        assert_eq!(code, 0, "{shown}");
        let posted = server.requests().iter().any(|request| request.method == "POST");
        assert_eq!((posted, shown.contains("drop is cancelled")), (dropped, !dropped), "{shown}");
    }
}

/// Answers for the pod, and for its node.
fn with_node(node: impl Fn() -> Response + Send + Sync + 'static) -> ApiServer {
    ApiServer::start(move |request| match (request.method.as_str(), request.path.as_str()) {
        ("DELETE", path) if path == format!("{PODS}/going") => Response::ok(json!({"kind": "Pod", "metadata": {}})),
        (_, path) if path == format!("{PODS}/going") => Response::ok(pod(true)),
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
