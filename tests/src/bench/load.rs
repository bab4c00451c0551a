//! Load on a control plane, and what a process and the API server needed for it.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use kube::api::{DynamicObject, ListParams, PostParams};
use serde_json::json;

use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::fixtures;

/// Writes in flight while the load is made.
const IN_FLIGHT: usize = 16;
/// Ticks of the kernel's clock in a second, as `/proc` counts them on Linux.
const TICKS: f64 = 100.0;

/// Compositions and slices of a namespace.
pub struct Load<'a> {
    /// The control plane.
    pub cluster: &'a Cluster,
    /// The namespace.
    pub namespace: &'a str,
    /// Bytes of a slice's manifest.
    pub size: usize,
}

impl Load<'_> {
    /// Makes slices that no synthesis of their compositions refers to.
    ///
    /// # Errors
    /// The server refuses one.
    pub async fn make(&self, compositions: usize, slices: usize) -> Result<()> {
        let owners = self.owners(compositions).await?;
        self.slices(&owners, slices).await
    }

    /// Makes slices that the current syntheses of their compositions refer to.
    ///
    /// # Errors
    /// The server refuses one.
    pub async fn make_referenced(&self, compositions: usize, slices: usize) -> Result<()> {
        let owners = self.owners(compositions).await?;
        self.slices(&owners, slices).await?;
        let refer = |index: usize| async move {
            let names: Vec<_> = (index..slices).step_by(compositions).map(|slice| format!("s{slice}")).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let current = fixtures::reconciled_synthesis("1", Some(1), &names);
            let composition = fixtures::composition(self.namespace, &format!("c{index}"));
            self.cluster.set_status(&composition, &json!({"currentSynthesis": current})).await
        };
        stream::iter(0..compositions).map(refer).buffer_unordered(IN_FLIGHT).try_collect::<Vec<_>>().await?;
        Ok(())
    }

    async fn owners(&self, compositions: usize) -> Result<Vec<DynamicObject>> {
        let make = |index: usize| async move {
            self.cluster.apply(&fixtures::composition(self.namespace, &format!("c{index}"))).await
        };
        stream::iter(0..compositions).map(make).buffered(IN_FLIGHT).try_collect().await
    }

    async fn slices(&self, owners: &[DynamicObject], slices: usize) -> Result<()> {
        let api = self.cluster.eno("ResourceSlice", self.namespace);
        let manifest = json!({"padding": "x".repeat(self.size)});
        let make = |index: usize| {
            let slice = fixtures::slice(
                &owners[index % owners.len()],
                &format!("s{index}"),
                "",
                std::slice::from_ref(&manifest),
            );
            let api = &api;
            async move { anyhow::Ok(api.create(&PostParams::default(), &serde_json::from_value(slice)?).await.map(drop)?) }
        };
        stream::iter(0..slices).map(make).buffer_unordered(IN_FLIGHT).try_collect::<Vec<()>>().await?;
        Ok(())
    }

    /// Waits until no slice is left; returns how often that was asked.
    ///
    /// # Errors
    /// Some are left after `limit`.
    pub async fn gone(&self, limit: Duration) -> Result<usize> {
        let api = self.cluster.eno("ResourceSlice", self.namespace);
        let mut polls = 0;
        eventually("all slices to be gone", limit, async || {
            polls += 1;
            let left = api.list_metadata(&ListParams::default().limit(1)).await?;
            ensure!(left.items.is_empty(), "{:?} more than one", left.metadata.remaining_item_count);
            Ok(())
        })
        .await?;
        Ok(polls)
    }
}

/// How many requests for Eno's objects the API server has answered, watches aside.
pub struct Requests(f64);

impl Requests {
    /// Until now.
    ///
    /// # Errors
    /// The metrics cannot be read.
    pub async fn of(cluster: &Cluster) -> Result<Self> {
        let counted = |line: &str| line.contains("group=\"eno.azure.io\"") && !line.contains("verb=\"WATCH\"");
        answered(cluster, counted).await.map(Self)
    }

    /// How many since then.
    pub fn since(&self, before: &Self) -> f64 {
        self.0 - before.0
    }
}

/// How many requests the API server has answered, of those whose line in its metrics is counted.
///
/// # Errors
/// The metrics cannot be read.
pub async fn answered(cluster: &Cluster, counted: impl Fn(&str) -> bool) -> Result<f64> {
    let text = cluster.client().request_text(http::Request::get("/metrics").body(vec![])?).await?;
    let requests = text.lines().filter(|line| line.starts_with("apiserver_request_total{") && counted(line));
    Ok(requests.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum())
}

/// CPU time of a process.
///
/// # Errors
/// It does not run.
pub fn cpu_of(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name, in brackets, may hold anything.
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    let used = ticks(11).zip(ticks(12)).with_context(|| format!("reading the CPU time of process {pid}"))?;
    Ok(Duration::from_secs_f64((used.0 + used.1) / TICKS))
}

/// The most memory that a process has had, in MiB.
///
/// # Errors
/// It does not run.
pub fn peak_of(pid: u32) -> Result<f64> {
    status_of(pid, "VmHWM:")
}

/// The peak of a process counts from now on.
///
/// # Errors
/// It does not run.
pub fn reset_peak_of(pid: u32) -> Result<()> {
    let clear = format!("/proc/{pid}/clear_refs");
    fs::write(&clear, "5").with_context(|| format!("writing {clear}"))
}

/// A field of `/proc/PID/status`, in MiB.
///
/// # Errors
/// It does not run, or has no such field.
pub fn status_of(pid: u32, field: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kib = status.lines().find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kib.with_context(|| format!("reading {field} of process {pid}"))? / 1024.0)
}
