//! The pods, and a webhook that follows them.

use std::collections::HashMap;
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

use super::super::load::{peak_of, status_of};
use super::LIMIT;
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::namespace::Namespace;
use crate::receiver::Receiver;
use crate::webhook::{Profile, Webhook, WebhookOptions};

/// Writes in flight while pods are made.
const MAKING: usize = 16;
/// Deletions in flight.
pub(super) const DELETING: usize = 64;

/// MiB of a process.
pub(super) struct Memory {
    pub(super) resident: f64,
    pub(super) peak: f64,
}

pub(super) struct Ground<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) namespace: &'a Namespace,
}

/// Pods that are to be deleted.
pub(super) struct Chosen {
    pub(super) names: Vec<String>,
    /// The version of the list that they were chosen from.
    pub(super) version: String,
}

/// Pods that were deleted.
pub(super) struct Gone {
    /// When each left the API, by uid: its DELETE was answered, or a watch told of it, whichever is earlier.
    pub(super) at: HashMap<String, Instant>,
    /// How long it took to delete them all.
    pub(super) took: Duration,
}

impl Ground<'_> {
    pub(super) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.cluster.client(), self.namespace.name())
    }

    /// Makes pods that run, as far as the API server can tell.
    pub(super) async fn populate(&self, pods: usize, nodes: usize) -> Result<()> {
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
    pub(super) async fn following(&self, pods: usize, receiver: &Receiver) -> Result<Webhook> {
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
    pub(super) async fn noted(&self, entries: usize) -> Result<()> {
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

    pub(super) async fn memory(&self, pods: usize) -> Result<Memory> {
        let receiver = Receiver::start().await?;
        let webhook = self.following(pods, &receiver).await?;
        let pid = webhook.pid().context("it has ended")?;
        tokio::time::sleep(SWEEP * 2).await;
        Ok(Memory { resident: status_of(pid, "VmRSS:")?, peak: peak_of(pid)? })
    }

    /// So many of the pods, evenly spread.
    pub(super) async fn choose(&self, ends: usize) -> Result<Chosen> {
        let all = self.pods().list_metadata(&ListParams::default()).await?;
        let step = (all.items.len() / ends.max(1)).max(1);
        let names = all.items.iter().step_by(step).take(ends).map(ResourceExt::name_any).collect();
        Ok(Chosen { names, version: all.metadata.resource_version.unwrap_or_default() })
    }

    /// Deletes them at once.
    pub(super) async fn end(&self, chosen: &Chosen) -> Result<Gone> {
        let watched = self.watch(chosen.version.clone(), chosen.names.len());
        let begun = Instant::now();
        let mut at = self.delete(&chosen.names).await?;
        let took = begun.elapsed();
        for (uid, told) in watched.await?? {
            at.entry(uid).and_modify(|answered| *answered = (*answered).min(told)).or_insert(told);
        }
        Ok(Gone { at, took })
    }

    /// Deletes pods at once; by uid, when that was answered.
    pub(super) async fn delete(&self, names: &[String]) -> Result<HashMap<String, Instant>> {
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
}

fn node(index: usize) -> String {
    format!("node-{index:03}")
}
