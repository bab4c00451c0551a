//! How fast garbage slices go: 2,000 slices that nothing refers to, of 200 compositions, in one namespace.
//!
//! All contestants do the same work on the same control plane, one after the other: a bare loop of DELETE and PATCH, the
//! webhook process with its admission off and on, and eno-controller where `ENO_BIN_DIR` names it.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use eno_shared::names::CLEANUP_FINALIZER;
use futures::stream::{self, StreamExt, TryStreamExt};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, Preconditions};
use serde_json::json;

use super::figures::Times;
use super::load::{Load, Requests, cpu_of, peak_of};
use crate::cluster::Cluster;
use crate::eno::Eno;
use crate::eventually::eventually;
use crate::fixtures;
use crate::namespace::Namespace;
use crate::process::Process;
use crate::webhook::{Profile, Webhook, WebhookOptions};
use crate::workspace;

/// How long one contestant may take.
const LIMIT: Duration = Duration::from_secs(600);
/// What is tried as the number of writes in flight of the bare loop; the best counts.
const IN_FLIGHT: [usize; 4] = [4, 8, 16, 32];
/// Slices are not garbage before (A8).
const AGE: Duration = Duration::from_secs(5);

/// Arguments of `cargo xtask bench cleanup`.
#[derive(Debug, clap::Args)]
pub struct Cleanup {
    /// How many slices
    #[arg(long, value_name = "N", default_value_t = 2000)]
    slices: usize,
    /// Of how many compositions
    #[arg(long, value_name = "N", default_value_t = 200)]
    compositions: usize,
    /// Of how many bytes each
    #[arg(long, value_name = "BYTES", default_value_t = 20_000)]
    size: usize,
    /// How many slices lie idle
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    idle: usize,
}

/// What one contestant needed.
struct Run {
    took: Duration,
    requests: f64,
    cpu: Duration,
    peak_mib: f64,
}

impl Cleanup {
    /// Measures, prints a table, and keeps it in docs/.
    ///
    /// # Errors
    /// The control plane refuses something, or a contestant does not end.
    pub async fn run(&self, cluster: &Cluster) -> Result<()> {
        let (best, loops) = self.bare_loops(cluster).await?;
        let off = self.ours(cluster, false).await?;
        let on = self.ours(cluster, true).await?;
        let latency = self.latency(cluster).await?;
        let store = super::store::resident(100_000, 2_000);
        let mut peers = vec![];
        if Eno::bin_dir().is_some() {
            for (name, flags) in
                [("default flags", &[] as &[&str]), ("--qps=5000 --burst=5000", &["--qps=5000", "--burst=5000"])]
            {
                peers.push((name, self.eno(cluster, flags).await?));
            }
        }
        // Last: what it leaves would be work for the others.
        let (idle, idle_peak) = self.idle(cluster).await?;
        let rate = |run: &Run| self.slices as f64 / run.took.as_secs_f64();
        let bare = self.slices as f64 / best.as_secs_f64();
        let mut table = Table::default();
        table.row(
            "rate, of a bare loop",
            &format!("{:.2} ({:.0}/s of {bare:.0}/s)", rate(&off) / bare, rate(&off)),
            "≥ 0.85",
        );
        for ((name, run), must) in peers.iter().zip(["≥ 8", "≥ 3"]) {
            let times = rate(&off) / rate(run);
            table.row(
                &format!("rate, of eno-controller with {name}"),
                &format!("{times:.1} × ({:.1}/s)", rate(run)),
                must,
            );
        }
        table.row("API requests a slice, admission off", &format!("{:.2}", off.requests), "≤ 2.2");
        table.row("API requests a slice, admission on", &format!("{:.2}", on.requests), "≤ 4.4");
        let cpu = |run: &Run| run.cpu.as_secs_f64() * 1000.0 / self.slices as f64;
        table.row("CPU a slice, admission off", &format!("{:.2} ms", cpu(&off)), "≤ 1.5 ms");
        table.row("CPU a slice, admission on", &format!("{:.2} ms", cpu(&on)), "");
        table.row("rate, admission on", &format!("{:.0}/s", rate(&on)), "");
        table.row("peak memory", &format!("{:.1} MiB", off.peak_mib), "≤ 32 MiB");
        table.row("peak memory, admission on", &format!("{:.1} MiB", on.peak_mib), "");
        table.row("memory of a store of 100,000 slices, 2,000 compositions", &format!("{store:.1} MiB"), "≤ 96 MiB");
        table.row("composition's change to DELETE of its garbage", &latency.to_string(), "p50 ≤ 100 ms");
        table.row(&format!("CPU with {} slices, idle", self.idle), &format!("{idle:.2} % of a core"), "≤ 0.5 %");
        table.row(&format!("peak memory with {} slices", self.idle), &format!("{idle_peak:.1} MiB"), "");
        for (name, run) in &peers {
            let told = format!(
                "{:.1}/s, {:.2} requests a slice, {:.1} ms CPU a slice, {:.0} MiB",
                rate(run),
                run.requests,
                cpu(run),
                run.peak_mib
            );
            table.row(&format!("eno-controller with {name}"), &told, "");
        }
        for (in_flight, took) in loops {
            table.row(
                &format!("bare loop, {in_flight} in flight"),
                &format!("{:.0}/s", self.slices as f64 / took.as_secs_f64()),
                "",
            );
        }
        println!("{}", table.text);
        let head = format!(
            "# Figures of the cleanup\n\n`cargo xtask bench cleanup`: {} slices of {} bytes that nothing refers to, of {} compositions, in one namespace; \
             all contestants in one run on one machine of two cores, which the control plane shares.\n\n",
            self.slices, self.size, self.compositions
        );
        fs::write(workspace::root().join("docs/figures-cleanup.md"), head + &table.text)?;
        Ok(())
    }

    fn load<'a>(&self, cluster: &'a Cluster, namespace: &'a Namespace) -> Load<'a> {
        Load { cluster, namespace: namespace.name(), size: self.size }
    }

    /// Garbage of an age at which it may go.
    async fn garbage(&self, cluster: &Cluster, hint: &str) -> Result<Namespace> {
        let namespace = Namespace::new(cluster, hint).await?;
        self.load(cluster, &namespace).make(self.compositions, self.slices).await?;
        tokio::time::sleep(AGE + Duration::from_secs(1)).await;
        Ok(namespace)
    }

    /// Deletes and releases with nothing to decide, with several numbers of writes in flight.
    async fn bare_loops(&self, cluster: &Cluster) -> Result<(Duration, Vec<(usize, Duration)>)> {
        let mut loops = vec![];
        for in_flight in IN_FLIGHT {
            let namespace = self.garbage(cluster, "bare").await?;
            let slices = cluster.eno("ResourceSlice", namespace.name());
            let all = slices.list_metadata(&ListParams::default()).await?;
            let begun = Instant::now();
            stream::iter(all.items)
                .map(|slice| delete_and_release(&slices, slice.metadata.name.unwrap_or_default(), slice.metadata.uid))
                .buffer_unordered(in_flight)
                .try_collect::<Vec<()>>()
                .await?;
            loops.push((in_flight, begun.elapsed()));
        }
        let best = loops.iter().map(|(_, took)| *took).min().unwrap_or_default();
        Ok((best, loops))
    }

    async fn ours(&self, cluster: &Cluster, admission: bool) -> Result<Run> {
        let namespace = self.garbage(cluster, "ours").await?;
        let before = Requests::of(cluster).await?;
        let begun = Instant::now();
        let options = WebhookOptions {
            namespace: namespace.name().to_owned(),
            profile: Profile::Release,
            controllers: "*",
            unregistered: !admission,
            ..WebhookOptions::default()
        };
        let webhook = Webhook::start(cluster, options).await?;
        let load = self.load(cluster, &namespace);
        let polls = load.gone(LIMIT).await?;
        let took = begun.elapsed();
        let pid = webhook.pid().unwrap_or_default();
        let (cpu, peak_mib) = (cpu_of(pid)?, peak_of(pid)?);
        let requests = (Requests::of(cluster).await?.since(&before) - polls as f64) / self.slices as f64;
        Ok(Run { took, requests, cpu, peak_mib })
    }

    async fn eno(&self, cluster: &Cluster, flags: &[&str]) -> Result<Run> {
        let namespace = self.garbage(cluster, "peer").await?;
        let before = Requests::of(cluster).await?;
        let begun = Instant::now();
        let dir = tempfile::tempdir()?;
        let mut command = Command::new(Eno::bin_dir().unwrap_or_default().join("eno-controller"));
        command.args(["--health-probe-addr=127.0.0.1:0", "--metrics-addr=0", "--debug=false", "--executor-image=none"]);
        command.args(flags).arg("--synthesizer-pod-namespace=default");
        command.env("KUBECONFIG", cluster.kubeconfig()).env("POD_NAMESPACE", "default");
        let eno = Process::spawn("eno-controller", &command, &dir.path().join("log"))?;
        let polls = self.load(cluster, &namespace).gone(LIMIT).await?;
        let took = begun.elapsed();
        let (cpu, peak_mib) = (cpu_of(eno.pid())?, peak_of(eno.pid())?);
        let requests = (Requests::of(cluster).await?.since(&before) - polls as f64) / self.slices as f64;
        Ok(Run { took, requests, cpu, peak_mib })
    }

    /// From the answer to a composition's change until the DELETE of what it no longer refers to is seen.
    async fn latency(&self, cluster: &Cluster) -> Result<Times> {
        let namespace = Namespace::new(cluster, "latency").await?;
        let name = namespace.name();
        let rounds = 40;
        for index in 0..rounds {
            let composition = format!("c{index}");
            let owner = cluster.apply(&fixtures::composition(name, &composition)).await?;
            let manifests = [fixtures::config_map(name, &composition, 0)];
            cluster.apply(&fixtures::slice(&owner, &format!("{composition}-old"), "", &manifests)).await?;
            cluster.apply(&fixtures::slice(&owner, &format!("{composition}-new"), "", &manifests)).await?;
            let current =
                fixtures::reconciled_synthesis("1", owner.metadata.generation, &[&format!("{composition}-old")]);
            cluster
                .set_status(&fixtures::composition(name, &composition), &json!({"currentSynthesis": current}))
                .await?;
        }
        tokio::time::sleep(AGE + Duration::from_secs(1)).await;
        let options = WebhookOptions {
            namespace: name.to_owned(),
            profile: Profile::Release,
            controllers: "*",
            unregistered: true,
            ..WebhookOptions::default()
        };
        let _webhook = Webhook::start(cluster, options).await?;
        let slices = cluster.eno("ResourceSlice", name);
        eventually("the first look at all to be over", LIMIT, async || {
            let left = slices.list_metadata(&ListParams::default()).await?.items.len();
            ensure!(left == rounds, "{left} of {rounds} are left");
            Ok(())
        })
        .await?;
        let mut times = Times::default();
        for index in 0..rounds {
            let (composition, old) = (format!("c{index}"), format!("c{index}-old"));
            let version = slices.get_metadata(&old).await?.metadata.resource_version.unwrap_or_default();
            let selected = kube::api::WatchParams::default().fields(&format!("metadata.name={old}"));
            let mut events = std::pin::pin!(slices.watch_metadata(&selected, &version).await?);
            let current = fixtures::reconciled_synthesis("2", Some(1), &[]);
            cluster
                .set_status(&fixtures::composition(name, &composition), &json!({"currentSynthesis": current}))
                .await?;
            let begun = Instant::now();
            events.try_next().await?;
            times.add(begun.elapsed());
        }
        Ok(times)
    }

    /// CPU of the process in percent of a core while nothing happens, and its peak memory.
    async fn idle(&self, cluster: &Cluster) -> Result<(f64, f64)> {
        let namespace = Namespace::new(cluster, "idle").await?;
        let load = Load { size: 100, ..self.load(cluster, &namespace) };
        load.make_referenced(self.compositions, self.idle).await?;
        let options = WebhookOptions {
            namespace: namespace.name().to_owned(),
            profile: Profile::Release,
            controllers: "*",
            unregistered: true,
            ..WebhookOptions::default()
        };
        let webhook = Webhook::start(cluster, options).await?;
        let pid = webhook.pid().unwrap_or_default();
        eventually("all slices to be known", LIMIT, async || {
            let kept = webhook.count("eno_webhook_slices", &["verdict=\"Keep\""]).await?;
            ensure!(kept as usize == self.idle, "{kept} are kept");
            Ok(())
        })
        .await?;
        let (before, begun) = (cpu_of(pid)?, Instant::now());
        tokio::time::sleep(Duration::from_secs(30)).await;
        let used = cpu_of(pid)?.saturating_sub(before);
        Ok((used.as_secs_f64() * 100.0 / begun.elapsed().as_secs_f64(), peak_of(pid)?))
    }
}

async fn delete_and_release(slices: &Api<DynamicObject>, name: String, uid: Option<String>) -> Result<()> {
    let params =
        DeleteParams { preconditions: Some(Preconditions { uid, resource_version: None }), ..DeleteParams::default() };
    slices.delete(&name, &params).await?;
    let patch = json_patch::Patch(vec![
        serde_json::from_value(json!({"op": "test", "path": "/metadata/finalizers/0", "value": CLEANUP_FINALIZER}))?,
        serde_json::from_value(json!({"op": "remove", "path": "/metadata/finalizers/0"}))?,
    ]);
    slices.patch_metadata(&name, &PatchParams::default(), &Patch::Json::<()>(patch)).await?;
    Ok(())
}

/// A table in Markdown.
pub(super) struct Table {
    pub text: String,
}

impl Default for Table {
    fn default() -> Self {
        Self { text: "| figure | measured | must |\n|---|---|---|\n".to_owned() }
    }
}

impl Table {
    pub(super) fn row(&mut self, figure: &str, measured: &str, must: &str) {
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "| {figure} | {measured} | {must} |");
    }
}
