//! Receivers on real sockets, of the kinds there are.

use std::net::SocketAddr;
use std::sync::Mutex;

use axum::Router;
use axum::extract::{Request as Received, State};
use axum::response::IntoResponse;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::pods::sinks::fixtures::destroy;

/// What a receiver got: headers and body.
type Got = Arc<Mutex<Vec<(http::HeaderMap, Vec<u8>)>>>;

async fn receive(State((got, answer)): State<(Got, Answer)>, request: Received) -> impl IntoResponse {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    got.lock().unwrap().push((head.headers, body.to_vec()));
    answer
}

type Answer = (StatusCode, [(&'static str, &'static str); 1]);

/// A receiver that gives this answer, and what it got.
async fn receiver(status: u16, header: (&'static str, &'static str)) -> (SocketAddr, Got) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, got) = (listener.local_addr().unwrap(), Got::default());
    let answer: Answer = (StatusCode::from_u16(status).unwrap(), [header]);
    let app = Router::new().fallback(receive).with_state((got.clone(), answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (address, got)
}

fn options(url: &str) -> Options {
    Options {
        url: url.parse().unwrap(),
        mode: ContentMode::Structured,
        ca_file: None,
        token_file: None,
        timeout: Duration::from_secs(20),
        guard: Guard { allow_local: true },
    }
}

async fn deliver(options: &Options) -> Result<(), Failure> {
    Http::new(options.clone(), "c1").unwrap().deliver(Arc::new(destroy("web-0", "u1"))).await
}

#[tokio::test]
async fn posts_the_event_in_the_body_or_its_attributes_in_headers() {
    let (address, got) = receiver(204, ("x", "y")).await;
    let structured = options(&format!("http://{address}/a/b?c=d"));
    deliver(&structured).await.unwrap();
    deliver(&Options { mode: ContentMode::Binary, ..structured }).await.unwrap();
    let got = got.lock().unwrap();
    let [(_, first), (headers, second)] = &got[..] else { panic!("{got:?}") };
    assert_eq!(got[0].0[CONTENT_TYPE], "application/cloudevents+json; charset=UTF-8");
    assert_eq!(headers[CONTENT_TYPE], "application/json");
    let event: Value = serde_json::from_slice(first).unwrap();
    assert_eq!(event["type"], "dev.kubectl-eno.pod.gone.v1");
    for name in ["specversion", "id", "source", "type", "subject", "time", "poduid", "partitionkey", "sequence"] {
        assert_eq!(event[name], headers[&format!("ce-{name}")].to_str().unwrap(), "{name}");
    }
    assert_eq!(event["data"], serde_json::from_slice::<Value>(second).unwrap());
}

#[tokio::test]
async fn a_status_says_whether_another_attempt_makes_sense() {
    for status in [200, 202, 204] {
        let (address, _) = receiver(status, ("x", "y")).await;
        assert_eq!(deliver(&options(&format!("http://{address}"))).await, Ok(()), "{status}");
    }
    for (status, retry) in [
        (400, Retry::Never),
        (413, Retry::Never),
        (415, Retry::Never),
        (422, Retry::Never),
        (301, Retry::After(None)),
        (401, Retry::After(Some(Duration::from_secs(7)))),
        (404, Retry::After(Some(Duration::from_secs(7)))),
        (408, Retry::After(Some(Duration::from_secs(7)))),
        (429, Retry::After(Some(Duration::from_secs(7)))),
        (500, Retry::After(Some(Duration::from_secs(7)))),
        (503, Retry::After(Some(Duration::from_secs(7)))),
    ] {
        let (address, _) = receiver(status, ("retry-after", "7")).await;
        let failure = deliver(&options(&format!("http://{address}"))).await.unwrap_err();
        assert_eq!(failure.retry, retry, "{status}: {}", failure.why);
        assert!(failure.why.contains(&status.to_string()), "{}", failure.why);
    }
}

#[tokio::test]
async fn follows_no_redirect() {
    let (elsewhere, got) = receiver(200, ("x", "y")).await;
    let there: &'static str = format!("http://localhost:{}/", elsewhere.port()).leak();
    let (address, _) = receiver(307, ("location", there)).await;
    let failure = deliver(&options(&format!("http://{address}"))).await.unwrap_err();
    assert!(failure.why.contains("redirects are not followed"), "{}", failure.why);
    assert!(got.lock().unwrap().is_empty());
}

/// A receiver that answers with these bytes and closes.
async fn raw(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            read_event(&mut stream).await;
            let _ = stream.write_all(answer).await;
        }
    });
    address
}

/// All of it: what is closed with something unread is reset.
async fn read_event(stream: &mut TcpStream) {
    let mut request = vec![];
    while !request.ends_with(b"}") && stream.read_buf(&mut request).await.is_ok_and(|read| read > 0) {}
}

#[tokio::test]
async fn what_is_no_answer_may_pass() {
    let refused = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for address in [raw(b"garbage\r\n\r\n").await, raw(b"").await, raw(b"HTTP/1.1 200").await, refused] {
        let failure = deliver(&options(&format!("http://{address}"))).await.unwrap_err();
        assert_eq!(failure.retry, Retry::After(None), "{}", failure.why);
    }
}

#[tokio::test]
async fn an_answer_counts_though_its_body_is_cut_off_or_never_ends() {
    let cut_off = raw(b"HTTP/1.1 202 Accepted\r\ncontent-length: 10\r\n\r\nshort").await;
    let long = [b"HTTP/1.1 202 Accepted\r\n\r\n", &[b'x'; 100_000][..]].concat().leak();
    let endless = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for address in [cut_off, raw(long).await, endless.local_addr().unwrap()] {
        let options = options(&format!("http://{address}"));
        let endless = async {
            let (mut stream, _) = endless.accept().await.unwrap();
            read_event(&mut stream).await;
            stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 10\r\n\r\nshort").await.unwrap();
            std::future::pending::<()>().await
        };
        let delivered = tokio::select! {
            delivered = deliver(&options) => delivered,
            () = endless => unreachable!("it waits for ever"),
        };
        assert_eq!(delivered, Ok(()));
    }
}

#[tokio::test]
async fn a_receiver_that_does_not_answer_has_its_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let failure = deliver(&Options { timeout: Duration::from_millis(50), ..options(&url) }).await.unwrap_err();
    assert_eq!(failure, Failure::passing("no answer within 50ms"));
}

/// A receiver with TLS, for `localhost`, and its certificate in a file.
async fn secure() -> (SocketAddr, Got, TempDir) {
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.crt"), pair.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(pair.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![pair.cert.der().clone()], key)
        .unwrap();
    let (acceptor, got) = (TlsAcceptor::from(Arc::new(config)), Got::default());
    let answer: Answer = (StatusCode::OK, [("x", "y")]);
    let app = Router::new().fallback(receive).with_state((got.clone(), answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let service = hyper_util::service::TowerToHyperService::new(app.clone());
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(
                async move { connection.serve_connection(hyper_util::rt::TokioIo::new(stream), service).await },
            );
        }
    });
    (address, got, folder)
}

#[tokio::test]
async fn knows_the_receiver_by_its_authority_and_shows_the_token_of_the_moment() {
    let (address, got, folder) = secure().await;
    let token_file = folder.path().join("token");
    let options = Options {
        ca_file: Some(folder.path().join("ca.crt")),
        token_file: Some(token_file.clone()),
        ..options(&format!("https://localhost:{}", address.port()))
    };
    let sink = Http::new(options, "c1").unwrap();
    let deliver = || sink.deliver(Arc::new(destroy("web-0", "u1")));
    let missing = deliver().await.unwrap_err();
    assert_eq!(missing.retry, Retry::After(None), "{}", missing.why);
    for token in ["first", "second"] {
        std::fs::write(&token_file, format!("{token}\n")).unwrap();
        deliver().await.unwrap();
    }
    std::fs::write(&token_file, "not\na\ntoken").unwrap();
    let unusable = deliver().await.unwrap_err();
    assert!(!unusable.why.contains("not"), "{}", unusable.why);
    let shown: Vec<_> = got.lock().unwrap().iter().map(|(headers, _)| headers[AUTHORIZATION].clone()).collect();
    assert_eq!(shown, ["Bearer first", "Bearer second"]);
}

#[tokio::test]
async fn a_receiver_of_another_authority_gets_nothing() {
    let (address, got, _folder) = secure().await;
    let (_, _, another) = secure().await;
    let url = format!("https://localhost:{}", address.port());
    let options = Options { ca_file: Some(another.path().join("ca.crt")), ..options(&url) };
    let failure = deliver(&options).await.unwrap_err();
    assert!(failure.why.contains("certificate") && failure.retry == Retry::After(None), "{}", failure.why);
    assert!(got.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_local_receiver_gets_nothing_unless_it_is_allowed() {
    let (address, got) = receiver(200, ("x", "y")).await;
    let url = format!("http://localhost:{}", address.port());
    let options = Options { guard: Guard { allow_local: false }, ..options(&url) };
    let failure = deliver(&options).await.unwrap_err();
    assert!(failure.why.contains("loopback, and --sink-allow-local is not set"), "{}", failure.why);
    assert!(got.lock().unwrap().is_empty());
}

#[test]
fn urls_that_must_not_be_used_are_refused_at_the_start() {
    let refusal = |options: Options| Http::new(options, "c1").err().map(|error| error.to_string());
    let guarded = |url: &str| Options { guard: Guard { allow_local: false }, ..options(url) };
    for (url, why) in [
        ("http://127.0.0.1", "loopback"),
        ("http://[::1]:80/x", "loopback"),
        ("http://[::ffff:127.0.0.1]", "loopback"),
        ("http://169.254.169.254/latest", "metadata"),
        ("ftp://example.com", "expected http:// or https://"),
        ("/only/a/path", "no host"),
        ("http://me:secret@example.com", "must not hold a user"),
    ] {
        let refusal = refusal(guarded(url)).unwrap_or_else(|| panic!("{url} is taken"));
        assert!(refusal.contains(why) && !refusal.contains("secret"), "{url}: {refusal}");
    }
    let token_file = Some("token".into());
    let refused = refusal(Options { token_file, ..guarded("http://example.com") });
    assert!(refused.is_some_and(|why| why.contains("needs https")));
    assert_eq!(refusal(guarded("http://receiver.example:8080/x")), None);
    let ca_file = Some("missing.crt".into());
    let refused = refusal(Options { ca_file, ..guarded("https://example.com") });
    assert!(refused.is_some_and(|why| why.starts_with("--sink-ca-file missing.crt cannot be used")));
}
