//! How soon it is told that pods are gone, and what that costs: 10,000 pods are followed, and 1,000 of them end at once.
//!
//! Their nodes have no kubelet, so that nothing but the API server has a part in their end. Beside it stand a follower that
//! does the least, and the way of the monitor that was the model: one GET for each pod, in sequence, every 5 s.

mod ends;
mod floors;
mod ground;

use std::fs;
use std::time::Duration;

use anyhow::Result;

use super::cleanup::Table;
use crate::cluster::Cluster;
use crate::namespace::Namespace;
use crate::workspace;
use ground::{DELETING, Ground, Memory};

/// How long a step may take.
const LIMIT: Duration = Duration::from_secs(300);
/// How many pods the bare follower asks about at once: as many as the webhook.
const BARE: usize = 32;

/// Arguments of `cargo xtask bench pods`.
#[derive(Debug, clap::Args)]
pub struct Pods {
    /// How many pods are followed
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pods: usize,
    /// On how many nodes: as many as 110 pods each need
    #[arg(long, value_name = "N", default_value_t = 91)]
    nodes: usize,
    /// How many of them end at once
    #[arg(long, value_name = "N", default_value_t = 1000)]
    ends: usize,
}

impl Pods {
    /// Measures, prints a table, and keeps it in docs/.
    ///
    /// # Errors
    /// The control plane refuses something, or an end is not told.
    pub async fn run(&self, cluster: &Cluster) -> Result<()> {
        let nobody = Namespace::new(cluster, "nobody").await?;
        let base = Ground { cluster, namespace: &nobody }.memory(0).await?;
        let namespace = Namespace::new(cluster, "pods").await?;
        let ground = Ground { cluster, namespace: &namespace };
        ground.populate(self.pods, self.nodes).await?;
        let full = ground.memory(self.pods).await?;
        let ends = ground.ends(self.pods, self.ends).await?;
        let bare = ground.bare(self.ends, BARE).await?;
        let sweep = ground.sweep(self.ends / 10).await?;

        let mut table = Table::default();
        let added =
            |of: fn(&Memory) -> f64| format!("{:.1} MiB ({:.1} of {:.1})", of(&full) - of(&base), of(&base), of(&full));
        table.row(
            &format!("memory of {} pods, on top of the base", self.pods),
            &added(|memory| memory.resident),
            "≤ 24 MiB",
        );
        table.row("the same at its peak, the first list included", &added(|memory| memory.peak), "");
        table.row("reads of pods while none ends, 3 sweeps", &format!("{:.0}", ends.idle_reads), "0");
        table.row(
            "from a pod's leaving the API to its end at an HTTP sink",
            &ends.times.to_string(),
            "p50 ≤ 250 ms, p99 ≤ 2 s",
        );
        let ratio = |percent| {
            let [ours, floor] = [&ends.times, &bare].map(|times| times.percentile(percent).as_secs_f64());
            format!("{:.2}", ours / floor)
        };
        table.row(
            "the same of a bare follower: one watch, one GET and one POST for each pod that went, no promise",
            &bare.to_string(),
            "",
        );
        table.row("ours of the bare one's, p50 and p99", &format!("{}, {}", ratio(50), ratio(99)), "");
        let per = |of: f64| of / self.ends as f64;
        table.row("reads a destroy, of pods and nodes", &format!("{:.2}", per(ends.reads)), "≤ 1.1");
        table.row("outbox writes for 100 destroys", &format!("{:.1}", per(ends.writes as f64) * 100.0), "≤ 2");
        table.row(
            "false destroys, attempts that were repeated",
            &format!("{}, {}", ends.false_destroys, ends.retried),
            "0",
        );
        table.row("CPU a destroy", &format!("{:.2} ms", per(ends.cpu.as_secs_f64()) * 1000.0), "");
        let rate = self.ends as f64 / ends.deleting.as_secs_f64();
        table.row("rate at which the API server deleted the pods", &format!("{rate:.0}/s"), "");
        let reads = sweep.reads as f64 / sweep.took.as_secs_f64();
        table.row(
            "one GET for each pod, in sequence: a sweep, which is to be made every 5 s",
            &format!("{:.1} s for {} reads ({reads:.0}/s)", sweep.took.as_secs_f64(), sweep.reads),
            "",
        );
        table.row("ends that it finds, of pods that went as it began", &sweep.times.to_string(), "");
        println!("{}", table.text);
        let head = format!(
            "# Figures of the pods that are followed\n\n`cargo xtask bench pods`: {} pods on {} nodes, {} of them, evenly spread, deleted at once ({DELETING} \
             requests in flight); one run on one machine of two cores, which the control plane, the webhook and the receiver share. \
             A pod has left the API when its DELETE is answered, or a watch tells of it, whichever is earlier.\n\n",
            self.pods, self.nodes, self.ends
        );
        fs::write(workspace::root().join("docs/figures-pods.md"), head + &table.text)?;
        Ok(())
    }
}
