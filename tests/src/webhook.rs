//! The real `eno-webhook` on a control plane: started, registered by its own `print-config`, and called.

pub mod answer;
pub mod audit;
mod config;
pub mod controlled;
mod guarded;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use eno_shared::names::{ENO_API_VERSION, WEBHOOK_NAME};
use kube::api::{DeleteParams, DynamicObject, PostParams};
use kube::{Client, Config};
use nix::sys::signal::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::controlplane::Authority;
use crate::eventually::eventually;
use crate::netns;
use crate::process::{Process, tail};
use crate::release::image;
use crate::workspace;
use config::Configs;

pub use guarded::Guarded;

/// How long it may take to start, and the API server to call it.
const READY: Duration = Duration::from_secs(30);
/// How long it may take to end.
const STOP: Duration = Duration::from_secs(30);

/// Which build of it is started.
#[derive(Debug, Clone, Copy, Default)]
pub enum Profile {
    /// That of `cargo build`.
    #[default]
    Debug,
    /// That of `cargo build --release`.
    Release,
}

/// How a webhook is started, and whom it guards.
#[derive(Debug, Clone, Default)]
pub struct WebhookOptions {
    /// The namespace to guard. Its configurations are removed with it.
    pub namespace: String,
    /// Guard Eno's CRDs too: those are not in a namespace, so only on a control plane of the caller's own.
    pub definitions: bool,
    /// The network namespace to run in, by name: the API server then reaches it by a Service. The caller is
    /// [within](netns::within) it.
    pub netns: Option<String>,
    /// Which build.
    pub profile: Profile,
    /// The file system of its image, which it runs in, as a container would: as user 65532, with nothing else to see.
    pub root: Option<PathBuf>,
    /// Who it is; the administrator without.
    pub kubeconfig: Option<PathBuf>,
    /// The controllers that run, for this namespace alone, as in `--controllers`; none where empty. What they elect and keep
    /// is in it, too.
    pub controllers: &'static str,
    /// Only its controllers: the API server does not call it.
    pub unregistered: bool,
    /// Further flags.
    pub flags: Vec<String>,
}

/// A running webhook that the API server calls. Dropping it removes its configurations, then ends it.
pub struct Webhook {
    // Dropped in this order.
    _configs: Option<Configs>,
    process: Option<Process>,
    url: String,
    ca: PathBuf,
    log: PathBuf,
    metrics: Client,
    _dir: TempDir,
}

impl Webhook {
    /// Starts it and waits until the API server calls it, for what is checked and for what is changed.
    ///
    /// # Errors
    /// It is not built, does not start, or its configurations are refused.
    pub async fn start(cluster: &Cluster, options: WebhookOptions) -> Result<Self> {
        let dir = folder(options.root.as_deref())?;
        let authority = Authority::new()?;
        let service = format!("{WEBHOOK_NAME}.{}.svc", options.namespace);
        let pair = authority.server(&["127.0.0.1", &service])?;
        let [ca, cert, key, log] = ["ca.crt", "tls.crt", "tls.key", "log"].map(|name| dir.path().join(name));
        fs::write(&ca, authority.cert())?;
        fs::write(&cert, pair.cert)?;
        fs::write(&key, pair.key)?;

        let mut command = command(&options)?;
        let seen = |path: &Path| match &options.root {
            Some(root) => Path::new("/").join(path.strip_prefix(root).unwrap_or(path)),
            None => path.to_owned(),
        };
        let address = if options.netns.is_some() { netns::ADDRESS } else { "127.0.0.1" };
        command.args(["--secure-port=0", "--bind-address", address, "--metrics-bind-address=127.0.0.1:0"]);
        command.arg("--tls-cert-file").arg(seen(&cert)).arg("--tls-private-key-file").arg(seen(&key));
        command.arg("--kubeconfig").arg(seen(options.kubeconfig.as_deref().unwrap_or(cluster.kubeconfig())));
        command.arg(format!("--controllers={}", options.controllers));
        let is_flagged = |name: &str| options.flags.iter().any(|flag| flag.starts_with(name));
        // Of its namespace alone: what others do in theirs is not its business, and two must not share one outbox.
        for flag in ["--composition-namespace", "--leader-elect-resource-namespace"] {
            command.args([flag, &options.namespace]);
        }
        if !is_flagged("--pod-namespace") {
            command.args(["--pod-namespace", &options.namespace]);
        }
        if !is_flagged("--leader-elect=") {
            // It runs alone, so there is nobody to elect.
            command.arg("--leader-elect=false");
        }
        command.args(&options.flags);
        let mut process = Process::spawn(WEBHOOK_NAME, &command, &log)?;
        let (url, metrics) = eventually("eno-webhook to listen", READY, async || {
            process.check()?;
            let printed = fs::read_to_string(&log)?;
            let after = |word: &str| {
                let address = printed.lines().find_map(|line| line.strip_prefix(word));
                address.map(str::to_owned).with_context(|| format!("it printed: {printed}"))
            };
            Ok((after("listening ")?, after("metrics ")?))
        })
        .await?;
        let metrics = Client::try_from(Config::new(metrics.parse()?))?;
        ready(&metrics).await.with_context(|| tail(&log))?;
        let configs = match options.unregistered {
            true => None,
            false => Some(Configs::apply(cluster, &options, &url, &ca).await?),
        };
        let webhook = Self { _configs: configs, process: Some(process), url, ca, log, metrics, _dir: dir };
        if !options.unregistered {
            webhook.called(cluster, &options.namespace).await.with_context(|| tail(&webhook.log))?;
        }
        Ok(webhook)
    }

    /// Ends it; its configurations stay, so the API server calls in vain.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop(STOP);
        }
    }

    /// Pauses it (SIGSTOP), as a machine that is overloaded may.
    ///
    /// # Errors
    /// It has ended.
    pub fn pause(&self) -> Result<()> {
        self.signal(Signal::SIGSTOP)
    }

    /// Lets it go on.
    ///
    /// # Errors
    /// It has ended.
    pub fn resume(&self) -> Result<()> {
        self.signal(Signal::SIGCONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        self.process.as_ref().context("eno-webhook does not run")?.signal(signal)
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate of the authority that signed its own.
    pub fn ca(&self) -> &Path {
        &self.ca
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
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

    /// The sum of a metric over all that have these labels, each as `name="value"`.
    ///
    /// # Errors
    /// As for [`Webhook::metrics`].
    pub async fn count(&self, metric: &str, labels: &[&str]) -> Result<u64> {
        let text = self.metrics().await?;
        let of = |line: &&str| {
            line.strip_prefix(metric).is_some_and(|rest| rest.starts_with([' ', '{']))
                && labels.iter().all(|label| line.contains(label))
        };
        let value = |line: &str| line.rsplit(' ').next().and_then(|value| value.parse::<u64>().ok());
        Ok(text.lines().filter(of).filter_map(value).sum())
    }

    /// How many second looks of its controllers said this (`VERDICT/REASON`) and ended like that.
    ///
    /// # Errors
    /// As for [`Webhook::metrics`].
    pub async fn looks(&self, judgement: &str, result: &str) -> Result<u64> {
        let (verdict, reason) = judgement.split_once('/').context("expected VERDICT/REASON")?;
        let labels = [("verdict", verdict), ("reason", reason), ("result", result)];
        let labels = labels.map(|(name, value)| format!("{name}=\"{value}\""));
        self.count("eno_webhook_looks_total", &labels.each_ref().map(String::as_str)).await
    }

    /// How many reviews of a hook it has answered.
    ///
    /// # Errors
    /// As for [`Webhook::metrics`].
    pub async fn reviews(&self, hook: &str) -> Result<u64> {
        self.count("eno_webhook_reviews_total", &[&format!("hook=\"{hook}\"")]).await
    }

    /// Waits until both configurations are in force, which takes the API server a moment.
    async fn called(&self, cluster: &Cluster, namespace: &str) -> Result<()> {
        let probe = |kind: &str| -> Result<DynamicObject> {
            let metadata = json!({"name": "probe", "namespace": namespace});
            Ok(serde_json::from_value(json!({"apiVersion": ENO_API_VERSION, "kind": kind, "metadata": metadata}))?)
        };
        // A symphony, since its deletion is never denied: what is to be deleted must exist.
        let (slices, symphonies) = (cluster.eno("ResourceSlice", namespace), cluster.eno("Symphony", namespace));
        let slice = probe("ResourceSlice")?;
        symphonies.create(&PostParams::default(), &probe("Symphony")?).await?;
        let create = PostParams { dry_run: true, ..PostParams::default() };
        let delete = DeleteParams { dry_run: true, ..DeleteParams::default() };
        eventually("the API server to call eno-webhook", READY, async || {
            slices.create(&create, &slice).await?;
            symphonies.delete("probe", &delete).await?;
            let (created, deleted) = (self.reviews("slices-create").await?, self.reviews("symphonies-delete").await?);
            ensure!(created > 0 && deleted > 0, "it was asked about {created} creations and {deleted} deletions");
            Ok(())
        })
        .await?;
        symphonies.delete("probe", &DeleteParams::default()).await?;
        Ok(())
    }
}

/// What it reads. In an image it reads as another user, who may not enter a folder of ours.
fn folder(root: Option<&Path>) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("eno-webhook-");
    Ok(match root {
        Some(root) => builder.permissions(fs::Permissions::from_mode(0o755)).tempdir_in(root)?,
        None => builder.tempdir()?,
    })
}

/// A build of it.
fn binary(profile: Profile) -> Result<PathBuf> {
    let folder = match profile {
        Profile::Debug => "debug",
        Profile::Release => "release",
    };
    let binary = workspace::target().join(folder).join(WEBHOOK_NAME);
    ensure!(
        binary.is_file(),
        "no {}\nhint: build it with `cargo build`, or let `cargo xtask test` do all",
        binary.display()
    );
    Ok(binary)
}

/// The binary: of an image, or inside a network namespace, where one is named.
fn command(options: &WebhookOptions) -> Result<Command> {
    if let Some(root) = &options.root {
        let mut chroot = Command::new("chroot");
        chroot.args(["--userspec", image::USER]).arg(root).arg("/eno-webhook").env_clear();
        return Ok(chroot);
    }
    Ok(netns::command(options.netns.as_deref(), &binary(options.profile)?))
}

/// It has tried to watch compositions: until then it lists them for each answer.
async fn ready(metrics: &Client) -> Result<()> {
    eventually("eno-webhook to be ready", READY, async || {
        let readyz = metrics.request_text(http::Request::get("/readyz").body(vec![])?);
        readyz.await.map_err(|error| anyhow!("it says {error}"))?;
        Ok(())
    })
    .await
}
