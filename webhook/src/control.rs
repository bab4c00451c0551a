//! The controllers as a part of the process: running, stopped.

use std::time::Duration;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::controllers::report::Reporter;
use crate::controllers::terminating;
use crate::events::Events;
use crate::leader::Leadership;
use crate::metrics::Metrics;
use crate::{controllers, pods};

/// How long what is known of pods may take to be noted.
const NOTING: Duration = Duration::from_secs(3);

/// How the controllers are set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// What those of slices are told.
    pub controllers: controllers::Options,
    /// Which pods are followed, if any.
    pub pods: Option<pods::Options>,
}

/// What admission names to the controllers, and they to each other.
pub(crate) struct Hints {
    /// Of slices.
    pub(crate) slices: (mpsc::Sender<controllers::Hint>, mpsc::Receiver<controllers::Hint>),
    /// Of pods.
    pub(crate) pods: mpsc::Receiver<pods::Hint>,
}

/// The controllers, running.
pub(crate) struct Control {
    terminating: JoinHandle<()>,
    slices: Option<JoinHandle<()>>,
    pods: Option<(CancellationToken, JoinHandle<()>)>,
}

impl Control {
    pub(crate) fn start(
        client: Client,
        options: Options,
        leadership: Leadership,
        hints: Hints,
        metrics: &Metrics,
        events: Events,
    ) -> Self {
        let (reporter, telling) = Reporter::new(metrics.controllers(), events);
        // It ends with the reporter.
        tokio::spawn(telling);
        let terminating = tokio::spawn(terminating::tell(client.clone(), reporter.clone()));
        let (to_slices, slices) = hints.slices;
        let pods = options.pods.map(|pods| {
            let stop = CancellationToken::new();
            let parts = pods::Parts {
                client: client.clone(),
                options: pods,
                leadership: leadership.clone(),
                lease: options.controllers.lease.clone(),
                reporter: reporter.clone(),
                metrics: metrics.pods(),
                sink_metrics: metrics.sinks(),
                slices: to_slices,
                hints: hints.pods,
                stop: stop.clone(),
            };
            (stop, tokio::spawn(pods::run(parts)))
        });
        let runs = options.controllers.enabled.any();
        let slices =
            runs.then(|| tokio::spawn(controllers::run(client, options.controllers, leadership, slices, reporter)));
        Control { terminating, slices, pods }
    }

    /// Writes nothing more once what is known of pods is noted.
    pub(crate) async fn stop(self) {
        self.terminating.abort();
        if let Some(slices) = self.slices {
            slices.abort();
        }
        if let Some((stop, mut pods)) = self.pods {
            stop.cancel();
            if tokio::time::timeout(NOTING, &mut pods).await.is_err() {
                pods.abort();
            }
        }
    }
}
