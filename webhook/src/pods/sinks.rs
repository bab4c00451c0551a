//! Where destroys are told.
//!
//! ```text
//!  outbox ─▶ Courier (a queue per sink) ─▶ Sink ─▶ events | CloudEvents over HTTP | JSON lines
//!    ▲                                      │
//!    └────────────── Ack ◀──────────────────┘
//! ```
//!
//! A [`Sink`] makes one attempt, and says what became of it. Everything else (order, retries, giving up) is the
//! [`Courier`]'s, and the same for all. What is to be told is kept by the outbox until each sink has acknowledged it; a
//! courier that ends loses nothing.

pub mod address;
mod cloud_event;
pub mod courier;
pub mod events;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod http;
pub mod json_lines;
mod metrics;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::pods::destroy::Destroy;
use futures::future::BoxFuture;

pub use courier::{Courier, Limits};
pub use metrics::SinkMetrics;

use crate::controllers::report::Reporter;

/// Who is told, and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Post Events?
    pub events: bool,
    /// Where destroys are posted to.
    pub http: Option<http::Options>,
    /// Where they are written to.
    pub json_lines: Option<json_lines::Target>,
    /// The bounds of each courier.
    pub limits: Limits,
}

impl Options {
    /// Can they be set up? A wrong flag ends the process when it starts, and not when it comes to lead.
    ///
    /// # Errors
    /// As for [`Options::sinks`].
    pub fn check(&self) -> Result<(), SinkError> {
        self.http.clone().map_or(Ok(()), |options| http::Http::new(options, "").map(drop))
    }

    /// The sinks, for the cluster of that uid.
    ///
    /// # Errors
    /// One cannot be set up; the message names the flag to mend.
    pub fn sinks(&self, cluster: &str, reporter: &Reporter) -> Result<Vec<Arc<dyn Sink>>, SinkError> {
        let mut sinks: Vec<Arc<dyn Sink>> = vec![];
        if self.events {
            sinks.push(Arc::new(events::PodEvents::new(reporter.clone())));
        }
        if let Some(options) = &self.http {
            sinks.push(Arc::new(http::Http::new(options.clone(), cluster)?));
        }
        if let Some(target) = &self.json_lines {
            sinks.push(Arc::new(json_lines::JsonLines::new(target.clone(), cluster)));
        }
        Ok(sinks)
    }
}

/// Why a sink cannot be set up. Each names the flag to mend.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// Destroys must not go there.
    #[error("--sink-url {url}: {why}")]
    Url {
        /// Where.
        url: ::http::Uri,
        /// Why not.
        why: String,
    },
    /// The URL has a user or a password, which would be in every log.
    #[error("--sink-url must not hold a user or a password; see --sink-token-file")]
    Secret,
    /// The authorities do not load.
    #[error("--sink-ca-file {} cannot be used: {why}", file.display())]
    Authorities {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// There is no TLS to be had.
    #[error("TLS for --sink-url: {0}")]
    Tls(String),
}

/// Someone who is told of destroys.
pub trait Sink: Send + Sync {
    /// Its name: the outbox keeps by it who has been told, so it must stay the same over restarts.
    fn name(&self) -> &str;

    /// Tells it once. An attempt ends by itself: a sink bounds its own time.
    fn deliver(&self, destroy: Arc<Destroy>) -> BoxFuture<'_, Result<(), Failure>>;
}

/// Why an attempt failed, and whether another makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Whether to try again.
    pub retry: Retry,
    /// What happened, for people. Never a secret.
    pub why: String,
}

/// Whether an attempt that failed is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Yes: when the courier thinks fit, or not before the receiver asked for.
    After(Option<Duration>),
    /// No: the same would come of it. The destroy becomes a dead letter.
    Never,
}

impl Failure {
    /// One that may pass.
    pub fn passing(why: impl Into<String>) -> Self {
        Failure { retry: Retry::After(None), why: why.into() }
    }

    /// One that will not.
    pub fn lasting(why: impl Into<String>) -> Self {
        Failure { retry: Retry::Never, why: why.into() }
    }
}

/// What the outbox is told when a sink is done with a destroy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// The destroy's id.
    pub id: String,
    /// The sink's name.
    pub sink: Arc<str>,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a destroy at one sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The sink has it.
    Delivered,
    /// The sink will not take it, and why. It stays listed until it is sent again or dropped.
    DeadLetter(String),
}
