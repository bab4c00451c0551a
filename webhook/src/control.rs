//! The controllers as a part of the process: elected, running, stopped.

use std::time::Duration;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::controllers;
use crate::controllers::note::LeaseName;
use crate::controllers::report::Reporter;
use crate::events::Events;
use crate::leader::{Election, Leadership, Times};
use crate::metrics::Metrics;
use crate::store::Key;

/// How long the Lease may take to be given back.
const GIVING_BACK: Duration = Duration::from_secs(2);

/// How the controllers are set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// What they are told.
    pub controllers: controllers::Options,
    /// The Lease that lets them write; without one they always may, so that only one process must run.
    pub election: Option<ElectionOptions>,
}

/// How replicas elect who writes: over the Lease of [`controllers::Options`].
#[derive(Debug, Clone)]
pub struct ElectionOptions {
    /// The times of the election.
    pub times: Times,
}

/// The controllers, running.
pub(crate) struct Control {
    running: JoinHandle<()>,
    election: Option<(CancellationToken, JoinHandle<()>)>,
}

impl Control {
    pub(crate) fn start(
        client: Client,
        options: Options,
        hints: mpsc::Receiver<Key>,
        metrics: &Metrics,
        events: Events,
    ) -> Self {
        let (leadership, election) = match options.election {
            None => (Leadership::always(), None),
            Some(ElectionOptions { times }) => {
                let LeaseName { namespace, name } = &options.controllers.lease;
                let (election, leadership) = Election::new(client.clone(), namespace, name, identity(), times);
                let stop = CancellationToken::new();
                (leadership, Some((stop.clone(), tokio::spawn(election.run(stop)))))
            }
        };
        let (reporter, telling) = Reporter::new(metrics.controllers(), events);
        // It ends with the reporter.
        tokio::spawn(telling);
        let running = tokio::spawn(controllers::run(client, options.controllers, leadership, hints, reporter));
        Control { running, election }
    }

    /// Writes nothing more, and gives the Lease back.
    pub(crate) async fn stop(self) {
        self.running.abort();
        if let Some((stop, election)) = self.election {
            stop.cancel();
            // What is not given back in time lapses by itself.
            let _ = tokio::time::timeout(GIVING_BACK, election).await;
        }
    }
}

/// Differs between processes: what a host (a pod's is its name) and a process have.
fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}_{}", host.trim(), std::process::id())
}
