//! Clients that must say who they are.

use std::io;
use std::time::{Duration, Instant};

use eno_webhook::hooks::Hook::SlicesDelete;
use eno_webhook::tls::clients;
use eno_webhook::{Options, Server};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};

use crate::api_server::ApiServer;
use crate::call::deletion;
use crate::http::{Issued, Mounted, Running, connect_as, exchange, issue, post};
use crate::objects::{composition, slice};

/// What signs clients.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn client(&self, name: &str, usage: ExtendedKeyUsagePurpose) -> Issued {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.0).unwrap();
        Issued { cert: cert.pem(), key: key.serialize_pem(), der: cert.der().clone() }
    }

    fn apiserver(&self) -> Issued {
        self.client("kube-apiserver", ExtendedKeyUsagePurpose::ClientAuth)
    }
}

/// A server that lets in the clients of an authority, whose certificate is mounted as `tls.crt` of a folder of its own.
struct Guarded {
    running: Running,
    server: Issued,
    authorities: Mounted,
    _mounted: Mounted,
}

impl Guarded {
    async fn new(authority: &Authority, names: &[&str]) -> Self {
        let server = issue();
        let (mounted, authorities) = (Mounted::new(&server.cert, &server.key), Mounted::new(&authority.0.pem(), ""));
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let options = Options {
            clients: Some(clients::Options { authorities: authorities.cert(), names }),
            certificate_poll: Duration::from_millis(10),
            ..mounted.options()
        };
        let api_server = ApiServer::new().with(&composition("web", &["s1"]));
        let running = Running::start(&api_server, options).await;
        Guarded { running, server, authorities, _mounted: mounted }
    }

    async fn ask(&self, client: Option<&Issued>, versions: &[&'static SupportedProtocolVersion]) -> io::Result<String> {
        let mut stream = connect_as(client, self.running.secure, &self.server.der, versions).await?;
        // With TLS 1.3 a client learns only now that it is refused.
        Ok(exchange(&mut stream, &question()).await?.body)
    }

    async fn lets_in(&self, client: &Issued) -> bool {
        self.ask(Some(client), &[&TLS13]).await.is_ok()
    }
}

fn question() -> String {
    post("/slices-delete?timeout=5s", &deletion(SlicesDelete, &slice("s1", "web")).to_string())
}

#[tokio::test]
async fn lets_in_only_clients_of_the_authority_and_of_an_allowed_name() {
    let (ours, other) = (Authority::new(), Authority::new());
    let guarded = Guarded::new(&ours, &["kube-apiserver"]).await;
    let api_server = ours.apiserver();
    let someone = ours.client("someone", ExtendedKeyUsagePurpose::ClientAuth);
    let a_server = ours.client("kube-apiserver", ExtendedKeyUsagePurpose::ServerAuth);
    for versions in [&[&TLS13][..], &[&TLS12]] {
        let answer = guarded.ask(Some(&api_server), versions).await.unwrap();
        assert!(answer.contains("ReferencedByCurrent"), "{answer}");
        for refused in [None, Some(&someone), Some(&a_server), Some(&other.apiserver())] {
            let shown = refused.map(|client| &client.cert);
            assert!(guarded.ask(refused, versions).await.is_err(), "{shown:?} was let in");
        }
    }
    // Probes come from the kubelet, which has no such certificate.
    assert_eq!(guarded.running.probe("/livez").await.unwrap().body, "ok");
    let metrics = guarded.running.probe("/metrics").await.unwrap().body;
    assert!(metrics.contains("eno_webhook_tls_handshakes_failed_total 8"), "{metrics}");
}

#[tokio::test]
async fn lets_in_all_clients_of_the_authority_where_no_name_is_asked_for() {
    let authority = Authority::new();
    let guarded = Guarded::new(&authority, &[]).await;
    assert!(guarded.lets_in(&authority.client("someone", ExtendedKeyUsagePurpose::ClientAuth)).await);
}

#[tokio::test]
async fn takes_other_authorities_and_keeps_those_it_has_where_they_do_not_load() {
    let (first, second) = (Authority::new(), Authority::new());
    let mut guarded = Guarded::new(&first, &[]).await;
    let (of_first, of_second) = (first.apiserver(), second.apiserver());
    let mut open = connect_as(Some(&of_first), guarded.running.secure, &guarded.server.der, &[&TLS13]).await.unwrap();
    exchange(&mut open, &question()).await.unwrap();

    guarded.authorities.swap("no PEM", "");
    let deadline = Instant::now() + Duration::from_secs(10);
    let failed = "eno_webhook_certificate_loads_failed_total 0";
    while guarded.running.probe("/metrics").await.unwrap().body.contains(failed) {
        assert!(Instant::now() < deadline, "the broken file was not seen");
    }
    assert!(guarded.lets_in(&of_first).await && !guarded.lets_in(&of_second).await);

    guarded.authorities.swap(&second.0.pem(), "");
    while !guarded.lets_in(&of_second).await {
        assert!(Instant::now() < deadline, "the new authority was not taken");
    }
    assert!(!guarded.lets_in(&of_first).await, "nobody vouches for it any more");
    exchange(&mut open, &question()).await.expect("a connection that was open stays so");
}

#[tokio::test]
async fn authorities_that_do_not_load_fail_before_anything_is_bound_and_name_the_flag() {
    let issued = issue();
    let mounted = Mounted::new(&issued.cert, &issued.key);
    for content in ["", "no PEM", &issued.key] {
        let authorities = Mounted::new(content, "");
        let clients = Some(clients::Options { authorities: authorities.cert(), names: vec![] });
        let options = Options { clients, ..mounted.options() };
        let error = Server::bind(ApiServer::new().client(), options).await.map(drop).unwrap_err();
        assert!(error.to_string().starts_with("--client-ca-file "), "{error:#}");
    }
}
