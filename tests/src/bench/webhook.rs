//! How fast the webhook answers and what it needs for that, beside what else there is: the webhook in Go of `tests/peer`, the
//! policy of `manifests/policy`, no webhook at all, and a server that only reads.

mod call;
mod contestant;
mod delete;
mod growth;
mod in_process;
mod memory;
mod plot;
mod reads;
mod review;
mod throughput;

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::bench::performance;
use crate::cluster::Cluster;
use crate::controlplane::{ControlPlane, Options};
use crate::crds;
use crate::workspace;

pub use contestant::Floor;

/// Arguments of `cargo xtask bench webhook`.
#[derive(Debug, clap::Args)]
pub struct Webhook {
    /// What to measure; all where nothing is named
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// How long each load lasts, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// Numbers of slices for `memory`
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [10_000, 100_000])]
    slices: Vec<usize>,
}

/// A part of the measurement, and of docs/performance.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Reviews in process: no network, no reads
    InProcess,
    /// Over TLS, without reads
    Throughput,
    /// Over TLS, with live reads, 200 a second
    Reads,
    /// Added to the deletion of a slice
    Delete,
    /// Memory and start with many slices
    Memory,
    /// How rate, memory and requests grow
    Growth,
}

impl Webhook {
    /// Measures, prints, and keeps each part in docs/performance.md.
    ///
    /// # Errors
    /// Something does not start, or answers wrongly.
    pub async fn run(&self) -> Result<()> {
        let parts = if self.parts.is_empty() { Part::value_variants() } else { &self.parts };
        let load = Duration::from_secs(self.seconds);
        performance::keep_text("machine", &machine().await?)?;
        for part in parts {
            // Each on a control plane of its own: none is to pay for what another has left.
            match part {
                Part::InProcess => in_process::run().await?,
                Part::Throughput => throughput::run(&Ground::new().await?.cluster, load).await?,
                Part::Reads => reads::run(&Ground::new().await?.cluster, load).await?,
                Part::Delete => delete::run(&Ground::new().await?.cluster).await?,
                Part::Memory => {
                    let mut rows = memory::Rows::default();
                    for slices in &self.slices {
                        rows.measure(&Ground::new().await?.cluster, *slices).await?;
                    }
                    rows.keep()?;
                }
                Part::Growth => {
                    let mut points = growth::Points::default();
                    for slices in growth::SLICES {
                        points.measure(&Ground::new().await?.cluster, slices, load).await?;
                    }
                    points.keep()?;
                }
            }
        }
        Ok(())
    }
}

/// What the figures were measured on, and of which commit.
async fn machine() -> Result<String> {
    let cpus = fs::read_to_string("/proc/cpuinfo")?;
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).context("no model")?.1;
    let memory = fs::read_to_string("/proc/meminfo")?;
    let memory = memory.split_whitespace().nth(1).context("no memory")?.parse::<u64>()? >> 20;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let kernel: String = kernel.chars().take_while(|char| char.is_ascii_digit() || *char == '.').collect();
    let kubernetes = Ground::new().await?.cluster.client().apiserver_version().await?;
    let git = |args: &[&str]| -> Result<String> {
        let output = Command::new("git").args(args).current_dir(workspace::root()).output().context("running git")?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    };
    Ok(format!(
        "The last part was measured on {} × {model}, {memory} GiB, Linux {}, Kubernetes {} ({}), at commit {}.\n",
        std::thread::available_parallelism()?,
        kernel.trim_end_matches('.'),
        kubernetes.git_version,
        kubernetes.go_version,
        git(&["rev-parse", "--short", "HEAD"])?,
    ))
}

/// A control plane with Eno's kinds.
struct Ground {
    cluster: Cluster,
    _controlplane: ControlPlane,
}

impl Ground {
    async fn new() -> Result<Self> {
        eprintln!("starting a control plane …");
        let controlplane = ControlPlane::start(Options::default()).await?;
        let cluster = Cluster::of(&controlplane).await?;
        crds::install(&cluster).await?;
        Ok(Self { cluster, _controlplane: controlplane })
    }
}
