//! How rate, memory and requests grow with what is watched and with what is asked at once.

use std::fmt::Write;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::call::flood;
use super::contestant::Contestant;
use super::plot::{Line, Plot};
use super::review::deletion;
use crate::bench::load::{Load, Requests};
use crate::bench::performance::{self, Table};
use crate::cluster::Cluster;
use crate::namespace::Namespace;
use crate::workspace;

/// How many slices there are, of 2 kB each.
pub const SLICES: [usize; 3] = [1000, 5000, 20_000];
/// How many calls are under way.
const AT_ONCE: [usize; 3] = [1, 8, 64];
/// Slices of a composition.
const EACH: usize = 20;
/// Of how many slices deletions are asked for.
const ASKED: usize = 500;

/// The figures.
#[derive(Default)]
pub struct Points(Vec<Point>);

struct Point {
    slices: usize,
    at_once: usize,
    rate: f64,
    p99: Duration,
    peak: f64,
    reads: f64,
}

impl Points {
    /// With so many slices.
    ///
    /// # Errors
    /// The control plane refuses something, or the webhook answers wrongly.
    pub async fn measure(&mut self, cluster: &Cluster, slices: usize, lasting: Duration) -> Result<()> {
        eprintln!("making {slices} slices …");
        let namespace = Namespace::new(cluster, "growth").await?;
        Load { cluster, namespace: namespace.name(), size: 2000 }.make_referenced(slices / EACH, slices).await?;
        let api = cluster.eno("ResourceSlice", namespace.name());
        let mut reviews = vec![];
        for index in (0..slices).step_by(slices / ASKED) {
            let slice: Value = serde_json::to_value(api.get(&format!("s{index}")).await?)?;
            reviews.push(deletion(&slice, false)?);
        }
        let ours = Contestant::ours(cluster, &[namespace.name()]).await?;
        for at_once in AT_ONCE {
            flood(&ours, &reviews, at_once, Duration::from_secs(1)).await?;
            ours.forget_peak()?;
            let before = Requests::of(cluster).await?;
            let outcome = flood(&ours, &reviews, at_once, lasting).await?;
            let reads = Requests::of(cluster).await?.since(&before) / outcome.times.len() as f64;
            let (rate, p99, peak) = (outcome.rate(), outcome.times.percentile(99), ours.peak()?);
            self.0.push(Point { slices, at_once, rate, p99, peak, reads });
        }
        Ok(())
    }

    /// Prints and keeps the table, the figures and their picture.
    ///
    /// # Errors
    /// The document cannot be written.
    pub fn keep(&self) -> Result<()> {
        let mut table =
            Table::new(&["slices", "calls at once", "calls a second", "p99", "peak memory", "reads a call"]);
        let mut data = "slices,at_once,calls_per_second,p99_ms,peak_mib,reads_per_call\n".to_owned();
        for Point { slices, at_once, rate, p99, peak, reads } in &self.0 {
            let p99 = p99.as_secs_f64() * 1000.0;
            table.row(&[
                &slices.to_string(),
                &at_once.to_string(),
                &format!("{rate:.0}"),
                &format!("{p99:.1} ms"),
                &format!("{peak:.1} MiB"),
                &format!("{reads:.2}"),
            ]);
            writeln!(data, "{slices},{at_once},{rate:.0},{p99:.2},{peak:.1},{reads:.3}")?;
        }
        let lines = |of: fn(&Point) -> f64| {
            AT_ONCE.map(|at_once| Line {
                name: format!("{at_once} at once"),
                points: self
                    .0
                    .iter()
                    .filter(|point| point.at_once == at_once)
                    .map(|point| (point.slices as f64, of(point)))
                    .collect(),
            })
        };
        let picture = Plot {
            across: "slices",
            panels: vec![
                ("calls a second", lines(|point| point.rate).into()),
                ("peak memory, MiB", lines(|point| point.peak).into()),
                ("reads a call", lines(|point| point.reads).into()),
            ],
        };
        let docs = workspace::root().join("docs");
        fs::write(docs.join("performance-growth.csv"), data).context("writing the data")?;
        fs::write(docs.join("performance-growth.svg"), picture.svg()?).context("writing the plot")?;
        table.say("![calls a second, memory and reads over the number of slices](performance-growth.svg)");
        table.say("The data is in [performance-growth.csv](performance-growth.csv).");
        performance::keep("growth", &table)
    }
}
