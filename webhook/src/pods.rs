//! Pods that are truly gone: followed from the moment they go, and told to everyone who must know.
//!
//! ```text
//!  watch, admission ─▶ Tracker ─▶ live look ─▶ Backlog ─▶ Courier ─▶ Sink
//!                         │                      │  ▲                 │
//!                         └───────▶ Outbox ◀─────┘  └────── Ack ◀─────┘
//!                                 (ConfigMaps)
//! ```
//!
//! The rules are `eno_shared`'s: [`tracker`](eno_shared::pods::tracker) says who is to be looked at and what a look means,
//! [`backlog`](eno_shared::pods::backlog) who is still to be told. Here is what they need: watches, live reads, a place that
//! outlives the process, and the sinks.
//!
//! Only the leader follows. Whoever becomes it begins with what the one before has left: pods that were going are looked at,
//! what was not delivered is told again with the same ids, and the first list tells which of the others are missing.

mod cluster;
mod live;
pub mod metrics;
mod namespaces;
pub mod outbox;
mod requests;
pub mod selection;
mod session;
pub mod sinks;
mod watch;

use std::time::Duration;

use eno_shared::pods::tracker::Place;
use kube::Client;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::controllers::Hint as SliceHint;
use crate::controllers::note::LeaseName;
use crate::controllers::report::Reporter;
use crate::leader::Leadership;
use metrics::PodMetrics;
use selection::Selection;
use session::{End, Session};
use sinks::SinkMetrics;

/// How long it takes to begin again after what was needed could not be read; doubled each time, up to a minute.
const AGAIN: Duration = Duration::from_secs(2);

/// What the following of pods is told.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which pods.
    pub selection: Selection,
    /// A pod that is being deleted for so much longer than it was given is reported.
    pub overdue: Duration,
    /// How much is kept of what must outlive the process.
    pub limits: outbox::Limits,
    /// Who is told.
    pub sinks: sinks::Options,
    /// Only say what would be told.
    pub dry_run: bool,
}

/// An admission says that a pod may go soon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Its place.
    pub place: Place,
    /// Its uid; an eviction does not name one.
    pub uid: Option<Box<str>>,
}

/// What the following of pods works with.
pub struct Parts {
    /// A client of the API server.
    pub client: Client,
    /// How it is set up.
    pub options: Options,
    /// Says whether this process may follow.
    pub leadership: Leadership,
    /// The Lease of the controllers: the outbox is in its namespace, and Events that concern all are about it.
    pub lease: LeaseName,
    /// Where Events are left.
    pub reporter: Reporter,
    /// What is counted.
    pub metrics: PodMetrics,
    /// What sinks count.
    pub sink_metrics: SinkMetrics,
    /// Where to name compositions whose slices are to be looked at.
    pub slices: mpsc::Sender<SliceHint>,
    /// What admission names.
    pub hints: mpsc::Receiver<Hint>,
    /// The process is about to end.
    pub stop: CancellationToken,
}

/// Follows pods, whenever this process leads, until told to stop.
pub async fn run(mut parts: Parts) {
    let mut pause = AGAIN;
    loop {
        wait_to_lead(&mut parts).await;
        if parts.stop.is_cancelled() {
            return;
        }
        let leadership = parts.leadership.clone();
        parts.reporter.leads(true);
        let end = tokio::select! {
            end = follow(&mut parts) => end,
            () = leadership.lost() => {
                parts.reporter.leads(false);
                parts.metrics.not_followed();
                pause = AGAIN;
                continue;
            }
        };
        match end {
            Ok(End::Stopped) => return,
            Ok(End::AnotherCluster) => {
                warn!(?pause, "this is another cluster now: what is known of its pods is not used here")
            }
            Err(error) => warn!(error = format!("{error:#}"), ?pause, "pods cannot be followed; it is tried again"),
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = parts.stop.cancelled() => return,
        }
        pause = (pause * 2).min(Duration::from_secs(60));
    }
}

async fn follow(parts: &mut Parts) -> anyhow::Result<End> {
    Session::begin(parts).await?.run(&mut parts.hints).await
}

/// Waits until this process leads, or is to stop. What admission names meanwhile is another's to follow.
async fn wait_to_lead(parts: &mut Parts) {
    while !parts.leadership.leads() {
        tokio::select! {
            () = parts.leadership.changed() => {}
            _ = parts.hints.recv() => {}
            () = parts.stop.cancelled() => return,
        }
    }
}
