//! Over TLS, with the live reads of verdicts: 200 a second, in small and large namespaces.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;

use super::call::{flood, pace, paced};
use super::contestant::Contestant;
use super::review::{Review, deletion};
use crate::bench::figures::{Times, ratio};
use crate::bench::load::{Load, Requests};
use crate::bench::performance::{self, Table};
use crate::cluster::Cluster;
use crate::namespace::Namespace;

/// How many compositions a namespace has.
const COMPOSITIONS: [usize; 3] = [1, 100, 2000];
/// Of how many slices deletions are asked for.
const ASKED: usize = 100;
/// Calls in a second.
const RATE: u32 = 200;
/// Calls at once, about slices of one composition.
const AT_ONCE: usize = 64;

/// Measures, prints, and keeps the table.
///
/// # Errors
/// A contestant does not start, or answers wrongly.
pub async fn run(cluster: &Cluster, lasting: Duration) -> Result<()> {
    let mut namespaces = vec![];
    for compositions in COMPOSITIONS {
        eprintln!("making {compositions} compositions …");
        let namespace = Namespace::new(cluster, "reads").await?;
        let load = Load { cluster, namespace: namespace.name(), size: 1000 };
        load.make_referenced(compositions, compositions.max(ASKED)).await?;
        namespaces.push(namespace);
    }
    let names: Vec<_> = namespaces.iter().map(Namespace::name).collect();
    let contestants = [Contestant::ours(cluster, &names).await?, Contestant::peer(cluster).await?];
    let mut table = Table::new(&["calls", "", "ours", "peer", "a read alone", "ours of the peer's", "must"]);
    for (compositions, namespace) in COMPOSITIONS.iter().zip(&names) {
        let reviews = reviews(cluster, namespace).await?;
        let mut needed = vec![];
        for contestant in &contestants {
            pace(contestant, &reviews, RATE, Duration::from_secs(1)).await?;
            let before = contestant.cpu()?;
            let outcome = pace(contestant, &reviews, RATE, lasting).await?;
            let calls = u32::try_from(outcome.times.len())?;
            needed.push((outcome.times, contestant.cpu()?.saturating_sub(before) / calls.max(1)));
        }
        let [(ours, our_cpu), (peer, peer_cpu)] = needed.as_slice() else { continue };
        let alone = read_alone(cluster, namespace, *compositions, lasting).await?;
        let what = format!("{RATE}/s, namespace of {compositions}");
        let millis = |times: &Times, percent| times.percentile(percent).as_secs_f64() * 1000.0;
        for (figure, percent, must) in [("p50", 50, "< 4 ms"), ("p99", 99, "< 25 ms")] {
            let part = ratio(ours.percentile(percent), peer.percentile(percent));
            let mut must = performance::must(must, millis(ours, percent))?;
            if percent == 99 {
                must += &format!("; of the peer's {}", performance::must("≤ 0.5", part)?);
            }
            let [ours, peer, alone] = [ours, peer, &alone].map(|times| format!("{:.1} ms", millis(times, percent)));
            table.row(&[&what, figure, &ours, &peer, &alone, &format!("{part:.2}"), &must]);
        }
        let micros = |cpu: &Duration| format!("{:.0} µs", cpu.as_secs_f64() * 1e6);
        table.row(&[
            &what,
            "CPU a call",
            &micros(our_cpu),
            &micros(peer_cpu),
            "",
            &format!("{:.2}", ratio(*our_cpu, *peer_cpu)),
            "",
        ]);
    }
    // All slices of the first namespace belong to one composition.
    let about_one = reviews(cluster, names.first().context("a namespace")?).await?;
    let mut shared = vec![];
    for contestant in &contestants {
        let before = Requests::of(cluster).await?;
        let outcome = flood(contestant, &about_one, AT_ONCE, lasting).await?;
        let reads = Requests::of(cluster).await?.since(&before) / outcome.times.len() as f64;
        shared.push((outcome, reads));
    }
    if let [(ours, our_reads), (peer, peer_reads)] = shared.as_slice() {
        let what = format!("{AT_ONCE} at once, of one composition");
        let of = |ours: f64, peer: f64| format!("{:.2}", ours / peer);
        table.row(&[
            &what,
            "calls a second",
            &format!("{:.0}", ours.rate()),
            &format!("{:.0}", peer.rate()),
            "",
            &of(ours.rate(), peer.rate()),
            "",
        ]);
        table.row(&[
            &what,
            "reads a call",
            &format!("{our_reads:.2}"),
            &format!("{peer_reads:.2}"),
            "",
            &of(*our_reads, *peer_reads),
            &performance::must("< 1", *our_reads)?,
        ]);
        let p99 = |times: &Times| format!("{:.1} ms", times.percentile(99).as_secs_f64() * 1000.0);
        let part = ratio(ours.times.percentile(99), peer.times.percentile(99));
        let must = performance::must("≤ 0.5", part)?;
        table.row(&[&what, "p99", &p99(&ours.times), &p99(&peer.times), "", &format!("{part:.2}"), &must]);
    }
    performance::keep("reads", &table)
}

/// The read that each answer rests on, made by the load itself.
async fn read_alone(cluster: &Cluster, namespace: &str, compositions: usize, lasting: Duration) -> Result<Times> {
    let api = cluster.eno("Composition", namespace);
    let read = |call: usize| {
        let (api, name) = (api.clone(), format!("c{}", call % compositions));
        async move { Ok(api.get(&name).await.map(drop)?) }
    };
    paced(RATE, Duration::from_secs(1), &read).await?;
    Ok(paced(RATE, lasting, &read).await?.times)
}

/// Deletions of slices that are needed.
async fn reviews(cluster: &Cluster, namespace: &str) -> Result<Vec<Review>> {
    let api = cluster.eno("ResourceSlice", namespace);
    stream::iter(0..ASKED)
        .map(async |index| {
            let slice: Value = serde_json::to_value(api.get(&format!("s{index}")).await?)?;
            deletion(&slice, false)
        })
        .buffered(8)
        .try_collect()
        .await
}
