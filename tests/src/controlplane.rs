//! A real control plane for tests: etcd, kube-apiserver and kube-controller-manager, RBAC on, controllers on service
//! accounts of their own, so that requests come from `generic-garbage-collector` and `namespace-controller`.
//!
//! [`ControlPlane::start`] gives one that lives as long as the value; [`command`] is `cargo xtask controlplane`, whose
//! `up` keeps one for many test runs.

mod build;
mod certs;
pub mod command;
mod component;
mod daemon;
mod flags;
mod folder;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use nix::sys::signal::Signal;
use tokio::time::{sleep, timeout};

pub use certs::{Authority, Pair};
pub use component::{Binaries, Component};
pub use daemon::AUDIT_LOG;

use crate::eventually::eventually;
use crate::netns;
use crate::process::Process;
use flags::Ports;
use folder::Folder;

/// How long a component may take to get ready: it takes 10 s on two idle cores.
const READY: Duration = Duration::from_secs(120);

/// How often to start again when another process took a port between our choice and our use of it.
const ATTEMPTS: usize = 3;

/// What can be chosen about a control plane.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Its folder; a temporary one without. It must be free, and is removed at the end either way.
    pub dir: Option<PathBuf>,
    /// Where the API server writes its audit log of writes, and of all that the webhook's own service account asks (JSON
    /// lines, level Metadata, with annotations).
    pub audit: Option<PathBuf>,
    /// The network namespace to run in, by name.
    pub netns: Option<String>,
    /// Priority and fairness. Throttling by the kind of user would blur what most tests measure.
    pub fairness: bool,
    /// What the API server's admission plugins are told (an `AdmissionConfiguration`).
    pub admission: Option<PathBuf>,
}

/// A running control plane. Dropping it stops all of it and removes its folder.
#[derive(Debug)]
pub struct ControlPlane {
    // Dropped in this order: the controllers first, the folder last.
    processes: Vec<Process>,
    binaries: Binaries,
    authority: Authority,
    server: String,
    ports: Ports,
    options: Options,
    folder: Folder,
}

impl ControlPlane {
    /// Starts one on free ports of the loopback interface, and waits until it is ready.
    ///
    /// # Errors
    /// A binary is missing (`cargo xtask controlplane build`), the folder is in use, or a component does not get
    /// ready: the error shows the end of its log.
    pub async fn start(options: Options) -> Result<Self> {
        let binaries = Binaries::find()?;
        let folder = Folder::take(options.dir.clone())?;
        let authority = Authority::new()?;
        certs::write(&authority, folder.path())?;
        let (ports, server) = (Ports::free()?, String::new());
        let mut starting = Self { processes: vec![], binaries, authority, server, ports, options, folder };
        for attempt in 1.. {
            match starting.launch().await {
                Ok(()) => break,
                Err(error) if attempt < ATTEMPTS && format!("{error:#}").contains("address already in use") => {
                    eprintln!("another process took one of the ports; starting again");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(starting)
    }

    async fn launch(&mut self) -> Result<()> {
        self.processes.clear();
        let dir = self.folder.path().to_owned();
        self.ports = Ports::free()?;
        self.server = format!("https://127.0.0.1:{}", self.ports.apiserver);
        certs::write_kubeconfigs(&dir, &self.server)?;
        let admin = dir.join(certs::ADMIN_KUBECONFIG);

        self.run(Component::Etcd, flags::etcd(&dir, &self.ports))?;
        self.run_apiserver(&admin).await?;
        self.run(Component::KubeControllerManager, flags::controller_manager(&dir))?;
        self.ready("kube-controller-manager to make a service account", &admin, async |client| {
            Api::<ServiceAccount>::namespaced(client, "default").get("default").await?;
            Ok(())
        })
        .await?;
        // Its presence says that the control plane is ready.
        std::fs::rename(&admin, self.kubeconfig()).context("putting the kubeconfig in place")
    }

    async fn run_apiserver(&mut self, kubeconfig: &Path) -> Result<()> {
        let flags = flags::apiserver(self.folder.path(), &self.ports, &self.options)?;
        self.run(Component::KubeApiserver, flags)?;
        self.ready("kube-apiserver to be ready", kubeconfig, async |client| {
            client.request_text(http_get("/readyz")?).await?;
            Ok(())
        })
        .await
    }

    /// Kills a component, as a crash would.
    pub fn kill(&mut self, component: Component) {
        self.processes.retain(|process| process.name() != component.name());
    }

    /// Starts the API server again, after [`ControlPlane::kill`].
    ///
    /// # Errors
    /// It does not get ready.
    pub async fn revive_apiserver(&mut self) -> Result<()> {
        let kubeconfig = self.kubeconfig();
        self.run_apiserver(&kubeconfig).await
    }

    /// Starts etcd again, after [`ControlPlane::kill`]: it has its data. Returns at once.
    ///
    /// # Errors
    /// Its log cannot be written.
    pub fn revive_etcd(&mut self) -> Result<()> {
        let flags = flags::etcd(self.folder.path(), &self.ports);
        self.run(Component::Etcd, flags)
    }

    /// Sends a signal to a component: SIGSTOP pauses it, as a machine that is overloaded may, and SIGCONT lets it go on.
    ///
    /// # Errors
    /// It does not run.
    pub fn signal(&self, component: Component, signal: Signal) -> Result<()> {
        let process = self.processes.iter().find(|process| process.name() == component.name());
        process.with_context(|| format!("{} does not run", component.name()))?.signal(signal)
    }

    /// Where etcd answers its clients, without TLS.
    pub fn etcd_url(&self) -> String {
        self.ports.etcd_url()
    }

    /// Fails where a component has ended by itself.
    ///
    /// # Errors
    /// Shows the end of its log.
    pub fn check(&mut self) -> Result<()> {
        self.processes.iter_mut().try_for_each(Process::check)
    }

    /// Has etcd forget all that was before now: who watches from an older revision has to list again.
    ///
    /// # Errors
    /// etcd does not answer.
    pub async fn compact(&self) -> Result<()> {
        let now = self.ask_etcd("/v3/kv/range", serde_json::json!({"key": "AA=="})).await?;
        self.compact_at(now["header"]["revision"].as_str().context("etcd says no revision")?.parse()?).await
    }

    /// The same of all that was before this revision.
    ///
    /// # Errors
    /// As for [`ControlPlane::compact`].
    pub async fn compact_at(&self, revision: u64) -> Result<()> {
        let body = serde_json::json!({"revision": revision.to_string(), "physical": true});
        self.ask_etcd("/v3/kv/compaction", body).await.map(drop)
    }

    async fn ask_etcd(&self, path: &str, body: serde_json::Value) -> Result<serde_json::Value> {
        let etcd = Client::try_from(Config::new(self.ports.etcd_url().parse()?))?;
        Ok(etcd.request(http::Request::post(path).body(body.to_string().into_bytes())?).await?)
    }

    fn run(&mut self, component: Component, flags: Vec<String>) -> Result<()> {
        let mut command = netns::command(self.options.netns.as_deref(), self.binaries.path(component));
        command.args(flags);
        let log = self.folder.path().join(format!("{}.log", component.name()));
        self.processes.push(Process::spawn(component.name(), &command, &log)?);
        Ok(())
    }

    /// Polls `look` until it succeeds, and meanwhile that nothing has ended.
    async fn ready<L>(&mut self, what: &'static str, kubeconfig: &Path, look: L) -> Result<()>
    where
        L: AsyncFn(Client) -> Result<()> + Send + 'static,
    {
        let kubeconfig = kubeconfig.to_owned();
        let netns = self.options.netns.clone();
        let poll = netns::within(netns.as_deref(), move || async move {
            let client = client(&kubeconfig).await?;
            eventually(what, READY, async || look(client.clone()).await).await
        });
        tokio::select! {
            polled = poll => polled.with_context(|| self.tails()),
            died = self.died() => Err(died),
        }
    }

    /// Waits until a component has ended, which none should, and says why.
    pub async fn died(&mut self) -> anyhow::Error {
        loop {
            if let Err(error) = self.check() {
                return error;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    fn tails(&self) -> String {
        let tail = |p: &Process| format!("the end of {}:\n{}", p.log().display(), crate::process::tail(p.log()));
        self.processes.iter().map(tail).collect::<Vec<_>>().join("\n")
    }

    /// The kubeconfig of its administrator (`system:masters`).
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join(certs::KUBECONFIG)
    }

    /// The folder with its logs and certificates.
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// The URL of the API server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The authority that its clients are trusted by.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The binaries it runs, and the matching `kubectl`.
    pub fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// The process ids of its components.
    pub fn pids(&self) -> Vec<u32> {
        self.processes.iter().map(Process::pid).collect()
    }
}

/// A client by a kubeconfig file.
///
/// # Errors
/// The file cannot be read.
pub async fn client(kubeconfig: &Path) -> Result<Client> {
    let file = Kubeconfig::read_from(kubeconfig).with_context(|| format!("reading {}", kubeconfig.display()))?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// Whether the API server of this kubeconfig answers that it is ready.
pub async fn answers(client: &Client) -> Result<()> {
    timeout(Duration::from_secs(10), client.request_text(http_get("/readyz")?))
        .await
        .context("no answer in 10 s")??;
    Ok(())
}

fn http_get(path: &str) -> Result<http::Request<Vec<u8>>> {
    Ok(http::Request::get(path).body(vec![])?)
}
