//! The control plane fails under the controllers: each test has one of its own, without the garbage collector.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{Component, ControlPlane, Options};
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{composition, reconciled_synthesis};
use eno_tests::webhook::Guarded;
use futures::future::try_join_all;
use kube::api::{DeleteParams, ListParams};
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(60);

/// A control plane, and a namespace on it. Nobody but the controllers under test removes anything.
async fn own(hint: &str) -> Result<(Guarded, ControlPlane)> {
    let mut controlplane = ControlPlane::start(Options::default()).await?;
    controlplane.kill(Component::KubeControllerManager);
    let ground = Guarded::on(Cluster::of(&controlplane).await?, hint).await?;
    Ok((ground, controlplane))
}

/// Removes a composition at once.
async fn remove(ground: &Guarded, name: &str) -> Result<()> {
    let args = ["patch", "compositions.eno.azure.io", name, "--type=merge", "--patch"];
    ground.kubectl(&[&args[..], &[r#"{"metadata":{"finalizers":null}}"#]].concat()).await?.success()?;
    ground.cluster().eno("Composition", ground.name()).delete(name, &DeleteParams::default()).await?;
    Ok(())
}

/// Deletions in the gap are not told by any watch: they are found by comparing (S10).
#[tokio::test(flavor = "multi_thread")]
async fn misses_nothing_in_a_watch_gap_that_etcd_has_forgotten() -> Result<()> {
    let (mut ground, mut controlplane) = own("gap").await?;
    for name in ["removed", "replaced", "stays"] {
        ground.live(name, 1).await?;
    }
    let needed = ground.slice("stays-0").await?;
    let stays = ground.cluster().eno("Composition", ground.name()).get("stays").await?;
    ground.garbage(&stays, "finalized").await?;
    ground.terminating("finalized").await?;
    let proxy = ground.control_by_proxy(&[]).await?;
    ground.gone("finalized").await?;
    ground.judged("Keep/ReferencedByCurrent", 3).await?;

    proxy.freeze();
    remove(&ground, "removed").await?;
    remove(&ground, "replaced").await?;
    ground.cluster().apply(&composition(ground.name(), "replaced")).await?;
    controlplane.compact().await?;
    controlplane.kill(Component::KubeApiserver);
    controlplane.revive_apiserver().await?;
    proxy.cut();
    proxy.thaw();

    ground.gone("removed-0").await?;
    ground.gone("replaced-0").await?;
    ground.looked("Collect/OwnerGone", "collected", 1).await?;
    ground.looked("Collect/OwnerReplaced", "collected", 1).await?;
    ground.judged("Keep/ReferencedByCurrent", 1).await?;
    let restarts = ground.webhook().count("eno_webhook_watch_restarts_total", &["kind=\"compositions\""]).await?;
    ensure!(restarts > 0, "the watch of compositions never failed");
    ground.unchanged(&needed).await
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_on_after_the_api_server_was_killed_in_mid_cleanup() -> Result<()> {
    let (mut ground, mut controlplane) = own("killed").await?;
    let web = ground.live("web", 1).await?;
    let needed = ground.slice("web-0").await?;
    let names: Vec<_> = (0..300).map(|index| format!("garbage-{index}")).collect();
    try_join_all(names.iter().map(|name| ground.garbage(&web, name))).await?;
    ground.old_enough("garbage-299").await?;
    ground.control(&["--brake-slices=1000", "--concurrent-writes=1"]).await?;
    ground.looked("Collect/Unreferenced", "collected", 20).await?;
    controlplane.kill(Component::KubeApiserver);
    ground.logged(&["looks at slices failed"]).await?;
    ground.logged(&["a watch failed; it begins again"]).await?;
    controlplane.revive_apiserver().await?;
    let slices = ground.cluster().eno("ResourceSlice", ground.name());
    eventually("all garbage to be gone", LIMIT, async || {
        let left = slices.list_metadata(&ListParams::default()).await?.items.len();
        ensure!(left == 1, "{left} are left");
        Ok(())
    })
    .await?;
    ground.unchanged(&needed).await?;
    ground.judged("Keep/ReferencedByCurrent", 1).await
}

/// All compositions vanish at once: rather their kind was removed than that all of them ended.
#[tokio::test(flavor = "multi_thread")]
async fn stays_paused_where_there_is_not_one_composition() -> Result<()> {
    let (mut ground, _controlplane) = own("empty").await?;
    let web = ground.cluster().apply(&composition(ground.name(), "web")).await?;
    let names: Vec<_> = (0..150).map(|index| format!("slice-{index}")).collect();
    try_join_all(names.iter().map(|name| ground.garbage(&web, name))).await?;
    let listed: Vec<_> = names.iter().map(String::as_str).collect();
    ground.compose("web", &json!({"currentSynthesis": reconciled_synthesis("1", Some(1), &listed)})).await?;
    ground.old_enough("slice-149").await?;
    let before = ground.slice("slice-149").await?;
    ground.control(&[]).await?;
    ground.judged("Keep/ReferencedByCurrent", 150).await?;
    remove(&ground, "web").await?;
    ground.logged(&["collecting stays paused", "there is not one composition", "slices=150"]).await?;
    assert_eq!(ground.webhook().count("eno_webhook_collecting_paused", &[]).await?, 1);
    ground.judged("Collect/OwnerGone", 150).await?;

    // What comes one by one does not slip through.
    let label = json!({"metadata": {"labels": {"some": "label"}}});
    ground.patch_slice("slice-0", "merge", &label).await?.success()?;
    ground.judged("Collect/OwnerGone", 150).await?;
    let slices = ground.cluster().eno("ResourceSlice", ground.name());
    let all = slices.list_metadata(&ListParams::default()).await?.items;
    assert_eq!(all.iter().filter(|slice| slice.metadata.deletion_timestamp.is_none()).count(), 150);
    assert_eq!(ground.webhook().count("eno_webhook_looks_total", &["result=\"collected\""]).await?, 0);
    ground.unchanged(&before).await
}
