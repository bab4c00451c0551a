//! Certificates and connections, on real sockets.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eno_webhook::clock::Clock;
use eno_webhook::hooks::Hook::SlicesDelete;
use eno_webhook::tls::Serving;
use eno_webhook::tls::files::Files;
use eno_webhook::{Certificate, Options, Server};
use jiff::Timestamp;
use rustls::version::{TLS12, TLS13};
use rustls::{ProtocolVersion, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::api_server::ApiServer;
use crate::call::deletion;
use crate::http::{Issued, Mounted, Running, connect, exchange, issue, post};
use crate::objects::{composition, slice};

const BOTH: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];

fn question() -> String {
    post("/slices-delete?timeout=5s", &deletion(SlicesDelete, &slice("s1", "web")).to_string())
}

async fn start(change: impl FnOnce(&mut Options)) -> (Running, Mounted, Issued) {
    let issued = issue();
    let mounted = Mounted::new(&issued.cert, &issued.key);
    let mut options = mounted.options();
    change(&mut options);
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    (Running::start(&server, options).await, mounted, issued)
}

#[tokio::test]
async fn prefers_tls_1_3_takes_1_2_and_speaks_http_1_1() {
    let (running, _mounted, issued) = start(|_| {}).await;
    for (versions, expected) in [(BOTH, ProtocolVersion::TLSv1_3), (&[&TLS12][..], ProtocolVersion::TLSv1_2)] {
        let mut stream = connect(running.secure, &issued.der, versions).await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(expected));
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let reply = exchange(&mut stream, &question()).await.unwrap();
        assert!(reply.head.starts_with("http/1.1 200"), "{}", reply.head);
        assert!(reply.body.contains("ReferencedByCurrent"));
    }
}

#[tokio::test]
async fn a_client_without_tls_gets_nothing_and_the_next_is_served() {
    let (running, _mounted, issued) = start(|_| {}).await;
    let mut plain = TcpStream::connect(running.secure).await.unwrap();
    plain.write_all(question().as_bytes()).await.unwrap();
    let mut received = vec![];
    let _ = plain.read_to_end(&mut received).await;
    assert!(!String::from_utf8_lossy(&received).contains("HTTP"), "{received:?}");
    let mut stream = connect(running.secure, &issued.der, BOTH).await.unwrap();
    exchange(&mut stream, &question()).await.unwrap();
    let metrics = running.probe("/metrics").await.unwrap().body;
    assert!(metrics.contains("eno_webhook_tls_handshakes_failed_total 1"), "{metrics}");
}

/// The certificate that a new connection is shown.
async fn shown(running: &Running, trusted: &[&Issued]) -> usize {
    for (index, issued) in trusted.iter().enumerate() {
        if connect(running.secure, &issued.der, BOTH).await.is_ok() {
            return index;
        }
    }
    panic!("neither certificate is shown")
}

#[tokio::test]
async fn takes_a_swapped_certificate_and_keeps_the_old_one_where_the_new_does_not_load() {
    let (running, mut mounted, first) = start(|options| options.certificate_poll = Duration::from_millis(10)).await;
    let second = issue();
    assert_eq!(shown(&running, &[&first, &second]).await, 0);

    mounted.swap(&second.cert, &first.key);
    let deadline = Instant::now() + Duration::from_secs(10);
    let failed = "eno_webhook_certificate_loads_failed_total 0";
    while running.probe("/metrics").await.unwrap().body.contains(failed) {
        assert!(Instant::now() < deadline, "the mismatch was not seen");
    }
    assert_eq!(shown(&running, &[&first, &second]).await, 0, "a pair that does not match is not taken");

    let mut open = connect(running.secure, &first.der, BOTH).await.unwrap();
    mounted.swap(&second.cert, &second.key);
    while shown(&running, &[&first, &second]).await == 0 {
        assert!(Instant::now() < deadline, "the new certificate was not taken");
    }
    exchange(&mut open, &question()).await.expect("a connection that was open stays so");
}

/// The API server would not accept it, so another replica should be asked.
#[tokio::test]
async fn is_unready_while_its_certificate_has_ended() {
    let now = Arc::new(Mutex::new(Timestamp::now()));
    let clock = Clock::new({
        let now = Arc::clone(&now);
        move || *now.lock().unwrap()
    });
    let (running, _mounted, _) = start(|options| options.clock = clock).await;
    let probe = async |said: &str| {
        let deadline = Instant::now() + Duration::from_secs(10);
        while running.probe("/readyz").await.unwrap().body != said {
            assert!(Instant::now() < deadline, "{:?}", running.probe("/readyz").await);
        }
    };
    probe("ok").await;
    *now.lock().unwrap() = "4096-01-01T00:00:00Z".parse().unwrap();
    probe("the serving certificate has ended").await;
    *now.lock().unwrap() = Timestamp::now();
    probe("ok").await;
}

#[test]
fn loads_each_kind_of_key() {
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/webhook/keys");
    let serving = Serving::new(Clock::default());
    for kind in ["sec1", "pkcs1"] {
        Files::load(&keys.join(format!("{kind}.crt")), &keys.join(format!("{kind}.key")), &serving).unwrap();
    }
    let pkcs8 = issue();
    let mounted = Mounted::new(&pkcs8.cert, &pkcs8.key);
    Files::load(&mounted.cert(), &mounted.key(), &serving).unwrap();
}

#[tokio::test]
async fn shows_the_whole_chain() {
    let leaf = issue();
    let chain = [leaf.cert.clone(), issue().cert, issue().cert].concat();
    let mounted = Mounted::new(&chain, &leaf.key);
    let running = Running::start(&ApiServer::new(), mounted.options()).await;
    let stream = connect(running.secure, &leaf.der, BOTH).await.unwrap();
    assert_eq!(stream.get_ref().1.peer_certificates().map(<[_]>::len), Some(3));
}

#[tokio::test]
async fn a_certificate_that_does_not_load_fails_before_anything_is_bound_and_names_the_flag() {
    let (good, other) = (issue(), issue());
    for (cert, key, said) in [
        ("", good.key.as_str(), "--tls-cert-file"),
        ("no PEM", good.key.as_str(), "--tls-cert-file"),
        (good.cert.as_str(), "no PEM", "--tls-private-key-file"),
        (good.cert.as_str(), other.key.as_str(), "does not go with"),
    ] {
        let mounted = Mounted::new(cert, key);
        // An address that cannot be bound: the certificate is what is told.
        let options = Options { bind_address: "192.0.2.1".parse().unwrap(), ..mounted.options() };
        let error = Server::bind(ApiServer::new().client(), options).await.map(drop).unwrap_err();
        assert!(error.to_string().contains(said), "{said:?} is not in {error:#}");
    }
    let absent = Options::new(Certificate::files("/does/not/exist.crt", "/does/not/exist.key")).on_loopback();
    let error = Server::bind(ApiServer::new().client(), absent).await.map(drop).unwrap_err();
    assert!(error.to_string().contains("--tls-cert-file /does/not/exist.crt"), "{error:#}");
}

#[tokio::test]
async fn an_address_that_is_taken_is_named_with_its_flag() {
    let (running, mounted, _) = start(|_| {}).await;
    let taken = Options { secure_port: running.secure.port(), ..mounted.options() };
    let error = Server::bind(ApiServer::new().client(), taken).await.map(drop).unwrap_err();
    assert!(format!("{error:#}").contains("--secure-port"), "{error:#}");
}

#[tokio::test]
async fn an_idle_connection_lives_as_long_as_it_may_and_a_slow_head_no_longer() {
    let idle = Duration::from_millis(1500);
    let (running, _mounted, issued) = start(|options| options.times.idle = idle).await;

    let mut stream = connect(running.secure, &issued.der, BOTH).await.unwrap();
    exchange(&mut stream, &question()).await.unwrap();
    tokio::time::sleep(idle / 2).await;
    exchange(&mut stream, &question()).await.expect("half the time is not too long");
    let began = Instant::now();
    let mut end = [0];
    assert_eq!(stream.read(&mut end).await.unwrap_or(0), 0, "the server ends it");
    let lived = began.elapsed();
    assert!(lived >= idle / 2 && lived < idle * 5, "{lived:?}");

    let mut slow = connect(running.secure, &issued.der, BOTH).await.unwrap();
    let began = Instant::now();
    // A byte now and then does not buy more time.
    while slow.write_all(b"P").await.is_ok() && slow.flush().await.is_ok() {
        match tokio::time::timeout(Duration::from_millis(20), slow.read(&mut end)).await {
            Ok(Ok(1)) => {}
            Ok(Ok(_) | Err(_)) => break,
            Err(_) => {}
        }
        assert!(began.elapsed() < idle * 10, "a head that never ends is not ended");
    }
}

#[tokio::test]
async fn a_handshake_that_never_comes_is_ended() {
    let (running, _mounted, _) = start(|options| options.times.handshake = Duration::from_millis(50)).await;
    let mut silent = TcpStream::connect(running.secure).await.unwrap();
    let mut received = vec![];
    let ended = tokio::time::timeout(Duration::from_secs(10), silent.read_to_end(&mut received)).await;
    assert!(ended.is_ok(), "the connection is still open");
}

#[tokio::test]
async fn listens_on_both_families_where_it_is_told_no_address() {
    let (running, _mounted, issued) =
        start(|options| options.bind_address = std::net::Ipv6Addr::UNSPECIFIED.into()).await;
    let by_ipv4 = (std::net::Ipv4Addr::LOCALHOST, running.secure.port()).into();
    let mut stream = connect(by_ipv4, &issued.der, BOTH).await.unwrap();
    exchange(&mut stream, &question()).await.unwrap();
}
