//! The receiver of the examples, sent destroys as they are sent for real.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::pods::destroy::Destroy;
use eno_webhook::pods::sinks::address::Guard;
use eno_webhook::pods::sinks::http::{ContentMode, Http, Options};
use eno_webhook::pods::sinks::{Courier, Limits, Outcome, SinkMetrics};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;

const LIMIT: Duration = Duration::from_secs(20);

/// Cargo puts examples beside the folder of tests.
fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let binary = test.ancestors().nth(2).unwrap().join("examples/receive_destroys");
    assert!(binary.is_file(), "no {}\nhint: cargo build -p eno-webhook --examples", binary.display());
    binary
}

async fn start() -> (Child, Lines<BufReader<ChildStdout>>, Options) {
    let mut command = Command::new(binary());
    let mut receiver = command.arg("127.0.0.1:0").stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(receiver.stdout.take().unwrap()).lines();
    let listening = next(&mut lines).await;
    let options = Options {
        url: listening.strip_prefix("listening ").unwrap().parse().unwrap(),
        mode: ContentMode::Structured,
        ca_file: None,
        token_file: None,
        timeout: LIMIT,
        guard: Guard { allow_local: true },
    };
    (receiver, lines, options)
}

async fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    tokio::time::timeout(LIMIT, lines.next_line()).await.expect("no line in time").unwrap().expect("it ended")
}

fn destroy(uid: &str) -> Arc<Destroy> {
    let destroy = json!({
        "id": format!("id-of-{uid}"), "sequence": 1, "cause": "Gone", "confirmed": true,
        "pod": {"namespace": "ns", "name": "web-0", "uid": uid},
        "observedAt": "2026-03-01T12:00:00Z",
    });
    Arc::new(serde_json::from_value(destroy).unwrap())
}

/// Sends them as a process does that dies before it could note that they were taken.
async fn send(options: &Options, destroys: &[Arc<Destroy>]) {
    let (acks, mut acked) = mpsc::channel(1);
    let sink = Http::new(options.clone(), "c1").unwrap();
    let courier = Courier::start(Arc::new(sink), Limits::default(), SinkMetrics::default(), acks);
    for destroy in destroys {
        assert!(courier.offer(destroy.clone()));
    }
    for destroy in destroys {
        let ack = tokio::time::timeout(LIMIT, acked.recv()).await.expect("no ack in time").unwrap();
        assert_eq!((ack.id, ack.outcome), (destroy.id.clone(), Outcome::Delivered));
    }
}

#[tokio::test]
async fn what_is_sent_again_after_a_crash_is_told_once_and_in_order() {
    let (_receiver, mut lines, options) = start().await;
    let [old, new, last] = ["old", "new", "last"].map(destroy);
    send(&options, &[old.clone(), new.clone()]).await;
    send(&options, &[old, new, last]).await;
    for uid in ["old", "new", "last"] {
        let told = format!(r#""dev.kubectl-eno.pod.gone.v1" "/api/v1/namespaces/ns/pods/web-0" "{uid}""#);
        assert_eq!(next(&mut lines).await, told);
    }
}
