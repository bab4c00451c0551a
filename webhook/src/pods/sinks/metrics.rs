//! What couriers count. The labels are the names of the sinks, which the operator chose.

use jiff::{SignedDuration, Timestamp};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Seconds, from a local receiver to one that was down for an hour.
const BUCKETS: [f64; 10] = [0.005, 0.025, 0.1, 0.25, 1.0, 2.0, 10.0, 60.0, 600.0, 3600.0];

/// The metrics of all couriers.
#[derive(Clone)]
pub struct SinkMetrics {
    attempts: Family<Attempted, Counter>,
    waiting: Family<OfSink, Gauge>,
    seconds: Family<OfSink, Histogram, fn() -> Histogram>,
}

/// What an attempt came to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attempt {
    Delivered,
    Retried,
    DeadLetter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempted {
    sink: String,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfSink {
    sink: String,
}

impl Default for SinkMetrics {
    fn default() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        SinkMetrics {
            attempts: Family::default(),
            waiting: Family::default(),
            seconds: Family::new_with_constructor(histogram),
        }
    }
}

impl SinkMetrics {
    /// Registers all of them.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("sink_attempts", "Attempts to tell a sink of a destroy", self.attempts.clone());
        registry.register("sink_queue_length", "Destroys that wait for a sink", self.waiting.clone());
        registry.register(
            "sink_delivery_seconds",
            "From finding out that a pod was destroyed until a sink had it",
            self.seconds.clone(),
        );
    }

    pub(super) fn attempted(&self, sink: &str, attempt: Attempt) {
        let result = match attempt {
            Attempt::Delivered => "delivered",
            Attempt::Retried => "retried",
            Attempt::DeadLetter => "dead-letter",
        };
        self.attempts.get_or_create(&Attempted { sink: sink.to_owned(), result }).inc();
    }

    pub(super) fn delivered(&self, sink: &str, observed_at: Timestamp) {
        let took = Timestamp::now().duration_since(observed_at).max(SignedDuration::ZERO);
        self.seconds.get_or_create(&OfSink { sink: sink.to_owned() }).observe(took.as_secs_f64());
    }

    pub(super) fn waiting(&self, sink: &str, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.waiting.get_or_create(&OfSink { sink: sink.to_owned() }).set(count);
    }
}
