//! A namespace with pods, a webhook that follows them, and a receiver that is told.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL, OUTBOX_LABEL};
use eno_tests::cluster::Cluster;
use eno_tests::eventually::eventually;
use eno_tests::proxy::Proxy;
use eno_tests::receiver::{Received, Receiver};
use eno_tests::webhook::{Guarded, WebhookOptions};
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

/// The machine may be busy, and some wait for two sweeps.
pub const LIMIT: Duration = Duration::from_secs(60);

pub struct Ground {
    pub guarded: Guarded,
    pub receiver: Receiver,
    pub pods: Api<DynamicObject>,
    node: String,
}

/// How the webhook is started.
#[derive(Default)]
pub struct Start<'a> {
    pub proxy: Option<&'a Proxy>,
    pub registered: bool,
    pub flags: &'a [&'a str],
}

impl Ground {
    /// On the shared control plane.
    pub async fn new(hint: &str) -> Result<Self> {
        Self::on(Cluster::connect().await, hint).await
    }

    pub async fn on(cluster: Cluster, hint: &str) -> Result<Self> {
        let guarded = Guarded::on(cluster.clone(), hint).await?;
        let pods = cluster.api("v1", "Pod", Some(guarded.name()));
        let node = format!("node-{}", guarded.name());
        Ok(Ground { receiver: Receiver::start().await?, pods, node, guarded })
    }

    /// The same, and the webhook follows.
    pub async fn following(hint: &str) -> Result<Self> {
        let mut ground = Self::new(hint).await?;
        ground.follow(Start::default()).await?;
        Ok(ground)
    }

    /// Starts the webhook, in place of the one that runs.
    pub async fn follow(&mut self, start: Start<'_>) -> Result<()> {
        let mut flags = vec!["--v=2".to_owned()];
        flags.extend(self.receiver.flags());
        flags.extend(start.flags.iter().map(|&flag| flag.to_owned()));
        let options = WebhookOptions {
            controllers: "pods",
            unregistered: !start.registered,
            kubeconfig: start.proxy.map(|proxy| proxy.kubeconfig().to_owned()),
            flags,
            ..WebhookOptions::default()
        };
        self.guarded.guard_with(options).await
    }

    pub async fn proxy(&self) -> Result<Proxy> {
        Proxy::start(self.guarded.cluster()).await
    }

    /// Makes a pod of a synthesizer on a node, as this, and returns its uid.
    pub async fn pod_as(&self, name: &str, change: impl FnOnce(&mut Value)) -> Result<String> {
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {MANAGED_BY_LABEL: MANAGED_BY_ENO, "name": name}},
            "spec": {
                "nodeName": self.node, "automountServiceAccountToken": false,
                "containers": [{"name": "c", "image": "none"}],
            },
        });
        change(&mut pod);
        let pod: DynamicObject = serde_json::from_value(pod)?;
        // The service account of a new namespace takes a moment.
        let made = eventually("the pod to be made", LIMIT, async || {
            Ok(self.pods.create(&PostParams::default(), &pod).await?)
        })
        .await?;
        made.uid().context("it has no uid")
    }

    pub async fn pod(&self, name: &str) -> Result<String> {
        self.pod_as(name, |_| {}).await
    }

    pub async fn status(&self, name: &str, status: Value) -> Result<()> {
        let patch = Patch::Merge(json!({"status": status}));
        self.pods.patch_status(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// As a kubelet does it in the end, or a person by force.
    pub async fn delete_at_once(&self, name: &str) -> Result<()> {
        self.pods.delete(name, &DeleteParams::default().grace_period(0)).await?;
        Ok(())
    }

    /// As a person does it: without a kubelet it stays.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.pods.delete(name, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Waits until so much came of a pod, and returns it.
    pub async fn told(&mut self, uid: &str, count: usize) -> Result<Vec<Received>> {
        let told = self.receiver.told(uid, count, LIMIT).await;
        let log = self.guarded.webhook().log()?;
        told.with_context(|| log)
    }

    /// Waits until a metric has a value.
    pub async fn metric(&mut self, metric: &str, labels: &[&str], expected: impl Fn(u64) -> bool) -> Result<u64> {
        let webhook = self.guarded.webhook();
        eventually(&format!("{metric} {labels:?}"), LIMIT, async || {
            let count = webhook.count(metric, labels).await?;
            ensure!(expected(count), "it is {count}; the log:\n{}", webhook.log()?);
            Ok(count)
        })
        .await
    }

    /// Waits until so many pods are followed.
    pub async fn followed(&mut self, count: u64) -> Result<()> {
        self.metric("eno_webhook_pods_followed", &[], |followed| followed == count).await.map(drop)
    }

    /// Waits until so many pods are candidates.
    pub async fn candidates(&mut self, count: u64) -> Result<()> {
        self.metric("eno_webhook_pod_candidates", &[], |candidates| candidates == count).await.map(drop)
    }

    /// The shards of the outbox: what lies in them, by uid.
    pub async fn outbox(&self) -> Result<Vec<(String, Value)>> {
        let maps = self.guarded.cluster().api("v1", "ConfigMap", Some(self.guarded.name()));
        let shards = maps.list(&ListParams::default().labels(&format!("{OUTBOX_LABEL}=shard"))).await?;
        let mut entries = vec![];
        for shard in shards {
            for (uid, text) in shard.data["data"].as_object().into_iter().flatten() {
                let text = text.as_str().context("no text")?;
                entries.push((uid.clone(), serde_json::from_str(text).unwrap_or(Value::Null)));
            }
        }
        Ok(entries)
    }

    /// Waits until the outbox says this of a pod.
    pub async fn noted(&self, uid: &str, says: impl Fn(Option<&Value>) -> bool) -> Result<()> {
        eventually(&format!("the outbox to say something else of {uid}"), LIMIT, async || {
            let outbox = self.outbox().await?;
            let entry = outbox.iter().find(|(key, _)| key == uid).map(|(_, entry)| entry);
            ensure!(says(entry), "it says {entry:?}");
            Ok(())
        })
        .await
    }

    /// Nothing was told wrongly; removes the pods, whose namespace would wait for kubelets.
    pub async fn finish(mut self) -> Result<()> {
        let wrong = self.guarded.webhook().count("eno_webhook_pod_false_destroys_total", &[]).await?;
        assert_eq!(wrong, 0, "pods whose end was told live");
        let at_once = DeleteParams::default().grace_period(0);
        self.pods.delete_collection(&at_once, &ListParams::default()).await?;
        Ok(())
    }
}

/// The causes of what came, in order.
pub fn causes(received: &[Received]) -> Vec<&str> {
    received.iter().map(Received::cause).collect()
}
