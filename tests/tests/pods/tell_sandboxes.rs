//! D5-D8: the pod stays, its sandbox does not.

use anyhow::Result;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::ground::{Ground, causes};

fn ready(status: &str, second: u32) -> Value {
    let since = format!("2026-01-01T00:00:{second:02}Z");
    json!({"conditions": [{"type": "PodReadyToStartContainers", "status": status, "lastTransitionTime": since}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_was_made_anew_is_told_by_the_condition_alone() -> Result<()> {
    let mut ground = Ground::following("condition").await?;
    let uid = ground.pod("web").await?;
    // Absent, then False: nothing can be told (D5); then the first one (D6).
    ground.status("web", ready("False", 1)).await?;
    ground.status("web", ready("True", 2)).await?;
    ground.status("web", ready("False", 3)).await?;
    ground.followed(1).await?;
    ground.status("web", ready("True", 4)).await?;
    let told = ground.told(&uid, 1).await?;
    assert_eq!(causes(&told), ["SandboxChanged"]);
    assert_eq!(told[0].event["data"]["sandbox"], json!({"source": "ready-to-start", "id": "2026-01-01T00:00:02Z"}));
    // The pod goes on, and its own end is its second.
    ground.delete_at_once("web").await?;
    let told = ground.told(&uid, 2).await?;
    assert_eq!(causes(&told), ["SandboxChanged", "Gone"]);
    assert_eq!(told[1].event["data"]["sequence"], 2);
    assert_eq!(told[1].event["data"]["sandbox"]["id"], "2026-01-01T00:00:04Z");
    assert_ne!(told[0].id(), told[1].id());
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sandboxs_own_id_outweighs_what_only_hints_at_it() -> Result<()> {
    let mut ground = Ground::following("identity").await?;
    let container =
        |id: &str| Patch::Merge(json!({"metadata": {"annotations": {"cni.projectcalico.org/containerID": id}}}));
    let uid = ground.pod("web").await?;
    ground.pods.patch("web", &PatchParams::default(), &container("c1")).await?;
    ground.status("web", ready("True", 1)).await?;
    ground.followed(1).await?;
    // Time and addresses change in the same sandbox (D8); an annotation that is blank says nothing (D5).
    ground.status("web", ready("True", 2)).await?;
    ground.status("web", json!({"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]})).await?;
    ground.pods.patch("web", &PatchParams::default(), &container("c2")).await?;
    let told = ground.told(&uid, 1).await?;
    assert_eq!(told[0].event["data"]["sandbox"], json!({"source": "calico", "id": "c1"}));
    ground.delete_at_once("web").await?;
    assert_eq!(causes(&ground.told(&uid, 2).await?), ["SandboxChanged", "Gone"]);
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_all_change_are_those_of_another_sandbox() -> Result<()> {
    let mut ground = Ground::following("addresses").await?;
    let uid = ground.pod("web").await?;
    let addresses = |ips: &[&str]| json!({"podIP": ips.first(), "podIPs": ips.iter().map(|ip| json!({"ip": ip})).collect::<Vec<_>>()});
    ground.status("web", addresses(&["10.1.0.1"])).await?;
    ground.followed(1).await?;
    ground.status("web", addresses(&["10.1.0.1", "fd00::1"])).await?;
    ground.status("web", addresses(&["10.1.0.2", "fd00::2"])).await?;
    let told = ground.told(&uid, 1).await?;
    assert_eq!(causes(&told), ["SandboxChanged"]);
    ground.delete_at_once("web").await?;
    let told = ground.told(&uid, 2).await?;
    assert_eq!(causes(&told), ["SandboxChanged", "Gone"]);
    assert_eq!(told[1].event["data"]["podIPs"], json!(["10.1.0.2", "fd00::2"]));
    ground.finish().await
}
