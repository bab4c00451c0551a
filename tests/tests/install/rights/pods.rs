//! What the webhook needs rights for where it follows pods: it is made to use each.

use anyhow::{Context, Result, ensure};
use eno_shared::names::{
    MANAGED_BY_ENO, MANAGED_BY_LABEL, OUTBOX_LABEL, OUTBOX_REQUEST, OUTBOX_SHARD, POD_COMPOSITION,
    POD_COMPOSITION_NAMESPACE, WEBHOOK_NAMESPACE,
};
use eno_tests::eventually::eventually;
use eno_tests::manifests::ground::Ground;
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, ListParams};
use serde_json::{Value, json};

use super::{LIMIT, TEAM, kubectl};

const POD: &str = "synthesizer-7k2xq";
const NODE: &str = "node-1";

/// A pod is followed while it is going, read live with its node and its CiliumEndpoint, and told when it is gone. The outbox is
/// written, also after somebody else has changed it, and carries out what is asked of it.
pub async fn follows_a_pod(ground: &Ground) -> Result<()> {
    let uid = synthesizer(ground).await?;
    kubectl(ground, &["delete", "pod", POD, "--wait=false"]).await?.success()?;
    // Without a kubelet it stays.
    let noted = eventually("its sandbox to be noted", LIMIT, async || {
        let (shard, entry) = entry(ground, &uid).await?.context("it is not in the outbox")?;
        let sandboxes = &entry["following"]["record"]["sandboxes"];
        ensure!(sandboxes[0] == json!({"source": "cilium", "id": "c1"}), "{entry}");
        Ok(shard)
    });
    // A write over another's change fails, and the shard is read again.
    let touch = ["annotate", "configmap", &noted.await?, "--namespace", WEBHOOK_NAMESPACE, "touched=true"];
    ground.kubectl(&touch).await?.success()?;
    ground.cluster().api("v1", "Pod", Some(TEAM)).delete(POD, &DeleteParams::default().grace_period(0)).await?;
    eventually("its end to be told", LIMIT, async || {
        let events = ground.cluster().api("events.k8s.io/v1", "Event", Some(TEAM)).list(&ListParams::default()).await?;
        let told = events.iter().find(|event| event.data["reason"] == "PodGone").context("no Event says so")?;
        ensure!(told.data["regarding"]["name"] == "web", "it is about {}", told.data["regarding"]);
        ensure!(entry(ground, &uid).await?.is_none(), "it is still in the outbox");
        Ok(())
    })
    .await?;

    let request = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"redeliver": "*"},
        "metadata": {"name": "again", "namespace": WEBHOOK_NAMESPACE, "labels": {OUTBOX_LABEL: OUTBOX_REQUEST}},
    });
    ground.cluster().apply(&request).await?;
    eventually("the request to be carried out", LIMIT, async || {
        let left = ground.cluster().api("v1", "ConfigMap", Some(WEBHOOK_NAMESPACE)).get_metadata_opt("again").await?;
        ensure!(left.is_none(), "it exists");
        Ok(())
    })
    .await
}

/// A synthesizer's pod that works for composition `web`, on a node, with a sandbox that Cilium knows. Returns its uid.
async fn synthesizer(ground: &Ground) -> Result<String> {
    let cluster = ground.cluster();
    cluster.apply(&cilium_endpoints()).await?;
    let endpoint = json!({
        "apiVersion": "cilium.io/v2", "kind": "CiliumEndpoint", "metadata": {"name": POD, "namespace": TEAM},
        "status": {"external-identifiers": {"container-id": "c1"}},
    });
    eventually("Cilium's kind to be served", LIMIT, async || cluster.apply(&endpoint).await).await?;
    cluster.apply(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})).await?;
    let labels = json!({MANAGED_BY_LABEL: MANAGED_BY_ENO, POD_COMPOSITION: "web", POD_COMPOSITION_NAMESPACE: TEAM});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD, "namespace": TEAM, "labels": labels},
        "spec": {
            "nodeName": NODE, "automountServiceAccountToken": false, "containers": [{"name": "c", "image": "none"}],
        },
    });
    // A new namespace has no service account at first, without which no pod is made.
    let made = eventually("the pod to be made", LIMIT, async || cluster.apply(&pod).await).await?;
    made.uid().context("it has no uid")
}

/// The shard in which a pod is noted, by name, and what is noted.
async fn entry(ground: &Ground, uid: &str) -> Result<Option<(String, Value)>> {
    let labelled = ListParams::default().labels(&format!("{OUTBOX_LABEL}={OUTBOX_SHARD}"));
    let shards = ground.cluster().api("v1", "ConfigMap", Some(WEBHOOK_NAMESPACE)).list(&labelled).await?;
    let found = |shard: &DynamicObject| Some((shard.name_any(), shard.data["data"][uid].as_str()?.to_owned()));
    let Some((shard, text)) = shards.iter().find_map(found) else { return Ok(None) };
    Ok(Some((shard, serde_json::from_str(&text)?)))
}

/// Cilium's kind, as far as it matters here.
fn cilium_endpoints() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "ciliumendpoints.cilium.io"},
        "spec": {
            "group": "cilium.io", "scope": "Namespaced",
            "names": {"plural": "ciliumendpoints", "singular": "ciliumendpoint", "kind": "CiliumEndpoint"},
            "versions": [{
                "name": "v2", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}
