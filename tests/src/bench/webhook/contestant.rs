//! Who is called: ours, the peer, and a server that only reads.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::bench::load::{cpu_of, peak_of, reset_peak_of};
use crate::cluster::Cluster;
use crate::controlplane::Authority;
use crate::eventually::eventually;
use crate::peer::Peer;
use crate::process::Process;
use crate::webhook::{Profile, Webhook, WebhookOptions};

/// A server that is called.
pub struct Contestant {
    /// Its name in a table.
    pub name: &'static str,
    url: String,
    ca: PathBuf,
    pid: u32,
    running: Running,
}

#[expect(dead_code, reason = "what they hold ends with them")]
enum Running {
    Ours(Box<Webhook>),
    Peer(Box<Peer>),
    Floor(Process, TempDir),
}

impl Contestant {
    /// Ours: admission alone, watching the compositions of these namespaces, of which there is one. The API server does not
    /// call it.
    ///
    /// # Errors
    /// It does not start.
    pub async fn ours(cluster: &Cluster, namespaces: &[&str]) -> Result<Self> {
        let (first, more) = namespaces.split_first().context("at least one namespace")?;
        let options = WebhookOptions {
            namespace: (*first).to_owned(),
            profile: Profile::Release,
            unregistered: true,
            flags: more.iter().map(|namespace| format!("--composition-namespace={namespace}")).collect(),
            ..WebhookOptions::default()
        };
        let webhook = Webhook::start(cluster, options).await?;
        let (url, ca) = (webhook.url().to_owned(), webhook.ca().to_owned());
        let pid = webhook.pid().unwrap_or_default();
        Ok(Self { name: "ours", url, ca, pid, running: Running::Ours(Box::new(webhook)) })
    }

    /// The peer.
    ///
    /// # Errors
    /// It does not start.
    pub async fn peer(cluster: &Cluster) -> Result<Self> {
        let peer = Peer::start(cluster).await?;
        let (url, ca, pid) = (peer.url().to_owned(), peer.ca().to_owned(), peer.pid());
        Ok(Self { name: "peer", url, ca, pid, running: Running::Peer(Box::new(peer)) })
    }

    /// The least that any webhook does: TLS and HTTP, by the same libraries as ours. It looks at nothing and says nothing.
    ///
    /// # Errors
    /// It does not start.
    pub async fn floor() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let authority = Authority::new()?;
        let pair = authority.server(&["127.0.0.1"])?;
        let [ca, cert, key, log] = ["ca.crt", "tls.crt", "tls.key", "log"].map(|name| dir.path().join(name));
        fs::write(&ca, authority.cert())?;
        fs::write(&cert, pair.cert)?;
        fs::write(&key, pair.key)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bench", "floor"]).arg(cert).arg(key);
        let mut process = Process::spawn("floor", &command, &log)?;
        let url = eventually("the floor to listen", Duration::from_secs(10), async || {
            process.check()?;
            fs::read_to_string(&log)?.strip_suffix('\n').map(str::to_owned).context("it has printed nothing")
        })
        .await?;
        let pid = process.pid();
        Ok(Self { name: "floor", url, ca, pid, running: Running::Floor(process, dir) })
    }

    /// Does it answer at all?
    pub fn answers(&self) -> bool {
        !matches!(self.running, Running::Floor(..))
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate of the authority that signed its own.
    pub fn ca(&self) -> &Path {
        &self.ca
    }

    /// CPU time until now.
    ///
    /// # Errors
    /// It has ended.
    pub fn cpu(&self) -> Result<Duration> {
        cpu_of(self.pid)
    }

    /// The most memory, in MiB, since it was last [forgotten](Contestant::forget_peak).
    ///
    /// # Errors
    /// It has ended.
    pub fn peak(&self) -> Result<f64> {
        peak_of(self.pid)
    }

    /// The peak counts from now on.
    ///
    /// # Errors
    /// It has ended.
    pub fn forget_peak(&self) -> Result<()> {
        reset_peak_of(self.pid)
    }
}

/// Arguments of `cargo xtask bench floor`.
#[derive(Debug, clap::Args)]
pub struct Floor {
    /// The certificate
    cert: PathBuf,
    /// Its key
    key: PathBuf,
}

impl Floor {
    /// Serves for ever; prints where.
    ///
    /// # Errors
    /// The certificate does not load.
    pub async fn run(&self) -> Result<()> {
        let certs = CertificateDer::pem_file_iter(&self.cert)?.collect::<Result<Vec<_>, _>>()?;
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(certs, PrivateKeyDer::from_pem_file(&self.key)?)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("https://{}", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                stream.set_nodelay(true)?;
                let stream = TokioIo::new(acceptor.accept(stream).await?);
                http1::Builder::new().serve_connection(stream, service_fn(swallow)).await?;
                anyhow::Ok(())
            });
        }
    }
}

async fn swallow(request: Request<Incoming>) -> Result<Response<Empty<Bytes>>, hyper::Error> {
    let mut body = request.into_body();
    while let Some(frame) = body.frame().await {
        frame?;
    }
    Ok(Response::new(Empty::new()))
}
