//! What the following of pods counts. All label values come from closed sets.

use std::sync::atomic::AtomicU64;

use eno_shared::pods::backlog::Depth;
use eno_shared::pods::destroy::Destroy;
use eno_shared::pods::tracker::Counts;
use jiff::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The metrics of the pods that are followed.
#[derive(Clone, Default)]
pub struct PodMetrics {
    followed: Gauge,
    candidates: Gauge,
    looks: Family<OfResult, Counter>,
    destroys: Family<Destroyed, Counter>,
    false_destroys: Counter,
    relists: Family<OfResult, Counter>,
    writes: Family<OfResult, Counter>,
    unsaved: Gauge,
    unreadable: Gauge,
    pending: Gauge,
    dead: Gauge,
    dropped: Counter,
    oldest: Gauge<f64, AtomicU64>,
    overdue: Counter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfResult {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Destroyed {
    cause: &'static str,
    confirmed: &'static str,
}

impl PodMetrics {
    /// Registers all of them.
    pub fn register(&self, registry: &mut Registry) {
        let r = registry;
        r.register("pods_followed", "Pods that are followed (leader only)", self.followed.clone());
        r.register("pod_candidates", "Pods that may be going, and are looked at", self.candidates.clone());
        r.register("pod_looks", "Live reads of candidates", self.looks.clone());
        r.register("pod_destroys", "Ends of pods and of sandboxes", self.destroys.clone());
        r.register("pod_false_destroys", "Pods whose end was told and who live", self.false_destroys.clone());
        r.register("pod_relists", "Lists of pods, by what was made of them", self.relists.clone());
        r.register(
            "pods_overdue",
            "Pods that were being deleted for longer than they were given",
            self.overdue.clone(),
        );
        r.register("outbox_writes", "Writes of what must outlive the process", self.writes.clone());
        r.register("outbox_unsaved", "Pods that found no place in the outbox", self.unsaved.clone());
        r.register(
            "outbox_unreadable",
            "Shards and entries of the outbox that cannot be read",
            self.unreadable.clone(),
        );
        r.register("outbox_pending", "Destroys that some sink is still to be told", self.pending.clone());
        r.register("outbox_dead_letters", "Destroys that some sink would not take", self.dead.clone());
        r.register("outbox_dropped", "Dead letters that were dropped to make room", self.dropped.clone());
        r.register("outbox_oldest_pending_seconds", "Age of the oldest pending destroy", self.oldest.clone());
    }

    pub(super) fn looked(&self, result: &'static str) {
        self.looks.get_or_create(&OfResult { result }).inc();
    }

    pub(super) fn destroyed(&self, destroy: &Destroy) {
        let confirmed = if destroy.confirmed { "true" } else { "false" };
        self.destroys.get_or_create(&Destroyed { cause: destroy.cause.as_str(), confirmed }).inc();
    }

    pub(super) fn false_destroys(&self, count: usize) {
        self.false_destroys.inc_by(u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(super) fn relisted(&self, result: &'static str) {
        self.relists.get_or_create(&OfResult { result }).inc();
    }

    pub(super) fn written(&self, made: bool) {
        self.writes.get_or_create(&OfResult { result: if made { "made" } else { "failed" } }).inc();
    }

    pub(super) fn unreadable(&self, count: usize) {
        set(&self.unreadable, count);
    }

    pub(super) fn dropped(&self, count: usize) {
        self.dropped.inc_by(u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(super) fn overdue(&self) {
        self.overdue.inc();
    }

    /// Another process follows.
    pub(super) fn not_followed(&self) {
        self.counted(Counts::default(), Depth::default(), 0, Timestamp::UNIX_EPOCH);
    }

    pub(super) fn counted(&self, pods: Counts, depth: Depth, unsaved: usize, now: Timestamp) {
        set(&self.followed, pods.followed);
        set(&self.candidates, pods.candidates);
        set(&self.pending, depth.pending);
        set(&self.dead, depth.dead);
        set(&self.unsaved, unsaved);
        let age = depth.oldest.map_or(0.0, |oldest| now.duration_since(oldest).as_secs_f64());
        self.oldest.set(age.max(0.0));
    }
}

fn set(gauge: &Gauge, count: usize) {
    gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
}
