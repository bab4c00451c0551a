//! D1, D3: who is gone, or replaced, is told; who only leaves is not.

use anyhow::{Context, Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use eno_tests::eventually::eventually;
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, PropagationPolicy};
use serde_json::{Value, json};

use crate::ground::{Ground, LIMIT, Start, causes};

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_is_gone_is_told_with_all_that_was_known_of_it() -> Result<()> {
    let mut ground = Ground::following("gone").await?;
    let uid = ground.pod("web").await?;
    ground.status("web", json!({"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]})).await?;
    ground.followed(1).await?;
    ground.delete("web").await?;
    ground
        .noted(&uid, |entry| entry.is_some_and(|entry| entry["following"]["record"]["deletedAt"].is_string()))
        .await?;
    assert!(ground.receiver.received().is_empty(), "it is still there");
    ground.delete_at_once("web").await?;

    let told = ground.told(&uid, 1).await?;
    let event = &told[0].event;
    assert_eq!(event["type"], "dev.kubectl-eno.pod.gone.v1");
    let data = &event["data"];
    assert_eq!(data["pod"], json!({"namespace": ground.guarded.name(), "name": "web", "uid": uid}));
    assert_eq!(data["node"], format!("node-{}", ground.guarded.name()));
    assert_eq!(data["podIPs"], json!(["10.1.0.1"]));
    assert_eq!(data["labels"]["name"], "web");
    assert_eq!(data["serviceAccount"], "default");
    assert_eq!(data["sandbox"], json!({"source": "pod-ips", "id": "10.1.0.1"}));
    assert_eq!(data["sequence"], 1);
    assert!(data["deletedAt"].is_string());
    // No such node exists.
    assert_eq!(data["confirmed"], true);
    ground.noted(&uid, |entry| entry.is_none()).await?;
    ground.followed(0).await?;
    assert_eq!(ground.receiver.received().len(), 1);
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_is_deleted_by_force_is_told_at_once() -> Result<()> {
    let mut ground = Ground::following("force").await?;
    let uid = ground.pod("web").await?;
    ground.followed(1).await?;
    ground.delete_at_once("web").await?;
    assert_eq!(causes(&ground.told(&uid, 1).await?), ["Gone"]);
    ground.finish().await
}

/// A StatefulSet makes its pod again, in a gap of the watch: all that is seen of it is another uid.
#[tokio::test(flavor = "multi_thread")]
async fn a_namesake_is_told_as_the_end_of_the_old_pod_before_its_own() -> Result<()> {
    let mut ground = Ground::new("namesake").await?;
    let proxy = ground.proxy().await?;
    ground.follow(Start { proxy: Some(&proxy), ..Start::default() }).await?;
    let (sets, set) = (ground.guarded.cluster().api("apps/v1", "StatefulSet", Some(ground.guarded.name())), set("db"));
    sets.create(&PostParams::default(), &serde_json::from_value(set)?).await?;
    let old = made(&ground, "db-0", None).await?;
    ground.followed(1).await?;
    proxy.freeze();
    ground.delete_at_once("db-0").await?;
    let new = made(&ground, "db-0", Some(&old)).await?;
    proxy.thaw();
    let told = ground.told(&old, 1).await?;
    assert_eq!(causes(&told), ["Replaced"]);
    ground.followed(1).await?;
    let orphaning = DeleteParams { propagation_policy: Some(PropagationPolicy::Orphan), ..DeleteParams::default() };
    sets.delete("db", &orphaning).await?;
    eventually("the set to be gone", LIMIT, async || {
        ensure!(sets.get_metadata_opt("db").await?.is_none(), "it exists");
        Ok(())
    })
    .await?;
    ground.delete_at_once("db-0").await?;
    assert_eq!(causes(&ground.told(&new, 1).await?), ["Gone"]);
    let order: Vec<_> = ground.receiver.received().iter().map(|one| one.uid().to_owned()).collect();
    assert_eq!(order, [old, new]);
    ground.finish().await
}

/// A StatefulSet of one pod of a synthesizer, on a node.
fn set(name: &str) -> Value {
    let labels = json!({MANAGED_BY_LABEL: MANAGED_BY_ENO, "set": name});
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
        "spec": {
            "serviceName": name, "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeName": "node-of-a-set", "automountServiceAccountToken": false,
                    "containers": [{"name": "c", "image": "none"}],
                },
            },
        },
    })
}

/// Waits for a pod of the name that is not this one; returns its uid.
async fn made(ground: &Ground, name: &str, before: Option<&str>) -> Result<String> {
    eventually(&format!("pod {name} to be made"), LIMIT, async || {
        let uid = ground.pods.get_metadata(name).await?.uid().context("it has no uid")?;
        ensure!(before != Some(uid.as_str()), "it is the old one");
        Ok(uid)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_leaves_the_selection_is_not_destroyed() -> Result<()> {
    let mut ground = Ground::following("leaves").await?;
    let uid = ground.pod("web").await?;
    ground.followed(1).await?;
    let other = Patch::Merge(json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "somebody"}}}));
    ground.pods.patch("web", &PatchParams::default(), &other).await?;
    ground.followed(0).await?;
    ground.delete_at_once("web").await?;
    // Another is told, so that this one would have been.
    let next = ground.pod("next").await?;
    ground.followed(1).await?;
    ground.delete_at_once("next").await?;
    ground.told(&next, 1).await?;
    assert!(ground.receiver.of(&uid).is_empty());
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_on_a_lost_node_is_not_confirmed_until_the_node_is_known_to_be_off() -> Result<()> {
    let mut ground = Ground::following("lost-node").await?;
    let name = format!("node-{}", ground.guarded.name());
    let nodes: Api<Node> = Api::all(ground.guarded.cluster().client());
    let node = serde_json::from_value(json!({"metadata": {"name": name}, "spec": {}})).context("a node")?;
    nodes.create(&PostParams::default(), &node).await?;
    let lost = Patch::Merge(json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}));
    nodes.patch_status(&name, &PatchParams::default(), &lost).await?;
    let told = ends_on_a_lost_node(&mut ground, &nodes, &name).await;
    nodes.delete(&name, &DeleteParams::default()).await?;
    told?;
    ground.finish().await
}

async fn ends_on_a_lost_node(ground: &mut Ground, nodes: &Api<Node>, name: &str) -> Result<()> {
    assert!(!confirmed(ground, "lost").await?);
    let off = json!({"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"});
    let tainted = Patch::Merge(json!({"spec": {"taints": [off]}}));
    nodes.patch(name, &PatchParams::default(), &tainted).await?;
    // What was read of a node is used for some seconds.
    let mut pods = 0..;
    eventually("an end to be confirmed", LIMIT, async || {
        let name = format!("off-{}", pods.next().unwrap_or_default());
        ensure!(confirmed(ground, &name).await?, "{name} is not");
        Ok(())
    })
    .await
}

/// Is the end of a pod confirmed that is made for it?
async fn confirmed(ground: &mut Ground, name: &str) -> Result<bool> {
    let uid = ground.pod(name).await?;
    ground.followed(1).await?;
    ground.delete_at_once(name).await?;
    let told = ground.told(&uid, 1).await?;
    told[0].event["data"]["confirmed"].as_bool().context("no such field")
}

/// Its node is to be asked why.
#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_should_have_ended_is_reported_with_its_node() -> Result<()> {
    let mut ground = Ground::new("overdue").await?;
    ground.follow(Start { flags: &["--pod-overdue-warning=1s"], ..Start::default() }).await?;
    ground.pod_as("web", |pod| pod["spec"]["terminationGracePeriodSeconds"] = json!(1)).await?;
    ground.followed(1).await?;
    ground.delete("web").await?;
    let told = ground.guarded.told("PodOverdue").await?;
    assert_eq!((told[0].type_.as_str(), told[0].regarding.as_str()), ("Warning", "Pod/web"));
    let node = format!("on node node-{}", ground.guarded.name());
    assert!(told[0].note.contains(&node), "{}", told[0].note);
    assert!(ground.receiver.received().is_empty(), "it is still there");
    ground.finish().await
}
