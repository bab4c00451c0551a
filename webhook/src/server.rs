//! The process: bind, serve, and end without a call lost.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use kube::Client;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::admission::{Admission, Cleanup};
use crate::candidates::Candidates;
use crate::certificates::{self, Keeper};
use crate::clock::Clock;
use crate::connection::{Connections, Times};
use crate::control::{self, Control, Hints};
use crate::events::{Events, Poster};
use crate::facts::Facts;
use crate::force::Force;
use crate::health::{self, Health};
use crate::leader::{Candidacy, ElectionOptions};
use crate::listener;
use crate::metrics::Metrics;
use crate::mode::Mode;
use crate::router;
use crate::tls::Serving;
use crate::tls::clients::{self, Clients};
use crate::tls::files::{self, Files};

/// Where the serving certificate comes from.
#[derive(Debug, Clone)]
pub enum Certificate {
    /// From files that somebody else writes.
    Files {
        /// The serving certificate, with its chain.
        cert: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// The replicas keep it themselves.
    SelfManaged(certificates::Options),
}

impl Certificate {
    /// That of these files.
    pub fn files(cert: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Certificate::Files { cert: cert.into(), key: key.into() }
    }
}

/// How the server is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Address for admission. `::` takes IPv4 too.
    pub bind_address: IpAddr,
    /// Port for admission; 0 takes a free one.
    pub secure_port: u16,
    /// The serving certificate.
    pub certificate: Certificate,
    /// Whom to let in, where not everybody.
    pub clients: Option<clients::Options>,
    /// Address for health and metrics, without TLS.
    pub metrics_bind_address: SocketAddr,
    /// How far denials go.
    pub mode: Mode,
    /// Namespaces whose compositions are watched; all where none is named.
    pub composition_namespaces: Vec<String>,
    /// How long to answer on after having turned unready: until no one sends requests any more.
    pub shutdown_delay: Duration,
    /// How long open requests may take after that.
    pub drain: Duration,
    /// How often certificates are read from disk.
    pub certificate_poll: Duration,
    /// The times a connection has.
    pub times: Times,
    /// The controllers, where any runs.
    pub control: Option<control::Options>,
    /// The Lease that lets this process write; without one it always may, so that only one must run.
    pub election: Option<ElectionOptions>,
    /// The time by which certificates begin and end.
    pub clock: Clock,
}

impl Options {
    /// The defaults of the command line, with this certificate.
    #[must_use]
    pub fn new(certificate: Certificate) -> Self {
        Options {
            bind_address: Ipv6Addr::UNSPECIFIED.into(),
            secure_port: 9443,
            certificate,
            clients: None,
            metrics_bind_address: SocketAddr::from((Ipv6Addr::UNSPECIFIED, 8080)),
            mode: Mode::Enforce,
            composition_namespaces: vec![],
            shutdown_delay: Duration::from_secs(10),
            drain: Duration::from_secs(6),
            certificate_poll: Duration::from_secs(10),
            times: Times { handshake: Duration::from_secs(10), idle: Duration::from_secs(100) },
            control: None,
            election: None,
            clock: Clock::default(),
        }
    }

    /// On free ports of the loopback, ending at once: for tests.
    #[must_use]
    pub fn on_loopback(self) -> Self {
        Options {
            bind_address: Ipv4Addr::LOCALHOST.into(),
            secure_port: 0,
            metrics_bind_address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            shutdown_delay: Duration::ZERO,
            ..self
        }
    }
}

/// A webhook that is bound, and not serving yet.
pub struct Server {
    client: Client,
    options: Options,
    serving: Arc<Serving>,
    files: Option<Files>,
    clients: Option<Arc<Clients>>,
    secure: TcpListener,
    plain: TcpListener,
    candidates: Candidates,
    metrics: Metrics,
    health: Health,
    admission: Arc<Admission>,
    events: Events,
    poster: Poster,
    hints: Hints,
}

impl Server {
    /// Loads the certificates that are from files, then binds both ports.
    ///
    /// # Errors
    /// A certificate does not load, or an address cannot be bound; the message names the flag.
    pub async fn bind(client: Client, options: Options) -> Result<Self> {
        let serving = Serving::new(options.clock.clone());
        let load = |cert: &Path, key: &Path| Files::load(cert, key, &serving);
        let files = match &options.certificate {
            Certificate::Files { cert, key } => Some(load(cert, key)?),
            Certificate::SelfManaged(_) => None,
        };
        let clients = options.clients.clone().map(Clients::load).transpose()?;
        let secure = SocketAddr::new(options.bind_address, options.secure_port);
        let secure = listener::bind(secure)
            .with_context(|| format!("cannot listen on {secure} (--bind-address, --secure-port)"))?;
        let plain = options.metrics_bind_address;
        let plain =
            listener::bind(plain).with_context(|| format!("cannot listen on {plain} (--metrics-bind-address)"))?;
        let metrics = Metrics::default();
        let candidates = Candidates::new(&options.composition_namespaces);
        let (events, poster) = Events::new(metrics.clone());
        let facts = Facts::new(client.clone(), candidates.clone(), metrics.clone());
        let force = Force::new(client.clone(), metrics.clone());
        let (slices, pods) = (mpsc::channel(HINTS), mpsc::channel(HINTS));
        let cleanup = options.control.as_ref().map_or_else(Cleanup::default, |control| Cleanup {
            runs: control.controllers.enabled.cleanup && !control.controllers.dry_run,
            hints: control.controllers.enabled.any().then(|| slices.0.clone()),
            pods: control.pods.is_some().then_some(pods.0),
        });
        let hints = Hints { slices, pods: pods.1 };
        let admission = Admission::new(facts, force, options.mode, events.clone(), metrics.clone(), cleanup);
        let health = Health::new(candidates.clone(), Arc::clone(&serving), metrics.clone());
        Ok(Server {
            client,
            options,
            serving,
            files,
            clients,
            secure,
            plain,
            candidates,
            metrics,
            health,
            admission,
            events,
            poster,
            hints,
        })
    }

    /// Where admission listens.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        Ok(self.secure.local_addr()?)
    }

    /// Where health and metrics listen.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn metrics_addr(&self) -> Result<SocketAddr> {
        Ok(self.plain.local_addr()?)
    }

    /// Serves until `shutdown`; then turns unready at once, answers on for the delay, accepts nothing more, and ends when
    /// the open requests are answered or their time is up.
    ///
    /// # Errors
    /// There is no thread to serve on.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<()> {
        let config = Arc::new(self.serving.server_config(self.clients.clone()));
        let hooks = Connections {
            tls: Some(TlsAcceptor::from(config)),
            app: router::router(self.admission, self.health.clone()),
            times: self.options.times,
            metrics: self.metrics.clone(),
            stop: CancellationToken::new(),
            end: CancellationToken::new(),
            open: TaskTracker::new(),
        };
        // Health is answered to the last: a probe that is refused would have the process killed in its drain.
        let probes = Connections {
            tls: None,
            app: health::router(self.health.clone()),
            stop: CancellationToken::new(),
            end: CancellationToken::new(),
            open: TaskTracker::new(),
            ..hooks.clone()
        };
        // Whoever drops this future ends the thread, too.
        let _ended = [&hooks.stop, &hooks.end].map(|token| token.clone().drop_guard());
        let accepting = hooks.clone().accept_apart(self.secure).await.context("cannot start a thread that serves")?;
        let posting = CancellationToken::new();
        let posted = tokio::spawn(self.poster.run(self.client.clone(), posting.clone()));
        let watching = tokio::spawn(self.candidates.watch(self.client.clone()));
        let candidacy = Candidacy::start(self.client.clone(), self.options.election);
        let keeping = match self.options.certificate {
            Certificate::Files { .. } => None,
            Certificate::SelfManaged(options) => {
                let (leadership, clock) = (candidacy.leadership(), self.options.clock);
                let (serving, metrics) = (Arc::clone(&self.serving), self.metrics.clone());
                let keeper = Keeper::new(self.client.clone(), options, serving, leadership, metrics, clock);
                Some(tokio::spawn(keeper.run()))
            }
        };
        let control = self.options.control.map(|options| {
            Control::start(self.client, options, candidacy.leadership(), self.hints, &self.metrics, self.events)
        });
        let reading = (self.files.is_some() || self.clients.is_some()).then(|| {
            let every = self.options.certificate_poll;
            tokio::spawn(files::keep_fresh(self.files, self.clients, self.serving, every, self.metrics))
        });
        let probing = tokio::spawn(probes.clone().accept(self.plain));

        shutdown.await;
        tracing::info!(delay = ?self.options.shutdown_delay, "shutting down: unready, and still answering");
        self.health.drain();
        if let Some(control) = control {
            control.stop().await;
        }
        // What is served now is served to the end; another keeps it from here on.
        keeping.iter().for_each(JoinHandle::abort);
        candidacy.stop().await;
        tokio::time::sleep(self.options.shutdown_delay).await;
        hooks.finish(accepting, self.options.drain).await;
        posting.cancel();
        if tokio::time::timeout(POSTING, posted).await.is_err() {
            tracing::warn!("some Events were not posted");
        }
        watching.abort();
        reading.iter().for_each(JoinHandle::abort);
        probes.finish(probing, Duration::ZERO).await;
        Ok(())
    }
}

/// How long the last Events may take.
const POSTING: Duration = Duration::from_secs(1);
/// How many hints may wait.
const HINTS: usize = 1024;
