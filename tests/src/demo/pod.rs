//! A pod's end arrives: when it is truly gone, and not when its deletion begins.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use kube::ResourceExt;
use kube::api::{DeleteParams, Preconditions};
use serde_json::json;

use super::stage::Stage;
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::namespace::Namespace;
use crate::process::Process;
use crate::webhook::{Webhook, WebhookOptions};
use crate::workspace;

/// How long a step may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The receiver of the examples, and what it prints.
struct Receiver {
    process: Process,
    url: String,
}

impl Receiver {
    async fn start(log: &Path) -> Result<Self> {
        let mut command = Command::new(workspace::target().join("debug/examples/receive_destroys"));
        command.arg("127.0.0.1:0");
        let process = Process::spawn("receive_destroys", &command, log)?;
        let url = eventually("the receiver to listen", LIMIT, async || {
            let printed = fs::read_to_string(log)?;
            printed.trim().strip_prefix("listening ").map(str::to_owned).context("it does not")
        });
        Ok(Self { url: url.await?, process })
    }

    /// All that it has printed of destroys.
    fn told(&self) -> Result<String> {
        let printed = fs::read_to_string(self.process.log())?;
        Ok(printed.lines().skip(1).collect::<Vec<_>>().join("\n"))
    }
}

/// Deletes a pod, lets its node end it a little later, and shows what the receiver prints.
pub async fn tell(stage: &Stage, cluster: &Cluster) -> Result<()> {
    let namespace = Namespace::new(cluster, "pods").await?;
    let (name, folder) = (namespace.name(), tempfile::tempdir()?);
    let receiver = Receiver::start(&folder.path().join("log")).await?;
    let options = WebhookOptions {
        namespace: name.to_owned(),
        controllers: "pods",
        unregistered: true,
        flags: vec![format!("--sink-url={}", receiver.url), "--sink-allow-local".to_owned()],
        ..WebhookOptions::default()
    };
    let webhook = stage.wait("eno-webhook --sink-url …", Webhook::start(cluster, options)).await?;
    let pod = stage.wait("a synthesizer's pod starts", synthesizer(cluster, &webhook, name)).await?;
    stage.say(&format!(
        "The 20 lines of webhook/examples/receive_destroys.rs listen; eno-webhook follows pod {name}/{}.",
        pod.name_any()
    ));
    stage.kubectl(&["delete", "pod", &pod.name_any(), "-n", name, "--wait=false"]).await?;
    stage.wait("its node takes its time", candidate(&webhook)).await?;
    ensure!(receiver.told()?.is_empty(), "an end was told of a pod that is there: please report this");
    stage.say("Its deletion has begun, it still runs, and nobody is told. Now its node has stopped it:");
    let preconditions = Some(Preconditions { uid: pod.uid(), resource_version: None });
    let stopped = DeleteParams { preconditions, ..DeleteParams::default().grace_period(0) };
    cluster.api("v1", "Pod", Some(name)).delete(&pod.name_any(), &stopped).await?;
    let uid = pod.uid().unwrap_or_default();
    let told = eventually("the receiver to be told", LIMIT, async || {
        let told = receiver.told()?;
        ensure!(told.contains(&uid), "it prints {told:?}");
        Ok(told)
    });
    stage.say(&stage.wait("the receiver", told).await?);
    Ok(())
}

/// A pod of a synthesizer on a node, once it is followed.
async fn synthesizer(cluster: &Cluster, webhook: &Webhook, namespace: &str) -> Result<kube::api::DynamicObject> {
    let metadata =
        json!({"name": "synthesizer-7k2xq", "namespace": namespace, "labels": {MANAGED_BY_LABEL: MANAGED_BY_ENO}});
    let spec = json!({
        "nodeName": "node-1", "automountServiceAccountToken": false,
        "containers": [{"name": "synthesizer", "image": "none"}],
    });
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    cluster.apply(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}})).await?;
    // The namespace has no service account at first, without which no pod is made.
    let made = eventually("the pod to be made", LIMIT, async || cluster.apply(&pod).await).await?;
    eventually("the pod to be followed", LIMIT, async || {
        ensure!(webhook.count("eno_webhook_pods_followed", &[]).await? == 1, "it is not");
        Ok(())
    })
    .await?;
    Ok(made)
}

/// Until eno-webhook has looked at the pod that is going, and found it.
async fn candidate(webhook: &Webhook) -> Result<()> {
    eventually("the pod to be looked at", LIMIT, async || {
        let looks = webhook.count("eno_webhook_pod_looks_total", &["result=\"found\""]).await?;
        ensure!(looks > 0, "it was not");
        Ok(())
    })
    .await
}
