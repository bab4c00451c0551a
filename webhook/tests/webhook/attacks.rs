//! What an attacker who reaches the port may send, byte by byte. He learns an answer to what he asks, at most; and whoever comes
//! after him is served.

use std::io;
use std::time::Duration;

use axum::body::Body;
use eno_webhook::hooks::Hook::SlicesDelete;
use http::{Request, StatusCode};
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::ServiceExt;

use crate::api_server::ApiServer;
use crate::call::{Webhook, deletion};
use crate::http::{Issued, Mounted, Running, connect, exchange, issue, post};
use crate::objects::{composition, slice};

/// How long bytes may take that come at all.
const LIMIT: Duration = Duration::from_secs(20);

/// A server that denies the deletion of `s1`.
struct Target {
    running: Running,
    issued: Issued,
    _mounted: Mounted,
}

impl Target {
    async fn new() -> Self {
        let issued = issue();
        let mounted = Mounted::new(&issued.cert, &issued.key);
        let server = ApiServer::new().with(&composition("web", &["s1"]));
        let mut options = mounted.options();
        // What comes back is read until the server ends the connection.
        options.times.idle = Duration::from_millis(500);
        Target { running: Running::start(&server, options).await, issued, _mounted: mounted }
    }

    async fn tls(&self) -> impl AsyncRead + AsyncWrite + Unpin {
        connect(self.running.secure, &self.issued.der, &[&TLS13, &TLS12]).await.unwrap()
    }

    /// Sends this on a connection of its own, and no more; returns all that comes back until the server ends it.
    async fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.tls().await;
        // The server may end it before all is sent.
        let _ = stream.write_all(bytes).await;
        all(&mut stream).await
    }

    /// How many reviews were judged.
    async fn reviews(&self) -> u64 {
        let metrics = self.running.probe("/metrics").await.unwrap().body;
        let of = metrics.lines().filter(|line| line.starts_with("eno_webhook_reviews_total{"));
        of.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    }

    /// Whoever comes next is served.
    async fn serves(&self) {
        let reply = exchange(&mut self.tls().await, &question()).await.unwrap();
        assert!(reply.body.contains("ReferencedByCurrent"), "{reply:?}");
    }
}

async fn all(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut received = vec![];
    let read = tokio::time::timeout(LIMIT, stream.read_to_end(&mut received)).await;
    // What the server has not read when it ends makes a reset of the end.
    assert!(read.is_ok(), "the connection stays open: {}", String::from_utf8_lossy(&received));
    String::from_utf8_lossy(&received).into_owned()
}

fn question() -> String {
    post("/slices-delete?timeout=5s", &deletion(SlicesDelete, &slice("s1", "web")).to_string())
}

/// The status codes of the answers in what came back.
fn codes(received: &str) -> Vec<&str> {
    received.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect()
}

/// A review with these lines for its length, whose body is in one chunk or not, and another request behind it: to one who
/// believes the other of two lines, that is part of the body, or what follows it is.
fn smuggling(lines: &str, chunked: bool) -> String {
    let review = deletion(SlicesDelete, &slice("s1", "web")).to_string();
    let body = if chunked { format!("{:x}\r\n{review}\r\n0\r\n\r\n", review.len()) } else { review };
    format!(
        "POST /slices-delete?timeout=5s HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n{lines}\r\n\r\n{body}{}",
        question()
    )
}

/// Two servers that disagree on where a request ends, one before the other, would let a request through that the first has not
/// seen. What says its length in more than one way is refused, or is the last that its connection is heard for (RFC 9112, 6.1).
#[tokio::test]
async fn behind_a_request_that_says_its_length_twice_no_other_is_heard() {
    let target = Target::new().await;
    let length = deletion(SlicesDelete, &slice("s1", "web")).to_string().len();
    let mut answered = 0;
    for chunked in [true, false] {
        for lines in [
            format!("content-length: {length}\r\ntransfer-encoding: chunked"),
            format!("transfer-encoding: chunked\r\ncontent-length: {length}"),
            format!("content-length: 5\r\ncontent-length: {length}"),
            format!("content-length: 5, {length}"),
            format!("content-length: +{length}"),
            "content-length: 0x5".to_owned(),
            "content-length: -5".to_owned(),
            format!("content-length : {length}"),
            format!("content-length:\r\n {length}"),
            "transfer-encoding: identity".to_owned(),
            "transfer-encoding: chunked, identity".to_owned(),
            "transfer-encoding: \u{b}chunked".to_owned(),
            "transfer-encoding: chunked\r\ntransfer-encoding: identity".to_owned(),
        ] {
            let received = target.send(smuggling(&lines, chunked).as_bytes()).await;
            let codes = codes(&received);
            assert!(matches!(codes[..], [] | ["400" | "200"]), "{lines:?}, chunked {chunked}: {received}");
            answered += u64::from(codes[..] == ["200"]);
        }
    }
    assert_eq!(target.reviews().await, answered, "no hidden request was answered");
    // A request that says its length once is answered, and so is the one behind it, whatever is wrong within the first.
    let once = |body: &str| post("/slices-delete?timeout=5s", body);
    assert_eq!(codes(&target.send((question() + &question()).as_bytes()).await), ["200", "200"]);
    assert_eq!(codes(&target.send((once("no JSON") + &question()).as_bytes()).await), ["400", "200"]);
    let chunked = smuggling("transfer-encoding: chunked", true);
    assert_eq!(codes(&target.send(chunked.as_bytes()).await), ["200", "200"]);
}

#[tokio::test]
async fn heads_that_are_too_large_or_malformed_are_refused() {
    let target = Target::new().await;
    let with = |line: &str| question().replacen("\r\n", &format!("\r\n{line}\r\n"), 1);
    let flood: Vec<_> = (0..500).map(|nth| format!("x-{nth}: y")).collect();
    for (request, expected) in [
        (with(&flood.join("\r\n")), "431"),
        (with(&format!("x: {}", "y".repeat(1_000_000))), "431"),
        (question().replacen("/slices-delete", &format!("/{}", "a".repeat(1_000_000)), 1), "431"),
        (with("x\u{0}y: z"), "400"),
        (with("x: y\u{0}z"), "400"),
        (with(" folded"), "400"),
        (with("no colon"), "400"),
        (question().replacen("HTTP/1.1", "HTTP/9.9", 1), "400"),
        ("\u{16}\u{3}\u{1}".to_owned() + &question(), "400"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), "400"),
    ] {
        let received = target.send(request.as_bytes()).await;
        let start = request.chars().take(60).collect::<String>();
        // hyper says nothing to what is not HTTP/1 at all.
        let codes = codes(&received);
        assert!(codes == [expected] || codes.is_empty() && expected == "400", "{start:?}: {codes:?}, not {expected}");
    }
    assert_eq!(target.reviews().await, 0);
    target.serves().await;
}

/// There is one path for each hook, and no second way to write it.
#[tokio::test]
async fn no_other_path_leads_to_a_hook() {
    let target = Target::new().await;
    for path in [
        "//slices-delete",
        "/slices-delete/",
        "/./slices-delete",
        "/a/../slices-delete",
        "/%73lices-delete",
        "/slices-delete%2f",
        "/slices-delete%00",
        "/slices-delete;a=b",
        "/SLICES-DELETE",
        "/slices-delete/../slices-create",
        "/../../../etc/passwd",
        "/metrics",
        "/readyz",
        "slices-delete",
        "*",
    ] {
        let received = target.send(question().replacen("/slices-delete?timeout=5s", path, 1).as_bytes()).await;
        let codes = codes(&received);
        assert!(matches!(codes[..], ["404" | "400"]), "{path}: {received}");
    }
    assert_eq!(target.reviews().await, 0);
    // In absolute form, which a server must take, the host is not its own business: it is the same question.
    let absolute = question().replacen("/slices-delete", "https://evil.example/slices-delete", 1);
    let received = exchange(&mut target.tls().await, &absolute).await.unwrap();
    assert!(received.body.contains("ReferencedByCurrent"), "{received:?}");
    assert_eq!(target.reviews().await, 1);
}

#[tokio::test]
async fn other_methods_and_upgrades_are_not_taken() {
    let target = Target::new().await;
    for method in ["GET", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"] {
        let received = target.send(question().replacen("POST", method, 1).as_bytes()).await;
        assert_eq!(codes(&received), ["405"], "{method}: {received}");
    }
    let tunnel = target.send(b"CONNECT kubernetes.default.svc:443 HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert!(!tunnel.contains("HTTP/1.1 200"), "{tunnel}");
    for upgrade in ["websocket", "h2c"] {
        let line = format!("\r\nconnection: upgrade\r\nupgrade: {upgrade}\r\n");
        let received = exchange(&mut target.tls().await, &question().replacen("\r\n", &line, 1)).await.unwrap();
        assert!(received.head.starts_with("http/1.1 200"), "the question is answered, and no more: {received:?}");
    }
}

/// The first message of a client that offers no more than this version: without extensions it means what it says.
fn client_hello(minor: u8) -> Vec<u8> {
    let mut hello = vec![3, minor];
    hello.extend([7; 32]); // random
    hello.push(0); // no session
    hello.extend([0, 4, 0xc0, 0x13, 0x00, 0x2f]); // ECDHE-RSA and RSA with AES-128-CBC and SHA-1
    hello.extend([1, 0]); // no compression
    let length = u8::try_from(hello.len()).unwrap();
    let mut message = vec![1, 0, 0, length];
    message.extend(hello);
    let length = u8::try_from(message.len()).unwrap();
    let mut record = vec![22, 3, 1, 0, length];
    record.extend(message);
    record
}

#[tokio::test]
async fn older_versions_of_tls_are_refused_by_an_alert() {
    let target = Target::new().await;
    for (version, minor) in [("SSL 3.0", 0), ("TLS 1.0", 1), ("TLS 1.1", 2)] {
        let mut stream = TcpStream::connect(target.running.secure).await.unwrap();
        stream.write_all(&client_hello(minor)).await.unwrap();
        let mut received = vec![];
        // It may be reset behind the alert.
        let _ = tokio::time::timeout(LIMIT, stream.read_to_end(&mut received)).await.unwrap();
        // An alert, which is fatal.
        assert!(matches!(received[..], [21, 3, _, 0, 2, 2, _]), "{version}: {received:?}");
    }
    target.serves().await;
}

/// A small body may unpack to a large one.
#[tokio::test]
async fn a_body_is_never_unpacked() {
    let webhook = Webhook::new(&ApiServer::new().with(&composition("web", &["s1"])));
    // An empty member of gzip.
    let packed = [31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let request = Request::post("/slices-delete")
            .header("content-type", "application/json")
            .header("content-encoding", coding)
            .body(Body::from(packed.to_vec()))
            .unwrap();
        let response = webhook.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{coding}");
    }
}

#[tokio::test]
async fn only_json_that_says_so_is_read() {
    let webhook = Webhook::new(&ApiServer::new().with(&composition("web", &["s1"])));
    let question = deletion(SlicesDelete, &slice("s1", "web")).to_string();
    for content_type in [
        "text/json",
        "application/jsonp",
        "application/json-patch+json",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=application/json",
        "application/vnd.kubernetes.protobuf",
        "text/plain, application/json",
        "*/*",
    ] {
        let (code, _) = webhook.post("/slices-delete", content_type, question.clone().into()).await;
        assert_eq!(code, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type}");
    }
}

/// Connections that say nothing, or begin and do not go on, take no room from others.
#[tokio::test]
async fn hundreds_of_silent_connections_keep_nobody_waiting() -> io::Result<()> {
    let target = Target::new().await;
    let mut held = vec![];
    for nth in 0..300 {
        let mut stream = TcpStream::connect(target.running.secure).await?;
        if nth % 3 == 0 {
            stream.write_all(&client_hello(3)[..nth % 40]).await?;
        }
        held.push(stream);
    }
    let mut begun = vec![];
    for _ in 0..20 {
        let mut stream = target.tls().await;
        stream.write_all(b"POST /slices-delete HTTP/1.1\r\ncontent-le").await?;
        begun.push(stream);
    }
    target.serves().await;
    Ok(())
}
