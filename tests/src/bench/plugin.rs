//! What `kubectl eno slices -A` needs, which reads compositions as well and judges, beside `kubectl get`; and how fast it
//! reads dumps.
//!
//! All in one run on one control plane. The floor is the same lists of metadata by a bare HTTP client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use kube::api::PostParams;
use kube::core::Request;
use kube::core::params::ListParams;
use serde_json::{Value, json};

use super::cleanup::Table;
use super::measure::Needs;
use crate::cluster::Cluster;
use crate::fixtures;
use crate::namespace::Namespace;
use crate::workspace;

/// Writes in flight while the objects are made.
const IN_FLIGHT: usize = 16;
/// A page, as kubectl and the plugin ask for it.
const PAGE: u32 = 500;
const RUNS: usize = 5;
const MIB: f64 = 1024.0 * 1024.0;

/// Arguments of `cargo xtask bench plugin`.
#[derive(Debug, clap::Args)]
pub struct Plugin {
    /// How many slices
    #[arg(long, value_name = "N", default_value_t = 5000)]
    slices: usize,
    /// Of how many compositions
    #[arg(long, value_name = "N", default_value_t = 200)]
    compositions: usize,
    /// Of how many bytes each
    #[arg(long, value_name = "BYTES", default_value_t = 20_000)]
    size: usize,
}

impl Plugin {
    /// With so many slices, of so many compositions, of so many bytes.
    pub(super) fn of(slices: usize, compositions: usize, size: usize) -> Self {
        Plugin { slices, compositions, size }
    }

    /// Measures, prints a table, and keeps it in docs/.
    ///
    /// # Errors
    /// The control plane refuses something, or a command fails.
    pub async fn run(&self, cluster: &Cluster) -> Result<()> {
        let namespace = Namespace::new(cluster, "plugin").await?;
        eprintln!("making {} slices …", self.slices);
        self.make(cluster, namespace.name()).await?;
        let dir = tempfile::tempdir()?;
        let mut table = Table::default();
        self.live(cluster, &mut table).await?;
        self.offline(cluster, dir.path(), &mut table)?;
        start(&mut table)?;
        println!("{}", table.text);
        let head = format!(
            "# Figures of the plugin\n\n`cargo xtask bench plugin`: {} slices of {} bytes, of {} compositions, each listed by \
             its composition; all in one run on one machine of two cores, which the control plane shares. Of each command \
             the run of the median wall time; memory is the peak of its process.\n\n",
            self.slices, self.size, self.compositions
        );
        fs::write(workspace::root().join("docs/figures-plugin.md"), head + &table.text)?;
        Ok(())
    }

    async fn live(&self, cluster: &Cluster, table: &mut Table) -> Result<()> {
        eprintln!("kubectl get …");
        let get = Needs::of(&kubectl(cluster, &["get", "resourceslices.eno.azure.io", "-A"]), RUNS)?;
        let json = Needs::of(&kubectl(cluster, &["get", "resourceslices.eno.azure.io", "-A", "-o", "json"]), 1)?;
        eprintln!("kubectl eno …");
        let ours = Needs::of(&eno(cluster, &["slices", "-A"]), RUNS)?;
        let ours_json = Needs::of(&eno(cluster, &["slices", "-A", "-o", "json"]), RUNS)?;
        let floor = floor(cluster).await?;
        let told = |needs: &Needs| {
            format!("{:.2} s, {:.1} MiB, {:.2} s CPU", needs.wall.as_secs_f64(), needs.mib, needs.cpu.as_secs_f64())
        };
        let ratio = |ours: Duration, theirs: Duration| ours.as_secs_f64() / theirs.as_secs_f64();
        table.row(
            "`kubectl eno slices -A`: wall time, of `kubectl get -A`",
            &format!("{:.2} ×", ratio(ours.wall, get.wall)),
            "≤ 0.4",
        );
        table.row("memory, of `kubectl get -A`", &format!("{:.2} ×", ours.mib / get.mib), "≤ 0.35");
        table.row("CPU, of `kubectl get -A`", &format!("{:.2} ×", ratio(ours.cpu, get.cpu)), "≤ 0.25");
        table.row("`kubectl eno slices -A`", &told(&ours), "");
        table.row("`kubectl eno slices -A -o json`", &told(&ours_json), "");
        table.row("`kubectl get resourceslices -A`", &told(&get), "");
        table.row("`kubectl get resourceslices -A -o json`", &told(&json), "");
        table.row(
            "the floor: the same metadata lists by a bare HTTP client",
            &format!("{:.2} s", floor.as_secs_f64()),
            "",
        );
        Ok(())
    }

    fn offline(&self, cluster: &Cluster, dir: &Path, table: &mut Table) -> Result<()> {
        let facts = dir.join("snapshot.json");
        run(eno(cluster, &["snapshot", "-A", "--output-file"]).arg(&facts))?;
        let facts = fs::metadata(&facts)?.len() as f64 / MIB;
        for (form, must) in [("json", 150.0), ("yaml", 25.0)] {
            eprintln!("a dump in {form} …");
            let dump = dir.join(format!("dump.{form}"));
            let kinds = "resourceslices.eno.azure.io,compositions.eno.azure.io";
            run(kubectl(cluster, &["get", kinds, "-A", "-o", form]).stdout(fs::File::create(&dump)?))?;
            let megabytes = fs::metadata(&dump)?.len() as f64 / 1e6;
            let path = dump.display().to_string();
            let needs = Needs::of(&eno(cluster, &["slices", "--complete", "-f", &path]), 3)?;
            table.row(
                &format!("offline, {form} of {megabytes:.0} MB"),
                &format!("{:.0} MB/s ({:.2} s)", megabytes / needs.wall.as_secs_f64(), needs.wall.as_secs_f64()),
                &format!("≥ {must} MB/s"),
            );
            let bound = 2.0 * facts + 64.0;
            table.row(
                &format!("offline, {form}: memory"),
                &format!("{:.1} MiB", needs.mib),
                &format!("≤ {bound:.0} MiB: 2 × the kept facts ({facts:.1} MiB) + 64 MiB"),
            );
            let whole = Needs::of(&eno(cluster, &["why", "comp/c0", "--complete", "-f", &path]), 1)?;
            table.row(
                &format!("offline, {form}, with the names in all manifests: `why`"),
                &format!("{:.0} MB/s, {:.0} MiB", megabytes / whole.wall.as_secs_f64(), whole.mib),
                "",
            );
        }
        Ok(())
    }

    /// Compositions that list their slices, all reconciled; manifests as synthesizers write them, with many short fields.
    pub(super) async fn make(&self, cluster: &Cluster, namespace: &str) -> Result<()> {
        let owner =
            |index: usize| async move { cluster.apply(&fixtures::composition(namespace, &format!("c{index}"))).await };
        let owners: Vec<_> = stream::iter(0..self.compositions).map(owner).buffered(IN_FLIGHT).try_collect().await?;
        let manifest = manifest(self.size);
        let api = cluster.eno("ResourceSlice", namespace);
        let slice = |index: usize| {
            let owner = &owners[index % owners.len()];
            let slice = fixtures::slice(owner, &format!("s{index}"), "1", std::slice::from_ref(&manifest));
            let api = &api;
            async move { anyhow::Ok(api.create(&PostParams::default(), &serde_json::from_value(slice)?).await.map(drop)?) }
        };
        stream::iter(0..self.slices).map(slice).buffer_unordered(IN_FLIGHT).try_collect::<Vec<()>>().await?;
        let refer = |index: usize| async move {
            let names = (index..self.slices).step_by(self.compositions).map(|slice| format!("s{slice}"));
            let names: Vec<String> = names.collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let current = fixtures::reconciled_synthesis("1", Some(1), &names);
            let composition = fixtures::composition(namespace, &format!("c{index}"));
            cluster.set_status(&composition, &json!({"currentSynthesis": current})).await
        };
        stream::iter(0..self.compositions).map(refer).buffer_unordered(IN_FLIGHT).try_collect::<Vec<_>>().await?;
        Ok(())
    }
}

fn manifest(size: usize) -> Value {
    let mut data = serde_json::Map::new();
    for index in 0..size / 32 {
        data.insert(format!("setting-{index:04}"), format!("value {index:04}").into());
    }
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}, "data": data})
}

/// The time of `--help`, and the size of the binary.
fn start(table: &mut Table) -> Result<()> {
    let mut help = Command::new(binary());
    help.arg("--help");
    let needs = Needs::of(&help, 21)?;
    table.row("start (`--help`)", &format!("{:.1} ms", needs.wall.as_secs_f64() * 1000.0), "≤ 10 ms");
    let size = fs::metadata(binary())?.len() as f64 / 1e6;
    table.row("binary", &format!("{size:.1} MB"), "≤ 15 MB");
    Ok(())
}

/// Metadata of slices and compositions, page by page; nothing of it is read but the token of the next page. The median.
async fn floor(cluster: &Cluster) -> Result<Duration> {
    let mut runs = vec![];
    for _ in 0..RUNS {
        let begun = Instant::now();
        let lists = ["resourceslices", "compositions"].map(|plural| pages(cluster, plural));
        futures::future::try_join_all(lists).await?;
        runs.push(begun.elapsed());
    }
    runs.sort();
    Ok(runs[RUNS / 2])
}

async fn pages(cluster: &Cluster, plural: &str) -> Result<()> {
    let request = Request::new(format!("/apis/eno.azure.io/v1/{plural}"));
    let mut params = ListParams::default().limit(PAGE);
    loop {
        let text = cluster.client().request_text(request.list_metadata(&params)?).await?;
        let token =
            text.split_once("\"continue\":\"").and_then(|(_, rest)| rest.split_once('"')).map(|(token, _)| token);
        match token.filter(|token| !token.is_empty()) {
            Some(token) => params.continue_token = Some(token.to_owned()),
            None => return Ok(()),
        }
    }
}

fn binary() -> PathBuf {
    workspace::target().join("release/kubectl-eno")
}

fn eno(cluster: &Cluster, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args);
    // Files are read without a cluster.
    command.env("KUBECONFIG", cluster.kubeconfig());
    command
}

fn kubectl(cluster: &Cluster, args: &[&str]) -> Command {
    let mut command = Command::new(cluster.kubectl_path());
    command.args(args).env("KUBECONFIG", cluster.kubeconfig());
    command.env("KUBECACHEDIR", cluster.kubeconfig().with_file_name("kubectl-cache"));
    command
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).spawn().with_context(|| format!("running {command:?}"))?.wait()?;
    ensure!(output.success(), "{command:?} ended with {output}");
    Ok(())
}
