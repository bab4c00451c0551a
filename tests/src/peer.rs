//! The webhook of `tests/peer`: what a Go team would write with controller-runtime. It is what ours is measured against.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::{Client, Config};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::controlplane::Authority;
use crate::eventually::eventually;
use crate::process::{Process, tail};
use crate::workspace;

const READY: Duration = Duration::from_secs(60);

/// A running peer. The API server does not call it by itself. Dropping it ends it.
pub struct Peer {
    process: Process,
    url: String,
    ca: PathBuf,
    _dir: TempDir,
}

impl Peer {
    /// Builds it, where it is not built, and starts it. It watches the compositions of all namespaces.
    ///
    /// # Errors
    /// There is no Go, or it does not start.
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let mut command = Command::new(build()?);
        let dir = tempfile::Builder::new().prefix("peer-").tempdir()?;
        let authority = Authority::new()?;
        let pair = authority.server(&["127.0.0.1"])?;
        let [ca, cert, key, log] = ["ca.crt", "tls.crt", "tls.key", "log"].map(|name| dir.path().join(name));
        fs::write(&ca, authority.cert())?;
        fs::write(cert, pair.cert)?;
        fs::write(key, pair.key)?;
        let [port, health] = free_ports()?;
        command.args([format!("--port={port}"), format!("--health-probe-bind-address=127.0.0.1:{health}")]);
        command.arg("--metrics-bind-address=127.0.0.1:0").arg("--cert-dir").arg(dir.path());
        command.arg("--kubeconfig").arg(cluster.kubeconfig());
        let mut process = Process::spawn("peer", &command, &log)?;
        let probe = Client::try_from(Config::new(format!("http://127.0.0.1:{health}").parse()?))?;
        let ready = eventually("the peer to be ready", READY, async || {
            process.check()?;
            probe.request_text(http::Request::get("/readyz").body(vec![])?).await?;
            Ok(())
        });
        ready.await.with_context(|| tail(&log))?;
        Ok(Self { process, url: format!("https://127.0.0.1:{port}"), ca, _dir: dir })
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate of the authority that signed its own.
    pub fn ca(&self) -> &Path {
        &self.ca
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }
}

/// Its binary. Go's own cache says what there is to do.
fn build() -> Result<PathBuf> {
    let binary = workspace::target().join("peer/peer");
    let mut go = Command::new("go");
    go.args(["build", "-trimpath", "-ldflags=-s -w", "-o"]).arg(&binary).arg(".");
    go.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("peer")).stdin(Stdio::null());
    go.env("GOFLAGS", "-mod=readonly").env("GOWORK", "off");
    let output = go.output().context("running go (install Go 1.26 or newer: https://go.dev/dl)")?;
    ensure!(output.status.success(), "go build of tests/peer: {}", String::from_utf8_lossy(&output.stderr));
    Ok(binary)
}

/// Ports that are free now; controller-runtime does not say which one it was given.
fn free_ports() -> Result<[u16; 2]> {
    let held = [TcpListener::bind(("127.0.0.1", 0))?, TcpListener::bind(("127.0.0.1", 0))?];
    let [port, health] = held.each_ref().map(TcpListener::local_addr);
    Ok([port?.port(), health?.port()])
}
