//! D2, and what is worse: while it cannot be read, nobody is told dead.

use anyhow::{Result, ensure};
use eno_shared::names::CLUSTER_UID;
use eno_tests::eventually::eventually;
use eno_tests::proxy::{Asked, Refusal};
use futures::future::try_join_all;
use http::Method;
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;

use crate::ground::{Ground, LIMIT, Start, causes};

fn of_pods(asked: &Asked) -> bool {
    asked.path.contains("/pods")
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_told_while_the_right_to_read_pods_is_cut() -> Result<()> {
    let mut ground = Ground::new("rbac").await?;
    let proxy = ground.proxy().await?;
    ground.follow(Start { proxy: Some(&proxy), ..Start::default() }).await?;
    let (lives, gone) = (ground.pod("lives").await?, ground.pod("gone").await?);
    ground.followed(2).await?;
    proxy.freeze();
    proxy.refuse(|asked| of_pods(asked).then_some(Refusal::Forbidden));
    proxy.cut();
    proxy.thaw();
    ground.metric("eno_webhook_watch_restarts_total", &["kind=\"pods\""], |count| count > 0).await?;
    ground.delete_at_once("gone").await?;
    ground.metric("eno_webhook_watch_restarts_total", &["kind=\"pods\""], |count| count > 2).await?;
    ground.followed(2).await?;
    assert!(ground.receiver.received().is_empty());
    proxy.refuse_nothing();
    assert_eq!(causes(&ground.told(&gone, 1).await?), ["Gone"]);
    assert!(ground.receiver.of(&lives).is_empty());
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_cannot_be_read_is_kept_and_delays_no_other() -> Result<()> {
    let mut ground = Ground::new("unreadable").await?;
    let proxy = ground.proxy().await?;
    ground.follow(Start { proxy: Some(&proxy), ..Start::default() }).await?;
    let (bad, good) = (ground.pod("bad").await?, ground.pod("good").await?);
    ground.followed(2).await?;
    proxy.refuse(|asked| asked.path.contains("/pods/bad").then_some(Refusal::Broken));
    ground.delete_at_once("bad").await?;
    ground.delete_at_once("good").await?;
    ground.told(&good, 1).await?;
    ground.metric("eno_webhook_pod_looks_total", &["result=\"failed\""], |count| count >= 2).await?;
    assert!(ground.receiver.of(&bad).is_empty());
    proxy.refuse_nothing();
    assert_eq!(causes(&ground.told(&bad, 1).await?), ["Gone"]);
    ground.finish().await
}

/// Many went while nobody looked: that is believed only once a second list says the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_lacks_most_pods_is_doubted_once() -> Result<()> {
    let mut ground = Ground::following("shrunk").await?;
    let names: Vec<_> = (0..25).map(|index| format!("pod-{index}")).collect();
    let uids = try_join_all(names.iter().map(|name| ground.pod(name))).await?;
    ground.followed(25).await?;
    // What is urgent takes along what has time: after it, all are noted.
    let last = ground.pod("last").await?;
    ground.followed(26).await?;
    ground.delete("last").await?;
    ground.noted(&last, |entry| entry.is_some_and(|entry| entry["following"]["goingSince"].is_string())).await?;
    for uid in &uids {
        ground.noted(uid, |entry| entry.is_some()).await?;
    }
    ground.guarded.webhook().kill();
    try_join_all(names.iter().map(|name| ground.delete_at_once(name))).await?;
    ground.follow(Start::default()).await?;
    ground.metric("eno_webhook_pod_relists_total", &["result=\"doubted\""], |count| count == 1).await?;
    for uid in &uids {
        assert_eq!(causes(&ground.told(uid, 1).await?), ["Gone"]);
    }
    assert!(ground.receiver.of(&last).is_empty());
    ground.finish().await
}

/// A backup of the namespace was put into another cluster: what it says of pods is not true there.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_noted_in_another_cluster_is_not_used() -> Result<()> {
    let mut ground = Ground::following("cluster").await?;
    let uid = ground.pod("web").await?;
    ground.followed(1).await?;
    ground.delete("web").await?;
    ground.noted(&uid, |entry| entry.is_some_and(|entry| entry["following"]["goingSince"].is_string())).await?;
    ground.guarded.webhook().kill();
    ground.delete_at_once("web").await?;
    let maps = ground.guarded.cluster().api("v1", "ConfigMap", Some(ground.guarded.name()));
    let shards = maps.list(&ListParams::default().labels("kubectl-eno.dev/pod-outbox=shard")).await?;
    let another = Patch::Merge(json!({"metadata": {"annotations": {CLUSTER_UID: "another"}}}));
    for shard in &shards {
        maps.patch(&shard.name_any(), &PatchParams::default(), &another).await?;
    }
    ground.follow(Start::default()).await?;
    ground.metric("eno_webhook_outbox_unreadable", &[], |count| count == 1).await?;
    let next = ground.pod("next").await?;
    ground.followed(1).await?;
    ground.delete_at_once("next").await?;
    ground.told(&next, 1).await?;
    assert!(ground.receiver.of(&uid).is_empty());
    ground.noted(&uid, |entry| entry.is_some()).await?;
    ground.finish().await
}

/// A sweep asks about candidates alone.
#[tokio::test(flavor = "multi_thread")]
async fn pods_that_live_are_not_read() -> Result<()> {
    let mut ground = Ground::new("idle").await?;
    let proxy = ground.proxy().await?;
    ground.follow(Start { proxy: Some(&proxy), ..Start::default() }).await?;
    let names: Vec<_> = (0..10).map(|index| format!("pod-{index}")).collect();
    try_join_all(names.iter().map(|name| ground.pod(name))).await?;
    ground.pod_as("going", |_| {}).await?;
    ground.followed(11).await?;
    ground.delete("going").await?;
    eventually("three sweeps", LIMIT, async || {
        let reads = proxy.asked(&Method::GET, "/pods/going").len();
        ensure!(reads >= 3, "{reads} reads of the one that is going");
        Ok(())
    })
    .await?;
    assert!(proxy.asked(&Method::GET, "/pods/pod-").is_empty());
    ground.finish().await
}
