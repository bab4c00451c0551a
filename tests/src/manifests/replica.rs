//! A replica of the Deployment: the same program with the same flags, user, rights, mounts and limits as its pod would have,
//! read from the manifest. Only the image is missing, so the program is the one that cargo has built.

pub mod conditions;
mod container;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use eno_shared::names::WEBHOOK_NAME;
use kube::{Client, Config};
use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::{Manifests, text};
use crate::cluster::Cluster;
use crate::eventually::{eventually, eventually_seen};
use crate::netns;
use crate::process::{Process, tail};

pub use conditions::Conditions;
pub use container::program;

use conditions::Cgroup;

/// How long it may take to listen, and to get ready.
const READY: Duration = Duration::from_secs(60);

/// Where a replica runs.
#[derive(Clone)]
pub struct Place {
    /// The control plane.
    pub cluster: Cluster,
    /// Where the API server listens on loopback.
    pub server: String,
    /// The certificate of its authority.
    pub ca: PathBuf,
    /// The network namespace of both.
    pub netns: String,
}

/// A running replica. Dropping it kills it.
pub struct Replica {
    process: Option<Process>,
    command: Command,
    grace: Duration,
    metrics: Client,
    port: u16,
    probe: String,
    memory: Option<Cgroup>,
    log: PathBuf,
    _dir: TempDir,
}

impl Replica {
    /// Starts one, and waits until it listens. The first of a network namespace has the ports of the manifest; others cannot
    /// have the same, as they share its address, and take free ones.
    ///
    /// # Errors
    /// The manifest says what cannot be done here, the program is not built, or it ends.
    pub async fn start(place: &Place, manifests: &Manifests, first: bool) -> Result<Self> {
        Self::start_under(place, manifests, first, &Conditions::default()).await
    }

    /// The same under such conditions.
    ///
    /// # Errors
    /// As for [`Replica::start`], or the conditions cannot be made here.
    pub async fn start_under(
        place: &Place,
        manifests: &Manifests,
        first: bool,
        conditions: &Conditions,
    ) -> Result<Self> {
        let dir = readable_folder("eno-replica-")?;
        let deployment = manifests.only("Deployment")?;
        let grace = &deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"];
        let grace = grace.as_u64().context("no terminationGracePeriodSeconds")?;
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let mut replica = Self {
            process: None,
            command: container::command(place, manifests, first, dir.path(), conditions).await?,
            grace: Duration::from_secs(grace),
            metrics: metrics(0)?,
            port: 0,
            probe: text(container, "/readinessProbe/httpGet/path")?.to_owned(),
            memory: conditions.memory.map(Cgroup::new).transpose()?,
            log: dir.path().join("log"),
            _dir: dir,
        };
        replica.start_again().await?;
        Ok(replica)
    }

    /// Starts its container (again), and waits until it listens. Its log begins anew.
    ///
    /// # Errors
    /// It ends.
    pub async fn start_again(&mut self) -> Result<()> {
        let mut process = Process::spawn(WEBHOOK_NAME, &self.command, &self.log)?;
        if let Some(memory) = &self.memory {
            memory.add(process.pid())?;
        }
        let (port, plain) = eventually_seen("the replica to listen", READY, || {
            process.check()?;
            let printed = fs::read_to_string(&self.log)?;
            let port = |word: &str| -> Result<u16> {
                let line = printed.lines().find(|line| line.starts_with(word));
                let (_, port) = line.and_then(|line| line.rsplit_once(':')).with_context(|| printed.clone())?;
                Ok(port.parse()?)
            };
            Ok((port("listening ")?, port("metrics ")?))
        })
        .await?;
        (self.process, self.port, self.metrics) = (Some(process), port, metrics(plain)?);
        Ok(())
    }

    /// Waits until its readiness probe passes.
    ///
    /// # Errors
    /// It does not in time: shows its log.
    pub async fn ready(&self) -> Result<()> {
        let ready = eventually("the replica to be ready", READY, async || self.probe().await);
        ready.await.with_context(|| tail(&self.log))
    }

    /// Its readiness probe, once.
    ///
    /// # Errors
    /// It fails.
    pub async fn probe(&self) -> Result<()> {
        let probe = self.metrics.request_text(http::Request::get(&self.probe).body(vec![])?);
        probe.await.map(drop).map_err(|error| anyhow!("it says {error}"))
    }

    /// Fails where it has ended.
    ///
    /// # Errors
    /// Shows the end of its log.
    pub fn check(&mut self) -> Result<()> {
        self.process.as_mut().context("it was killed")?.check()
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// It does not run.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        self.process.as_ref().context("it does not run")?.signal(signal)
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// The most memory that it has had, in bytes, where it is limited.
    ///
    /// # Errors
    /// It is not.
    pub fn peak(&self) -> Result<u64> {
        self.memory.as_ref().context("its memory is not limited")?.peak()
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

/// A client of the plain port. What a probe says is no reason to try again.
fn metrics(port: u16) -> Result<Client> {
    let mut config = Config::new(format!("http://{}:{port}", netns::ADDRESS).parse()?);
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

/// A folder that the user of a replica may enter.
fn readable_folder(prefix: &str) -> Result<TempDir> {
    let dir = tempfile::Builder::new().prefix(prefix).tempdir()?;
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755))?;
    Ok(dir)
}
