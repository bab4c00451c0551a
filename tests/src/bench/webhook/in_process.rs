//! Reviews handled in process: from the body to the answer, without a network and without reads.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use eno_webhook::admission::{Admission, Cleanup};
use eno_webhook::candidates::Candidates;
use eno_webhook::clock::Clock;
use eno_webhook::events::Events;
use eno_webhook::facts::Facts;
use eno_webhook::force::Force;
use eno_webhook::health::Health;
use eno_webhook::metrics::Metrics;
use eno_webhook::mode::Mode;
use eno_webhook::router;
use eno_webhook::tls::Serving;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use kube::{Client, Config};

use super::review::{Review, harmless_update, repeated_deletion};
use crate::bench::figures::Times;
use crate::bench::performance::{self, Table};

/// Reviews of each sort.
const REVIEWS: usize = 5000;
/// Before measuring.
const WARM_UP: usize = 200;

/// Measures, prints, and keeps the table.
///
/// # Errors
/// A review is answered wrongly.
pub async fn run() -> Result<()> {
    // Nothing is read for these reviews: nobody needs to be there.
    let client = Client::try_from(Config::new("http://127.0.0.1:1".parse()?))?;
    let (metrics, candidates) = (Metrics::default(), Candidates::new(&[]));
    let (events, _poster) = Events::new(metrics.clone());
    let facts = Facts::new(client.clone(), candidates.clone(), metrics.clone());
    let force = Force::new(client, metrics.clone());
    let admission = Admission::new(facts, force, Mode::Enforce, events, metrics.clone(), Cleanup::default());
    let health = Health::new(candidates, Serving::new(Clock::default()), metrics);
    let service = TowerToHyperService::new(router::router(Arc::clone(&admission), health));
    let mut table = Table::new(&["review", "p50", "p99", "must"]);
    for (what, review, must) in [
        ("1 kB", repeated_deletion(0)?, Some("p99 < 0.2 ms")),
        ("100 kB", repeated_deletion(100_000)?, None),
        ("700 kB", repeated_deletion(700_000)?, None),
        ("update, 2 × 700 kB", harmless_update(700_000)?, Some("p99 < 3 ms")),
    ] {
        let mut times = Times::default();
        for round in 0..WARM_UP + REVIEWS {
            let Review { path, body, .. } = review.clone();
            let request = Request::post(path).header("content-type", "application/json").body(Full::new(body))?;
            let begun = Instant::now();
            let answer = service.call(request).await?;
            let body = answer.into_body().collect().await?.to_bytes();
            if round >= WARM_UP {
                times.add(begun.elapsed());
            }
            ensure!(memchr::memmem::find(&body, b"\"allowed\":true").is_some(), "{}", String::from_utf8_lossy(&body));
        }
        let millis = |percent| times.percentile(percent).as_secs_f64() * 1000.0;
        let must = must.map(|must| performance::must(must, millis(99))).transpose()?.unwrap_or_default();
        table.row(&[what, &format!("{:.3} ms", millis(50)), &format!("{:.3} ms", millis(99)), &must]);
    }
    performance::keep("in-process", &table)
}
