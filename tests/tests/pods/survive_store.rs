//! The control plane fails: each test has one of its own.

use anyhow::{Result, ensure};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{Component, ControlPlane, Options};

use crate::ground::{Ground, Start, causes};

/// Deletions in the gap are not told by any watch: they are found by comparing.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_missed_in_a_watch_gap_that_etcd_has_forgotten() -> Result<()> {
    let mut controlplane = ControlPlane::start(Options::default()).await?;
    let mut ground = Ground::on(Cluster::of(&controlplane).await?, "gap").await?;
    let proxy = ground.proxy().await?;
    ground.follow(Start { proxy: Some(&proxy), ..Start::default() }).await?;
    let (gone, replaced) = (ground.pod("gone").await?, ground.pod("replaced").await?);
    let lives = ground.pod("lives").await?;
    ground.followed(3).await?;

    proxy.freeze();
    ground.delete_at_once("gone").await?;
    ground.delete_at_once("replaced").await?;
    ground.pod("replaced").await?;
    controlplane.compact().await?;
    controlplane.kill(Component::KubeApiserver);
    controlplane.revive_apiserver().await?;
    proxy.cut();
    proxy.thaw();

    assert_eq!(causes(&ground.told(&gone, 1).await?), ["Gone"]);
    assert_eq!(causes(&ground.told(&replaced, 1).await?), ["Replaced"]);
    ground.followed(2).await?;
    assert!(ground.receiver.of(&lives).is_empty());
    let lists = ground.metric("eno_webhook_pod_relists_total", &["result=\"read\""], |count| count >= 2).await?;
    ensure!(lists >= 2, "it never listed again");
    ground.finish().await
}
