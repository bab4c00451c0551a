//! The end of the process: unready at once, answering on, then a drain with a hard end.

use std::process::Stdio;
use std::time::{Duration, Instant};

use eno_webhook::Options;
use eno_webhook::hooks::Hook::SlicesDelete;
use rustls::version::TLS13;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::api_server::{Answer, ApiServer};
use crate::call::deletion;
use crate::http::{Mounted, Running, connect, exchange, issue, post, receive};
use crate::objects::{composition, slice};

const OWNER: &str = "/apis/eno.azure.io/v1/namespaces/ns/compositions/web";
const LIMIT: Duration = Duration::from_secs(10);

fn question() -> String {
    post("/slices-delete?timeout=2s", &deletion(SlicesDelete, &slice("s1", "web")).to_string())
}

async fn until_ready(running: &Running) {
    let deadline = Instant::now() + LIMIT;
    while !running.probe("/readyz").await.unwrap().head.starts_with("http/1.1 200") {
        assert!(Instant::now() < deadline, "not ready");
    }
}

async fn until_unready(running: &Running) -> String {
    let deadline = Instant::now() + LIMIT;
    loop {
        let reply = running.probe("/readyz").await.unwrap();
        if reply.head.starts_with("http/1.1 503") {
            return reply.body;
        }
        assert!(Instant::now() < deadline, "still ready");
    }
}

#[tokio::test]
async fn is_alive_from_the_start_and_ready_once_it_has_tried_to_list() {
    let issued = issue();
    let mounted = Mounted::new(&issued.cert, &issued.key);
    let silent = ApiServer::new().at("/apis/eno.azure.io/v1/compositions", Answer::Silence);
    let running = Running::start(&silent, mounted.options()).await;
    assert_eq!(running.probe("/livez").await.unwrap().body, "ok");
    assert_eq!(running.probe("/readyz").await.unwrap().body, "the compositions were not listed yet");
    until_ready(&Running::start(&ApiServer::new(), mounted.options()).await).await;
}

#[tokio::test]
async fn answers_on_while_unready_and_asks_clients_to_go() {
    let issued = issue();
    let mounted = Mounted::new(&issued.cert, &issued.key);
    let options = Options { shutdown_delay: Duration::from_secs(60), ..mounted.options() };
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    let mut running = Running::start(&server, options).await;
    until_ready(&running).await;
    let mut kept = connect(running.secure, &issued.der, &[&TLS13]).await.unwrap();
    let before = exchange(&mut kept, &question()).await.unwrap();
    assert!(!before.head.contains("connection: close"), "{}", before.head);

    running.stop();
    assert_eq!(until_unready(&running).await, "shutting down");
    assert_eq!(running.probe("/livez").await.unwrap().body, "ok");
    let mut new = connect(running.secure, &issued.der, &[&TLS13]).await.unwrap();
    for stream in [&mut kept, &mut new] {
        let reply = exchange(stream, &question()).await.unwrap();
        assert!(reply.head.contains("connection: close"), "{}", reply.head);
        assert!(reply.body.contains("ReferencedByCurrent"));
    }
    running.ended.abort();
}

#[tokio::test]
async fn drains_what_is_open_and_does_not_wait_for_what_is_idle() {
    let issued = issue();
    let mounted = Mounted::new(&issued.cert, &issued.key);
    // Unread, the review ends in an answer after its own deadline.
    let server = ApiServer::new().at(OWNER, Answer::Silence);
    let mut running = Running::start(&server, mounted.options()).await;
    let mut idle = vec![];
    for _ in 0..25 {
        idle.push(connect(running.secure, &issued.der, &[&TLS13]).await.unwrap());
    }
    let mut open = connect(running.secure, &issued.der, &[&TLS13]).await.unwrap();
    open.write_all(question().as_bytes()).await.unwrap();
    let deadline = Instant::now() + LIMIT;
    while !server.paths().iter().any(|path| path.ends_with(OWNER)) {
        assert!(Instant::now() < deadline, "the review did not arrive");
        tokio::task::yield_now().await;
    }

    let stopped = Instant::now();
    running.stop();
    let reply = receive(&mut open).await.expect("a review that is under way is answered");
    assert!(reply.body.contains("try again"), "{}", reply.body);
    running.ended.await.unwrap();
    assert!(stopped.elapsed() < Duration::from_secs(5), "{:?}", stopped.elapsed());
    assert!(TcpStream::connect(running.secure).await.is_err(), "new connections are refused");
}

#[tokio::test]
async fn ends_hard_when_a_request_outlasts_the_drain() {
    let issued = issue();
    let mounted = Mounted::new(&issued.cert, &issued.key);
    let options = Options { drain: Duration::from_millis(100), ..mounted.options() };
    let mut running = Running::start(&ApiServer::new(), options).await;
    let mut open = connect(running.secure, &issued.der, &[&TLS13]).await.unwrap();
    // The body never comes.
    let head = "POST /slices-delete?timeout=30s HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n";
    open.write_all(head.as_bytes()).await.unwrap();
    let mut one = connect(running.secure, &issued.der, &[&TLS13]).await.unwrap();
    exchange(&mut one, &question()).await.unwrap();
    running.stop();
    tokio::time::timeout(LIMIT, running.ended).await.expect("it ends").unwrap();
    assert_eq!(open.read(&mut [0]).await.unwrap_or(0), 0);
}

/// The binary itself: prints its ports, and ends well on SIGTERM.
/// Admission has a thread of its own, which must not outlive the server.
#[tokio::test]
async fn a_server_that_is_dropped_answers_no_more_and_ends_what_is_open() {
    let issued = issue();
    let mounted = Mounted::new(&issued.cert, &issued.key);
    let running = Running::start(&ApiServer::new(), mounted.options()).await;
    let mut open = connect(running.secure, &issued.der, &[&TLS13]).await.unwrap();
    running.ended.abort();
    assert_eq!(open.read(&mut [0]).await.unwrap_or_default(), 0, "the connection ends");
    let deadline = Instant::now() + LIMIT;
    while TcpStream::connect(running.secure).await.is_ok() {
        assert!(Instant::now() < deadline, "it listens on");
    }
}

#[tokio::test]
async fn the_binary_prints_its_ports_and_ends_on_a_signal() {
    let issued = issue();
    let mounted = Mounted::new(&issued.cert, &issued.key);
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let nowhere = "{apiVersion: v1, kind: Config, current-context: x, \
        clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: x, user: {}}], \
        contexts: [{name: x, context: {cluster: x, user: x}}]}";
    std::fs::write(&kubeconfig, nowhere).unwrap();
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_eno-webhook"))
        .arg("--kubeconfig")
        .arg(&kubeconfig)
        .args(["--bind-address=127.0.0.1", "--secure-port=0", "--metrics-bind-address=127.0.0.1:0"])
        .args(["--shutdown-delay-duration=0", "--log-format=json", "--v=2"])
        .arg("--tls-cert-file")
        .arg(mounted.cert())
        .arg("--tls-private-key-file")
        .arg(mounted.key())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let listening = lines.next_line().await.unwrap().unwrap();
    let address = listening.strip_prefix("listening https://").expect(&listening).parse().unwrap();
    let metrics = lines.next_line().await.unwrap().unwrap();
    assert!(metrics.starts_with("metrics http://127.0.0.1:"), "{metrics}");
    let mut stream = connect(address, &issued.der, &[&TLS13]).await.unwrap();
    let reply = exchange(&mut stream, &question()).await.unwrap();
    assert!(reply.body.contains("try again"), "{}", reply.body);

    let pid = child.id().unwrap().to_string();
    assert!(tokio::process::Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
    let output = tokio::time::timeout(LIMIT, child.wait_with_output()).await.expect("it ends").unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    let retry = log.lines().find(|line| line.contains("\"decision\":\"retry\"")).expect(&log);
    let line: serde_json::Value = serde_json::from_str(retry).unwrap();
    assert_eq!((line["hook"].as_str(), line["name"].as_str()), (Some("slices-delete"), Some("s1")));
}
