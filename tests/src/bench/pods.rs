//! How soon it is told that pods are gone, and what that costs: 10,000 pods are followed, and 1,000 of them end at once.
//!
//! Their nodes have no kubelet, so that nothing but the API server has a part in their end. Beside it stands the way
//! of the monitor that was the model: one GET for each pod, in sequence, every 5 s.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL, OUTBOX_LABEL, OUTBOX_SHARD};
use eno_shared::pods::tracker::SWEEP;
use futures::stream::{self, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use serde_json::json;
use tokio::task::JoinHandle;

use super::cleanup::Table;
use super::figures::Times;
use super::load::{answered, cpu_of, peak_of, status_of};
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::namespace::Namespace;
use crate::receiver::Receiver;
use crate::webhook::{Profile, Webhook, WebhookOptions};
use crate::workspace;

/// How long a step may take.
const LIMIT: Duration = Duration::from_secs(300);
/// Writes in flight while pods are made.
const MAKING: usize = 16;
/// Deletions in flight.
const DELETING: usize = 64;

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

/// What the ends at once needed.
struct Ends {
    times: Times,
    idle_reads: f64,
    reads: f64,
    writes: u64,
    false_destroys: u64,
    cpu: Duration,
    retried: u64,
    deleting: Duration,
}

/// A sweep of the reference.
struct Sweep {
    took: Duration,
    reads: usize,
    times: Times,
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

/// MiB of a process.
struct Memory {
    resident: f64,
    peak: f64,
}

struct Ground<'a> {
    cluster: &'a Cluster,
    namespace: &'a Namespace,
}

impl Ground<'_> {
    fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.cluster.client(), self.namespace.name())
    }

    /// Makes pods that run, as far as the API server can tell.
    async fn populate(&self, pods: usize, nodes: usize) -> Result<()> {
        let all: Api<Node> = Api::all(self.cluster.client());
        for index in 0..nodes {
            let node = serde_json::from_value(json!({"metadata": {"name": node(index)}}))?;
            all.create(&PostParams::default(), &node).await?;
        }
        let api = &self.pods();
        let make = |index: usize| async move {
            let name = format!("synthesizer-{index:05}");
            let pod = json!({
                "metadata": {
                    "name": name,
                    "labels": {
                        MANAGED_BY_LABEL: MANAGED_BY_ENO,
                        "eno.azure.io/synthesizer-name": format!("synthesizer-{}", index % 20),
                        "eno.azure.io/synthesis-uuid": format!("{index:08x}-6393-11e8-b7cc-42010a800002"),
                    },
                },
                "spec": {
                    "nodeName": node(index * nodes / pods), "automountServiceAccountToken": false,
                    "containers": [{"name": "synthesizer", "image": "none"}],
                },
            });
            api.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
            let ip = format!("10.{}.{}.{}", 1 + index / 65536, index / 256 % 256, index % 256);
            let condition = json!({"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": "2026-03-01T12:00:00Z"});
            let status =
                json!({"status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [condition]}});
            api.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await?;
            anyhow::Ok(())
        };
        // The namespace has no service account at first, without which no pod is made.
        let first = async || make(0).await;
        eventually("a first pod to be made", LIMIT, first).await?;
        stream::iter(1..pods).map(make).buffer_unordered(MAKING).try_collect::<Vec<()>>().await?;
        Ok(())
    }

    /// A webhook that follows all pods, and has noted them.
    async fn following(&self, pods: usize, receiver: &Receiver) -> Result<Webhook> {
        let namespace = self.namespace.name();
        let options = WebhookOptions {
            namespace: namespace.to_owned(),
            profile: Profile::Release,
            controllers: "pods",
            unregistered: true,
            flags: receiver.flags().to_vec(),
            ..WebhookOptions::default()
        };
        let webhook = Webhook::start(self.cluster, options).await?;
        eventually("all pods to be followed", LIMIT, async || {
            let followed = webhook.count("eno_webhook_pods_followed", &[]).await?;
            // Those that were followed before are known before they are listed.
            let lists = webhook.count("eno_webhook_pod_relists_total", &["result=\"read\""]).await?;
            ensure!(followed as usize == pods && lists > 0, "{followed} are followed, after {lists} lists");
            Ok(())
        })
        .await?;
        self.noted(pods).await?;
        Ok(webhook)
    }

    /// Waits until the outbox has this many entries.
    async fn noted(&self, entries: usize) -> Result<()> {
        let shards: Api<ConfigMap> = Api::namespaced(self.cluster.client(), self.namespace.name());
        let labelled = ListParams::default().labels(&format!("{OUTBOX_LABEL}={OUTBOX_SHARD}"));
        eventually(&format!("{entries} entries to be in the outbox"), LIMIT, async || {
            let noted: usize = shards
                .list(&labelled)
                .await?
                .iter()
                .map(|shard| shard.data.as_ref().map_or(0, |data| data.len()))
                .sum();
            ensure!(noted == entries, "{noted} are");
            Ok(())
        })
        .await
    }

    async fn memory(&self, pods: usize) -> Result<Memory> {
        let receiver = Receiver::start().await?;
        let webhook = self.following(pods, &receiver).await?;
        let pid = webhook.pid().context("it has ended")?;
        tokio::time::sleep(SWEEP * 2).await;
        Ok(Memory { resident: status_of(pid, "VmRSS:")?, peak: peak_of(pid)? })
    }

    async fn ends(&self, pods: usize, ends: usize) -> Result<Ends> {
        let receiver = Receiver::start().await?;
        let webhook = self.following(pods, &receiver).await?;
        let pid = webhook.pid().context("it has ended")?;
        let writes = async || webhook.count("eno_webhook_outbox_writes_total", &[]).await;

        let idle = reads(self.cluster).await?;
        tokio::time::sleep(SWEEP * 3).await;
        let idle_reads = reads(self.cluster).await? - idle;

        let all = self.pods().list_metadata(&ListParams::default()).await?;
        let chosen: Vec<_> =
            all.items.iter().step_by((pods / ends).max(1)).take(ends).map(ResourceExt::name_any).collect();
        let watched = self.watch(all.metadata.resource_version.unwrap_or_default(), ends);
        let (reads_before, writes_before, cpu_before) = (reads(self.cluster).await?, writes().await?, cpu_of(pid)?);
        let begun = Instant::now();
        let mut gone = self.delete(&chosen).await?;
        let deleting = begun.elapsed();
        for (uid, at) in watched.await?? {
            gone.entry(uid).and_modify(|answered| *answered = (*answered).min(at)).or_insert(at);
        }
        eventually("all ends to be told", LIMIT, async || {
            ensure!(receiver.count() >= ends, "{} are", receiver.count());
            Ok(())
        })
        .await?;
        let cpu = cpu_of(pid)?.saturating_sub(cpu_before);
        let reads = reads(self.cluster).await? - reads_before;
        self.noted(pods - ends).await?;

        let received = receiver.received();
        let mut times = Times::default();
        for end in &received {
            let at =
                gone.get(end.uid()).with_context(|| format!("{} was told and not deleted", end.event["subject"]))?;
            times.add(end.at.saturating_duration_since(*at));
        }
        ensure!(received.len() == ends, "{} ends of {ends} pods were told", received.len());
        Ok(Ends {
            times,
            idle_reads,
            reads,
            writes: writes().await? - writes_before,
            false_destroys: webhook.count("eno_webhook_pod_false_destroys_total", &[]).await?,
            cpu,
            retried: webhook.count("eno_webhook_sink_attempts_total", &["result=\"retried\""]).await?,
            deleting,
        })
    }

    /// Deletes pods at once; by uid, when that was answered.
    async fn delete(&self, names: &[String]) -> Result<HashMap<String, Instant>> {
        let api = &self.pods();
        let at_once = &DeleteParams::default().grace_period(0);
        let delete = |name: String| async move {
            let deleted = api.delete(&name, at_once).await?;
            let uid = deleted.left().and_then(|pod| pod.metadata.uid).context("it is not the pod that was answered")?;
            anyhow::Ok((uid, Instant::now()))
        };
        stream::iter(names.to_vec()).map(delete).buffer_unordered(DELETING).try_collect().await
    }

    /// Watches until so many pods went; by uid, when that was told.
    fn watch(&self, version: String, count: usize) -> JoinHandle<Result<HashMap<String, Instant>>> {
        let api = self.pods();
        tokio::spawn(async move {
            let mut gone = HashMap::new();
            let params = WatchParams::default();
            let mut events = std::pin::pin!(api.watch_metadata(&params, &version).await?);
            while gone.len() < count {
                let event = events.try_next().await?.context("the watch has ended")?;
                if let WatchEvent::Deleted(pod) = event {
                    gone.insert(pod.metadata.uid.unwrap_or_default(), Instant::now());
                }
            }
            Ok(gone)
        })
    }

    /// One GET for each pod, in sequence, while some of them have just ended.
    async fn sweep(&self, ends: usize) -> Result<Sweep> {
        let api = self.pods();
        let all = api.list_metadata(&ListParams::default()).await?;
        let names: Vec<_> = all.iter().map(ResourceExt::name_any).collect();
        let chosen: Vec<_> = names.iter().step_by((names.len() / ends.max(1)).max(1)).take(ends).cloned().collect();
        self.delete(&chosen).await?;
        let (begun, mut times) = (Instant::now(), Times::default());
        for name in &names {
            if api.get_opt(name).await?.is_none() {
                times.add(begun.elapsed());
            }
        }
        Ok(Sweep { took: begun.elapsed(), reads: names.len(), times })
    }
}

fn node(index: usize) -> String {
    format!("node-{index:03}")
}

/// How many reads of pods and nodes the API server has answered.
async fn reads(cluster: &Cluster) -> Result<f64> {
    let reads = answered(cluster, |line| {
        (line.contains("resource=\"pods\"") || line.contains("resource=\"nodes\""))
            && (line.contains("verb=\"GET\"") || line.contains("verb=\"LIST\""))
    });
    reads.await
}
