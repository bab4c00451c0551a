//! This process as a candidate: it stands for election for as long as it runs, where there is one.

use std::time::Duration;

use kube::Client;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Election, Leadership, Times};
use crate::controllers::note::LeaseName;

/// How long the Lease may take to be given back.
const GIVING_BACK: Duration = Duration::from_secs(2);

/// How replicas elect who writes.
#[derive(Debug, Clone)]
pub struct ElectionOptions {
    /// The Lease.
    pub lease: LeaseName,
    /// The times of the election.
    pub times: Times,
}

/// A candidate.
pub(crate) struct Candidacy {
    leadership: Leadership,
    election: Option<(CancellationToken, JoinHandle<()>)>,
}

impl Candidacy {
    /// Stands for election; without one it always leads, so that only one process must run.
    pub(crate) fn start(client: Client, options: Option<ElectionOptions>) -> Self {
        let Some(ElectionOptions { lease, times }) = options else {
            return Candidacy { leadership: Leadership::always(), election: None };
        };
        let (election, leadership) = Election::new(client, &lease.namespace, &lease.name, identity(), times);
        let stop = CancellationToken::new();
        Candidacy { leadership, election: Some((stop.clone(), tokio::spawn(election.run(stop)))) }
    }

    /// Its outcome.
    pub(crate) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Stands no more, and gives the Lease back.
    pub(crate) async fn stop(self) {
        if let Some((stop, election)) = self.election {
            stop.cancel();
            // What is not given back in time lapses by itself.
            let _ = tokio::time::timeout(GIVING_BACK, election).await;
        }
    }
}

/// Differs between processes, also where they share a host and each is process 1 of its container. The host (a pod's is its
/// name) is for people.
fn identity() -> String {
    let [host, random] = ["hostname", "random/uuid"]
        .map(|name| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default());
    format!("{}_{}_{}", host.trim(), std::process::id(), random.trim())
}
