//! What `kubectl eno top` needs while nothing changes, and while much does: time of a core, memory, and bytes to the
//! terminal, which may be at the far end of a slow line.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;
use tokio::time::{interval, sleep};

use super::cleanup::Table;
use super::load::{cpu_of, status_of};
use super::plugin::Plugin;
use crate::cluster::Cluster;
use crate::fixtures;
use crate::namespace::Namespace;
use crate::terminal::Terminal;
use crate::workspace;

/// Writes in each second of the churn.
const WRITES: u64 = 20;
/// Slices that come and go meanwhile.
const CHURNED: u64 = 50;
/// How much more memory than in the first half of the churn may be used in the second, in percent.
const GROWTH: f64 = 5.0;

/// Arguments of `cargo xtask bench top`.
#[derive(Debug, clap::Args)]
pub struct Top {
    /// How many slices
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    slices: usize,
    /// Of how many compositions
    #[arg(long, value_name = "N", default_value_t = 200)]
    compositions: usize,
    /// For how many seconds nothing changes
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle: u64,
    /// For how many seconds slices are made, changed and deleted
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    churn: u64,
}

/// What a process has needed so far.
struct Account {
    at: Instant,
    cpu: Duration,
    /// Resident, in MiB.
    memory: f64,
    written: usize,
}

impl Account {
    fn of(terminal: &Terminal) -> Result<Self> {
        let pid = terminal.pid().context("it runs")?;
        let (cpu, memory) = (cpu_of(pid)?, status_of(pid, "VmRSS:")?);
        Ok(Account { at: Instant::now(), cpu, memory, written: terminal.shown().len() })
    }

    /// Percent of a core, and bytes to the terminal in a second, since then.
    fn since(&self, before: &Account) -> (f64, f64) {
        let seconds = (self.at - before.at).as_secs_f64();
        let cpu = (self.cpu - before.cpu).as_secs_f64();
        (100.0 * cpu / seconds, (self.written - before.written) as f64 / seconds)
    }
}

impl Top {
    /// Measures, prints a table, and keeps it in docs/.
    ///
    /// # Errors
    /// The control plane refuses something, or `top` ends.
    pub async fn run(&self, cluster: &Cluster) -> Result<()> {
        let namespace = Namespace::new(cluster, "top").await?;
        eprintln!("making {} slices …", self.slices);
        Plugin::of(self.slices, self.compositions, 256).make(cluster, namespace.name()).await?;
        let mut command = tokio::process::Command::new(workspace::target().join("release/kubectl-eno"));
        command.args(["top", "-n", namespace.name()]).env("KUBECONFIG", cluster.kubeconfig());
        let begun = Instant::now();
        let mut terminal = Terminal::open(command)?;
        terminal.screen_is("the first picture", |screen| screen.contains("q quit")).await?;
        let first = begun.elapsed();
        terminal.type_in("2")?;
        let all = format!("slices {}", self.slices);
        terminal.screen_is("all slices", |screen| screen.contains(&all)).await?;

        eprintln!("nothing changes for {} s …", self.idle);
        // What was heard at the beginning is settled by then.
        sleep(Duration::from_secs(5)).await;
        let before = Account::of(&terminal)?;
        sleep(Duration::from_secs(self.idle)).await;
        let after = Account::of(&terminal)?;
        let (idle, bytes) = after.since(&before);
        let mut table = Table::default();
        table.row("time to the first picture", &format!("{:.2} s", first.as_secs_f64()), "");
        table.row("CPU while nothing changes, of one core", &format!("{idle:.2} %"), "< 2 %");
        table.row("bytes to the terminal meanwhile", &format!("{bytes:.1} per second"), "");

        eprintln!("{WRITES} writes a second for {} s …", self.churn);
        let (busy, memory) = self.churned(cluster, namespace.name(), &terminal).await?;
        let (early, late) = memory.split_at(memory.len() / 2);
        let peak = |accounts: &[f64]| accounts.iter().copied().fold(0.0, f64::max);
        let (early, late) = (peak(early), peak(late));
        table.row(&format!("CPU at {WRITES} writes a second, of one core"), &format!("{:.1} %", busy.0), "");
        table.row("bytes to the terminal meanwhile", &format!("{:.0} per second", busy.1), "");
        table.row("memory before the churn", &format!("{:.1} MiB", after.memory), "");
        table.row(
            &format!("memory in {} s of churn: the most in its first half, in its second", self.churn),
            &format!("{early:.1} MiB, {late:.1} MiB"),
            &format!("flat: the second at most {GROWTH} % more"),
        );
        println!("{}", table.text);
        let head = format!(
            "# Figures of top\n\n`cargo xtask bench top --slices {} --idle {} --churn {}`: on a terminal of 80 × 24, slices \
             of {} compositions in sight; one machine of two cores, which the control plane shares.\n\n",
            self.slices, self.idle, self.churn, self.compositions
        );
        fs::write(workspace::root().join("docs/figures-top.md"), head + &table.text)?;
        ensure!(idle < 2.0, "top takes {idle:.2} % of a core while nothing changes");
        ensure!(late <= early * (1.0 + GROWTH / 100.0), "its memory grows from {early:.1} MiB to {late:.1} MiB");
        Ok(())
    }

    /// Makes, changes and deletes slices all the time. Returns CPU and bytes, and the memory in each second.
    async fn churned(&self, cluster: &Cluster, namespace: &str, terminal: &Terminal) -> Result<((f64, f64), Vec<f64>)> {
        let owner = cluster.eno("Composition", namespace).get("c0").await?;
        let api = cluster.eno("ResourceSlice", namespace);
        let before = Account::of(terminal)?;
        let (mut memory, mut seconds) = (vec![], interval(Duration::from_secs(1)));
        for second in 0..self.churn {
            seconds.tick().await;
            let write = |index: u64| {
                let (api, owner) = (&api, &owner);
                async move {
                    // Each is made, changed, and deleted, in turn with the others.
                    let turn = second * WRITES + index;
                    let name = format!("churned-{}", turn % CHURNED);
                    match turn / CHURNED % 3 {
                        0 => {
                            let mut slice = fixtures::slice(owner, &name, "", &[]);
                            slice["metadata"]["finalizers"] = json!([]);
                            drop(api.create(&PostParams::default(), &serde_json::from_value(slice)?).await?);
                        }
                        1 => {
                            let patch = Patch::Merge(json!({"metadata": {"labels": {"turn": turn.to_string()}}}));
                            drop(api.patch(&name, &PatchParams::default(), &patch).await?);
                        }
                        _ => drop(api.delete(&name, &DeleteParams::default()).await?),
                    }
                    anyhow::Ok(())
                }
            };
            stream::iter(0..WRITES).map(write).buffer_unordered(4).try_collect::<Vec<()>>().await?;
            memory.push(Account::of(terminal)?.memory);
        }
        Ok((Account::of(terminal)?.since(&before), memory))
    }
}
