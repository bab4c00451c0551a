//! Over TLS, kept alive, without reads.

use std::time::Duration;

use anyhow::{Result, bail};

use super::call::{Outcome, flood};
use super::contestant::Contestant;
use super::review::{Review, harmless_update, repeated_deletion};
use crate::bench::figures::ratio;
use crate::bench::performance::{self, Table};
use crate::cluster::Cluster;
use crate::namespace::Namespace;

/// Connections: an API server opens as many as it has calls at once, and keeps 25.
const CONNECTIONS: usize = 8;
/// Before measuring.
const WARM_UP: Duration = Duration::from_secs(1);

/// What is sent, with what it must come to: calls a second, and CPU of the peer's.
struct Load {
    what: &'static str,
    review: Review,
    rate: Option<f64>,
    cpu: Option<f64>,
}

struct Needed {
    outcome: Outcome,
    cpu: Duration,
    peak: f64,
}

/// Measures, prints, and keeps the table.
///
/// # Errors
/// A contestant does not start, or answers wrongly.
pub async fn run(cluster: &Cluster, lasting: Duration) -> Result<()> {
    let namespace = Namespace::new(cluster, "throughput").await?;
    let contestants = [
        Contestant::ours(cluster, &[namespace.name()]).await?,
        Contestant::peer(cluster).await?,
        Contestant::floor().await?,
    ];
    let load = |what, review, rate, cpu| Load { what, review, rate, cpu };
    let loads = [
        load("1 kB", repeated_deletion(0)?, Some(15_000.0), Some(0.2)),
        load("100 kB", repeated_deletion(100_000)?, None, None),
        load("700 kB", repeated_deletion(700_000)?, Some(500.0), Some(0.06)),
        load("update, 2 × 700 kB", harmless_update(700_000)?, None, Some(0.06)),
    ];
    let mut table = Table::new(&["review", "", "ours", "peer", "floor", "ours of the peer's", "must"]);
    for Load { what, review, rate, cpu } in loads {
        let mut needed = vec![];
        for contestant in &contestants {
            needed.push(measure(contestant, &review, lasting).await?);
        }
        let [ours, peer, floor] = needed.as_slice() else { bail!("three contestants were called") };
        let must = |must: Option<f64>, how: &str, digits: usize, figure: f64| match must {
            Some(must) => performance::must(&format!("{how} {must:.digits$}"), figure),
            None => Ok(String::new()),
        };
        let three = |show: fn(&Needed) -> String| [ours, peer, floor].map(show);
        let mut row = |figure: &str, shown: [String; 3], part: f64, must: String| {
            let [ours, peer, floor] = shown;
            table.row(&[what, figure, &ours, &peer, &floor, &format!("{part:.2}"), &must]);
        };
        row(
            "calls a second",
            three(|needed| format!("{:.0}", needed.outcome.rate())),
            ours.outcome.rate() / peer.outcome.rate(),
            must(rate, "≥", 0, ours.outcome.rate())?,
        );
        row(
            "CPU a call",
            three(|needed| format!("{:.0} µs", needed.cpu.as_secs_f64() * 1e6)),
            ratio(ours.cpu, peer.cpu),
            must(cpu, "≤", 2, ratio(ours.cpu, peer.cpu))?,
        );
        let p99 = |needed: &Needed| needed.outcome.times.percentile(99);
        row(
            "p50, p99",
            three(|needed| {
                let millis = |percent| needed.outcome.times.percentile(percent).as_secs_f64() * 1000.0;
                format!("{:.1}, {:.1} ms", millis(50), millis(99))
            }),
            ratio(p99(ours), p99(peer)),
            must(Some(0.5), "p99 ≤", 1, ratio(p99(ours), p99(peer)))?,
        );
        row(
            "peak memory",
            three(|needed| format!("{:.0} MiB", needed.peak)),
            ours.peak / peer.peak,
            must(Some(0.4), "≤", 1, ours.peak / peer.peak)?,
        );
    }
    performance::keep("throughput", &table)
}

async fn measure(contestant: &Contestant, review: &Review, lasting: Duration) -> Result<Needed> {
    eprintln!("calling {} …", contestant.name);
    let reviews = std::slice::from_ref(review);
    flood(contestant, reviews, CONNECTIONS, WARM_UP).await?;
    contestant.forget_peak()?;
    let before = contestant.cpu()?;
    let outcome = flood(contestant, reviews, CONNECTIONS, lasting).await?;
    let calls = u32::try_from(outcome.times.len())?;
    Ok(Needed { cpu: contestant.cpu()?.saturating_sub(before) / calls.max(1), peak: contestant.peak()?, outcome })
}
