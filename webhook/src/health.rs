//! Is the process alive, and should it be sent requests?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;

use crate::candidates::Candidates;
use crate::metrics::Metrics;
use crate::tls::Serving;

/// What readiness rests on.
///
/// After the first attempt to watch, and once the API server knows the certificate, readiness does not depend on the API
/// server: a webhook that cannot read still says so better than a connection that is refused.
#[derive(Clone)]
pub struct Health {
    candidates: Candidates,
    serving: Arc<Serving>,
    metrics: Metrics,
    draining: Arc<AtomicBool>,
}

impl Health {
    /// Not draining.
    #[must_use]
    pub fn new(candidates: Candidates, serving: Arc<Serving>, metrics: Metrics) -> Self {
        Health { candidates, serving, metrics, draining: Arc::default() }
    }

    /// From now on unready, and every answer asks the client to connect elsewhere.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.metrics.draining();
    }

    /// Is the process about to end?
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Why requests should go elsewhere; `None` where they should not.
    #[must_use]
    pub fn unready(&self) -> Option<&'static str> {
        if self.is_draining() {
            Some("shutting down")
        } else if !self.candidates.have_started() {
            Some("the compositions were not listed yet")
        } else {
            self.serving.unready()
        }
    }
}

/// `/livez`, `/readyz` and `/metrics`, for a plain port of their own.
pub fn router(health: Health) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(health)
}

async fn readyz(State(health): State<Health>) -> impl IntoResponse {
    match health.unready() {
        None => (StatusCode::OK, "ok"),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}

async fn metrics(State(health): State<Health>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], health.metrics.encode())
}
