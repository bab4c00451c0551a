//! A replica of the Deployment: the same program with the same flags, user, rights, mounts and limits as its pod would have,
//! read from the manifest. Only the image is missing, so the program is the one that cargo has built.

mod container;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use eno_shared::names::WEBHOOK_NAME;
use kube::{Client, Config};
use tempfile::TempDir;

use super::{Manifests, text};
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::netns;
use crate::process::{Process, tail};

pub use container::program;

/// How long it may take to listen, and to get ready.
const READY: Duration = Duration::from_secs(60);
/// Where a replica runs.
pub struct Place<'a> {
    /// The control plane.
    pub cluster: &'a Cluster,
    /// Where the API server listens on loopback.
    pub server: &'a str,
    /// The certificate of its authority.
    pub ca: &'a Path,
    /// The network namespace of both.
    pub netns: &'a str,
}

/// A running replica. Dropping it kills it.
pub struct Replica {
    process: Option<Process>,
    grace: Duration,
    metrics: Client,
    port: u16,
    log: PathBuf,
    _dir: TempDir,
}

impl Replica {
    /// Starts one, and waits until it listens. The first of a network namespace has the ports of the manifest; others cannot
    /// have the same, as they share its address, and take free ones.
    ///
    /// # Errors
    /// The manifest says what cannot be done here, the program is not built, or it ends.
    pub async fn start(place: &Place<'_>, manifests: &Manifests, first: bool) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("eno-replica-").tempdir()?;
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755))?;
        let command = container::command(place, manifests, first, dir.path()).await?;
        let log = dir.path().join("log");
        let mut process = Process::spawn(WEBHOOK_NAME, &command, &log)?;
        let (port, metrics) = eventually("the replica to listen", READY, async || {
            process.check()?;
            let printed = fs::read_to_string(&log)?;
            let port = |word: &str| -> Result<u16> {
                let line = printed.lines().find(|line| line.starts_with(word));
                let (_, port) = line.and_then(|line| line.rsplit_once(':')).with_context(|| printed.clone())?;
                Ok(port.parse()?)
            };
            Ok((port("listening ")?, port("metrics ")?))
        })
        .await?;
        let metrics = Client::try_from(Config::new(format!("http://{}:{metrics}", netns::ADDRESS).parse()?))?;
        let grace = &manifests.only("Deployment")?["spec"]["template"]["spec"]["terminationGracePeriodSeconds"];
        let grace = grace.as_u64().context("no terminationGracePeriodSeconds")?;
        Ok(Self { process: Some(process), grace: Duration::from_secs(grace), metrics, port, log, _dir: dir })
    }

    /// Waits until its readiness probe passes.
    ///
    /// # Errors
    /// It does not in time: shows its log.
    pub async fn ready(&self, manifests: &Manifests) -> Result<()> {
        let container = &manifests.only("Deployment")?["spec"]["template"]["spec"]["containers"][0];
        let path = text(container, "/readinessProbe/httpGet/path")?;
        let ready = eventually("the replica to be ready", READY, async || {
            let probe = self.metrics.request_text(http::Request::get(path).body(vec![])?);
            probe.await.map(drop).map_err(|error| anyhow!("it says {error}"))
        });
        ready.await.with_context(|| tail(&self.log))
    }

    /// Where it answers the API server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it logged.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn log(&self) -> Result<String> {
        Ok(fs::read_to_string(&self.log)?)
    }

    /// Its metrics.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn metrics(&self) -> Result<String> {
        Ok(self.metrics.request_text(http::Request::get("/metrics").body(vec![])?).await?)
    }

    /// A file as the process sees it: `/proc/PID/NAME`.
    ///
    /// # Errors
    /// It does not run.
    pub fn proc(&self, name: &str) -> Result<String> {
        let pid = self.process.as_ref().context("it does not run")?.pid();
        Ok(fs::read_to_string(format!("/proc/{pid}/{name}"))?)
    }

    /// Ends it at once, as a node that fails.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Ends it as the kubelet does: SIGTERM, and SIGKILL after the grace period of the manifest. Returns how long it took.
    pub fn terminate(&mut self) -> Duration {
        let began = Instant::now();
        if let Some(process) = self.process.take() {
            process.stop(self.grace);
        }
        began.elapsed()
    }
}
