//! The controllers as a part of the process: running, stopped.

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::controllers;
use crate::controllers::report::Reporter;
use crate::events::Events;
use crate::leader::Leadership;
use crate::metrics::Metrics;
use crate::store::Key;

/// How the controllers are set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// What they are told.
    pub controllers: controllers::Options,
}

/// The controllers, running.
pub(crate) struct Control {
    running: JoinHandle<()>,
}

impl Control {
    pub(crate) fn start(
        client: Client,
        options: Options,
        leadership: Leadership,
        hints: mpsc::Receiver<Key>,
        metrics: &Metrics,
        events: Events,
    ) -> Self {
        let (reporter, telling) = Reporter::new(metrics.controllers(), events);
        // It ends with the reporter.
        tokio::spawn(telling);
        Control { running: tokio::spawn(controllers::run(client, options.controllers, leadership, hints, reporter)) }
    }

    /// Writes nothing more.
    pub(crate) fn stop(self) {
        self.running.abort();
    }
}
