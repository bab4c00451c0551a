//! What the controllers count. All label values come from closed sets.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use eno_shared::Verdict;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::look::{Looked, Outcome};

/// The metrics of the controllers.
#[derive(Clone, Default)]
pub struct ControllerMetrics {
    slices: Family<Judged, Gauge>,
    looks: Family<Look, Counter>,
    notes: Family<OfReason, Counter>,
    watch_restarts: Family<OfKind, Counter>,
    queue: Gauge,
    oldest_hold: Gauge<f64, AtomicU64>,
    paused: Gauge,
    leading: Gauge,
    pub(super) look_again_delays: LookAgainDelays,
}

/// How long slices wait for their next look, in seconds.
#[derive(Debug, Clone)]
pub struct LookAgainDelays(Histogram);

impl Default for LookAgainDelays {
    fn default() -> Self {
        // From "something came up meanwhile" to the longest backoff, and beyond it the report of a long hold.
        LookAgainDelays(Histogram::new([0.01, 0.5, 1.0, 5.0, 30.0, 60.0, 300.0, 600.0]))
    }
}

impl LookAgainDelays {
    pub(super) fn observe(&self, delay: Duration) {
        self.0.observe(delay.as_secs_f64());
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Judged {
    verdict: &'static str,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Look {
    verdict: &'static str,
    reason: &'static str,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfReason {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfKind {
    kind: &'static str,
}

impl ControllerMetrics {
    /// Registers all of them.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("slices", "Slices by what the last look said (leader only)", self.slices.clone());
        registry.register("looks", "Second looks, by what they said and what came of it", self.looks.clone());
        registry.register("notes", "What was worth an Event", self.notes.clone());
        registry.register("watch_restarts", "Watches that failed and began again", self.watch_restarts.clone());
        registry.register("queue_length", "Slices that wait for a look, or are looked at", self.queue.clone());
        registry.register(
            "oldest_hold_seconds",
            "For how long the oldest slice has been held",
            self.oldest_hold.clone(),
        );
        registry.register("collecting_paused", "1 while the brake is on", self.paused.clone());
        registry.register(
            "look_again_delay_seconds",
            "For how long a slice waits for its next look",
            self.look_again_delays.0.clone(),
        );
        registry.register("leading", "1 while this process leads", self.leading.clone());
    }

    pub(super) fn looked(&self, looked: &Looked) {
        let labels = Look {
            verdict: looked.judgement.verdict.as_str(),
            reason: looked.judgement.reason.as_str(),
            result: match looked.outcome {
                Outcome::Collected { .. } => "collected",
                Outcome::Released => "released",
                Outcome::Restored => "restored",
                Outcome::WouldAct => "dry-run",
                Outcome::Stays => "stays",
                Outcome::Disagreed => "disagreed",
                Outcome::Changed => "changed",
                Outcome::Gone => "gone",
                Outcome::NotLeading => "not-leading",
                Outcome::Failed(_) => "failed",
            },
        };
        self.looks.get_or_create(&labels).inc();
    }

    pub(super) fn noted(&self, reason: &'static str) {
        self.notes.get_or_create(&OfReason { reason }).inc();
    }

    pub(super) fn watch_restarted(&self, kind: &'static str) {
        self.watch_restarts.get_or_create(&OfKind { kind }).inc();
    }

    pub(super) fn paused(&self, paused: bool) {
        self.paused.set(paused.into());
    }

    pub(super) fn leads(&self, leads: bool) {
        self.leading.set(leads.into());
    }

    pub(super) fn counted(
        &self,
        verdicts: &HashMap<(Verdict, &'static str), usize>,
        queue: usize,
        oldest_hold: Duration,
    ) {
        for (&(verdict, reason), &count) in verdicts {
            let labels = Judged { verdict: verdict.as_str(), reason };
            self.slices.get_or_create(&labels).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.queue.set(i64::try_from(queue).unwrap_or(i64::MAX));
        self.oldest_hold.set(oldest_hold.as_secs_f64());
    }
}
