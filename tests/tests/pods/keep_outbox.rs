//! The outbox is full, changed by others, removed or damaged: what is lost is said, and nothing else is.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use eno_shared::names::OUTBOX_LABEL;
use eno_tests::eventually::eventually;
use http::StatusCode;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::ground::{Ground, LIMIT, Start, causes};

fn maps(ground: &Ground) -> Api<DynamicObject> {
    ground.guarded.cluster().api("v1", "ConfigMap", Some(ground.guarded.name()))
}

async fn shards(ground: &Ground) -> Result<Vec<DynamicObject>> {
    Ok(maps(ground).list(&ListParams::default().labels(&format!("{OUTBOX_LABEL}=shard"))).await?.items)
}

/// The only shard there is.
async fn shard(ground: &Ground) -> Result<DynamicObject> {
    shards(ground).await?.into_iter().next().context("there is no shard")
}

fn is_going(entry: Option<&Value>) -> bool {
    entry.is_some_and(|entry| entry["following"]["goingSince"].is_string())
}

/// Labels of about 100 KiB: two such ends fit into a shard, and three do not.
fn heavy(pod: &mut Value) {
    let labels: BTreeMap<String, String> = (0..1400).map(|index| (format!("k{index:04}"), "x".repeat(63))).collect();
    for (key, value) in labels {
        pod["metadata"]["labels"][key] = json!(value);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_finds_no_place_is_told_all_the_same_and_that_is_said() -> Result<()> {
    let mut ground = Ground::new("full").await?;
    ground.follow(Start { flags: &["--pod-outbox-shards=1"], ..Start::default() }).await?;
    ground.receiver.answer(StatusCode::SERVICE_UNAVAILABLE);
    let mut uids = vec![];
    for name in ["a", "b", "c"] {
        uids.push(ground.pod_as(name, heavy).await?);
    }
    ground.followed(3).await?;
    for (name, uid) in ["a", "b", "c"].into_iter().zip(&uids) {
        ground.delete_at_once(name).await?;
        ground.told(uid, 1).await?;
    }
    ground.metric("eno_webhook_outbox_pending", &[], |count| count == 3).await?;
    ground.metric("eno_webhook_outbox_unsaved", &[], |count| count == 1).await?;
    let told = ground.guarded.told("OutboxFull").await?;
    assert_eq!(told[0].type_, "Warning");
    assert!(told[0].note.contains("1 pods are kept in memory alone"), "{}", told[0].note);

    ground.receiver.answer(StatusCode::OK);
    ground.metric("eno_webhook_sink_attempts_total", &["result=\"delivered\""], |count| count == 3).await?;
    for uid in &uids {
        ground.noted(uid, |entry| entry.is_none()).await?;
    }
    ground.metric("eno_webhook_outbox_unsaved", &[], |count| count == 0).await?;
    ground.finish().await
}

/// Living pods have short entries, in one shard; when they end and nobody takes that, they outgrow it.
#[tokio::test(flavor = "multi_thread")]
async fn what_outgrows_its_shard_lies_in_another_and_outlives_the_process_there() -> Result<()> {
    let mut ground = Ground::following("grown").await?;
    ground.receiver.answer(StatusCode::SERVICE_UNAVAILABLE);
    let mut uids = vec![];
    for name in ["a", "b", "c"] {
        uids.push(ground.pod_as(name, heavy).await?);
    }
    ground.followed(3).await?;
    for (name, uid) in ["a", "b", "c"].into_iter().zip(&uids) {
        ground.delete_at_once(name).await?;
        ground.told(uid, 1).await?;
    }
    eventually("a second shard", LIMIT, async || {
        let shards = shards(&ground).await?.len();
        ensure!(shards == 2, "{shards} shards");
        Ok(())
    })
    .await?;
    let failed = ground.guarded.webhook().count("eno_webhook_outbox_writes_total", &["result=\"failed\""]).await?;
    assert_eq!(failed, 0);
    // In the first one is still what was noted of it while it lived.
    ground.guarded.webhook().kill();
    ground.receiver.answer(StatusCode::OK);
    ground.follow(Start::default()).await?;
    for uid in &uids {
        let told = ground.told(uid, 2).await?;
        assert!(told.iter().all(|one| one.cause() == "Gone" && one.id() == told[0].id()));
    }
    eventually("the outbox to be empty", LIMIT, async || {
        let left = ground.outbox().await?.len();
        ensure!(left == 0, "{left} entries are left");
        Ok(())
    })
    .await?;
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_further_ends_are_told_while_too_many_are_undelivered_and_none_is_dropped() -> Result<()> {
    let mut ground = Ground::new("backlog").await?;
    ground.follow(Start { flags: &["--pod-undelivered-limit=1"], ..Start::default() }).await?;
    ground.receiver.answer(StatusCode::SERVICE_UNAVAILABLE);
    let (first, second) = (ground.pod("first").await?, ground.pod("second").await?);
    ground.followed(2).await?;
    ground.delete_at_once("first").await?;
    ground.metric("eno_webhook_outbox_pending", &[], |count| count == 1).await?;
    ground.delete_at_once("second").await?;
    ground.candidates(1).await?;
    ground.guarded.told("OutboxFull").await?;
    assert!(ground.receiver.of(&second).is_empty(), "it waits");
    // It outlives the process, too.
    ground.noted(&second, is_going).await?;

    ground.receiver.answer(StatusCode::OK);
    for uid in [&first, &second] {
        let told = ground.told(uid, 1).await?;
        assert!(told.iter().all(|one| one.cause() == "Gone" && one.id() == told[0].id()));
        ground.noted(uid, |entry| entry.is_none()).await?;
    }
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shard_that_others_have_changed_or_removed_is_written_again() -> Result<()> {
    let mut ground = Ground::following("shard").await?;
    let (lives, first, second) = (ground.pod("lives").await?, ground.pod("first").await?, ground.pod("second").await?);
    ground.followed(3).await?;
    ground.delete("first").await?;
    ground.noted(&first, is_going).await?;
    ground.noted(&lives, |entry| entry.is_some()).await?;
    let name = shard(&ground).await?.name_any();
    // Somebody takes an entry out, and our next write is of a version that is not there any more.
    let change = Patch::Merge(json!({"data": {lives.clone(): null}}));
    maps(&ground).patch(&name, &PatchParams::default(), &change).await?;
    ground.delete("second").await?;
    ground.noted(&second, is_going).await?;
    ground.noted(&lives, |entry| entry.is_some()).await?;
    let failed = ground.metric("eno_webhook_outbox_writes_total", &["result=\"failed\""], |count| count > 0).await?;

    maps(&ground).delete(&name, &DeleteParams::default()).await?;
    let third = ground.pod("third").await?;
    ground.followed(4).await?;
    ground.delete("third").await?;
    for uid in [&first, &second, &third] {
        ground.noted(uid, is_going).await?;
    }
    ground.noted(&lives, |entry| entry.is_some()).await?;
    ground.metric("eno_webhook_outbox_writes_total", &["result=\"failed\""], |count| count > failed).await?;
    assert!(ground.receiver.received().is_empty(), "all of them exist");
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_is_damaged_is_left_as_it_is_and_stops_no_other() -> Result<()> {
    let mut ground = Ground::following("damaged").await?;
    let (bad, good) = (ground.pod("bad").await?, ground.pod("good").await?);
    ground.followed(2).await?;
    for (name, uid) in [("bad", &bad), ("good", &good)] {
        ground.delete(name).await?;
        ground.noted(uid, is_going).await?;
    }
    ground.guarded.webhook().kill();
    let damage = Patch::Merge(json!({"data": {bad.clone(): "{\"namespace\":"}}));
    maps(&ground).patch(&shard(&ground).await?.name_any(), &PatchParams::default(), &damage).await?;
    ground.delete_at_once("bad").await?;
    ground.delete_at_once("good").await?;
    ground.follow(Start::default()).await?;
    assert_eq!(causes(&ground.told(&good, 1).await?), ["Gone"]);
    ground.metric("eno_webhook_outbox_unreadable", &[], |count| count == 1).await?;
    // It is there for a person to look at, also after the shard was written.
    ground.noted(&good, |entry| entry.is_none()).await?;
    ground.noted(&bad, |entry| entry.is_some_and(Value::is_null)).await?;
    assert!(ground.receiver.of(&bad).is_empty());
    ground.finish().await
}
