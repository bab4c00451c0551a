//! Ends that are told again, or to nobody: it is asked of the leader.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::super::api_server::{ApiServer, Request, Response};
use super::super::terminal;
use super::{LETTER, MAPS, healthy};
use crate::{command, run};

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
