//! What is counted. All label values come from closed sets: no names, no users.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use jiff::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::admission::{Forced, Judged};
use crate::controllers::metrics::ControllerMetrics;
use crate::hooks::Hook;
use crate::pods::metrics::PodMetrics;
use crate::pods::sinks::SinkMetrics;

/// Seconds, from half a millisecond to the longest time a hook may take.
const BUCKETS: [f64; 11] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];

/// The metrics of this process.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    reviews: Family<Review, Counter>,
    seconds: Family<OfHook, Histogram, fn() -> Histogram>,
    reads: Family<Read, Counter>,
    overrides: Family<OfHook, Counter>,
    events: Family<OfResult, Counter>,
    refused: Family<Refused, Counter>,
    panics: Counter,
    connections: Gauge,
    handshakes_failed: Counter,
    certificate_end: Gauge<f64, AtomicU64>,
    authority_end: Gauge<f64, AtomicU64>,
    certificate_changes: Family<Changed, Counter>,
    certificate_loads_failed: Counter,
    draining: Gauge<i64, AtomicI64>,
    controllers: ControllerMetrics,
    pods: PodMetrics,
    sinks: SinkMetrics,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Review {
    hook: &'static str,
    operation: &'static str,
    decision: &'static str,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfHook {
    hook: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Read {
    kind: &'static str,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfResult {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    hook: &'static str,
    cause: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Changed {
    what: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        let mut inner = Inner {
            registry: Registry::with_prefix("eno_webhook"),
            reviews: Family::default(),
            seconds: Family::new_with_constructor(histogram),
            reads: Family::default(),
            overrides: Family::default(),
            events: Family::default(),
            refused: Family::default(),
            panics: Counter::default(),
            connections: Gauge::default(),
            handshakes_failed: Counter::default(),
            certificate_end: Gauge::default(),
            authority_end: Gauge::default(),
            certificate_changes: Family::default(),
            certificate_loads_failed: Counter::default(),
            draining: Gauge::default(),
            controllers: ControllerMetrics::default(),
            pods: PodMetrics::default(),
            sinks: SinkMetrics::default(),
        };
        let r = &mut inner.registry;
        r.register("reviews", "Reviews answered, before the mode is applied", inner.reviews.clone());
        r.register("review_duration_seconds", "Time from the parsed review to the answer", inner.seconds.clone());
        r.register("reads", "Live reads from the API server", inner.reads.clone());
        r.register("overrides", "Denials that were overridden", inner.overrides.clone());
        r.register("events", "Events, by what became of them", inner.events.clone());
        r.register("bodies_refused", "Calls that could not be answered", inner.refused.clone());
        r.register("panics", "Calls that ended in a panic", inner.panics.clone());
        r.register("connections", "Open connections", inner.connections.clone());
        r.register("tls_handshakes_failed", "TLS handshakes that failed", inner.handshakes_failed.clone());
        r.register(
            "certificate_not_after_timestamp_seconds",
            "When the certificate in use ends",
            inner.certificate_end.clone(),
        );
        r.register(
            "certificate_authority_not_after_timestamp_seconds",
            "When the authority that signs certificates ends; 0 where the certificate is from files",
            inner.authority_end.clone(),
        );
        r.register(
            "certificate_changes",
            "Changes that this process made to the certificate that the replicas share",
            inner.certificate_changes.clone(),
        );
        r.register(
            "certificate_loads_failed",
            "Certificates on disk or in the Secret that could not be loaded",
            inner.certificate_loads_failed.clone(),
        );
        r.register("draining", "1 once the process is about to end", inner.draining.clone());
        inner.controllers.register(r);
        inner.pods.register(r);
        inner.sinks.register(r);
        Metrics(Arc::new(inner))
    }
}

impl Metrics {
    /// The metrics in OpenMetrics text.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.0.registry).expect("writing to a String does not fail");
        text
    }

    /// Those of the controllers.
    #[must_use]
    pub fn controllers(&self) -> ControllerMetrics {
        self.0.controllers.clone()
    }

    /// Those of the pods that are followed.
    #[must_use]
    pub fn pods(&self) -> PodMetrics {
        self.0.pods.clone()
    }

    /// Those of the sinks of destroys.
    #[must_use]
    pub fn sinks(&self) -> SinkMetrics {
        self.0.sinks.clone()
    }

    /// A review was answered.
    pub(crate) fn reviewed(&self, hook: Hook, judged: &Judged, took: Duration) {
        let labels = Review {
            hook: hook.as_str(),
            operation: hook.rule().operation.as_str(),
            decision: judged.answer.outcome.as_str(),
            reason: judged.answer.ground.as_str().to_owned(),
        };
        self.0.reviews.get_or_create(&labels).inc();
        self.0.seconds.get_or_create(&OfHook { hook: hook.as_str() }).observe(took.as_secs_f64());
        if judged.forced == Forced::Granted {
            self.0.overrides.get_or_create(&OfHook { hook: hook.as_str() }).inc();
        }
    }

    /// Something was read, or not.
    pub(crate) fn read(&self, kind: &'static str, result: &'static str) {
        self.0.reads.get_or_create(&Read { kind, result }).inc();
    }

    /// An Event was posted, failed or dropped.
    pub(crate) fn event(&self, result: &'static str) {
        self.0.events.get_or_create(&OfResult { result }).inc();
    }

    /// A call could not be answered.
    pub(crate) fn refused(&self, hook: Hook, cause: &'static str) {
        self.0.refused.get_or_create(&Refused { hook: hook.as_str(), cause }).inc();
    }

    /// A call panicked.
    pub(crate) fn panicked(&self) {
        self.0.panics.inc();
    }

    /// A connection begins; it ends when the answer is dropped.
    pub(crate) fn connection(&self) -> OpenConnection {
        self.0.connections.inc();
        OpenConnection(self.0.connections.clone())
    }

    /// A TLS handshake failed.
    pub(crate) fn handshake_failed(&self) {
        self.0.handshakes_failed.inc();
    }

    /// A certificate is in use that ends then.
    pub(crate) fn certificate(&self, ends: Timestamp) {
        self.0.certificate_end.set(seconds(ends));
    }

    /// The authority that signs certificates ends then.
    pub(crate) fn certificate_authority(&self, ends: Timestamp) {
        self.0.authority_end.set(seconds(ends));
    }

    /// So many changes of this sort were made to the certificate that the replicas share.
    pub(crate) fn certificate_changed(&self, what: &'static str, count: usize) {
        if count > 0 {
            self.0.certificate_changes.get_or_create(&Changed { what }).inc_by(count as u64);
        }
    }

    /// A certificate could not be loaded.
    pub(crate) fn certificate_load_failed(&self) {
        self.0.certificate_loads_failed.inc();
    }

    /// The process is about to end.
    pub(crate) fn draining(&self) {
        self.0.draining.set(1);
    }
}

fn seconds(time: Timestamp) -> f64 {
    #[allow(clippy::cast_precision_loss)] // exact until the year 285 million
    let seconds = time.as_second() as f64;
    seconds
}

/// Counts as an open connection while it lives.
pub(crate) struct OpenConnection(Gauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}
