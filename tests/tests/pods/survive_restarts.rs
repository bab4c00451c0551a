//! Processes end and others go on: nothing is lost, and what is told again has the same id.

use anyhow::{Result, ensure};
use eno_shared::names::{POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};
use eno_tests::cluster::Cluster;
use eno_tests::eventually::eventually;
use eno_tests::webhook::{Webhook, WebhookOptions};
use http::StatusCode;
use serde_json::{Value, json};

use crate::ground::{Ground, LIMIT, Start, causes};

#[tokio::test(flavor = "multi_thread")]
async fn what_went_while_the_process_was_killed_is_told_by_the_next() -> Result<()> {
    let mut ground = Ground::following("killed").await?;
    let of_composition = |pod: &mut Value| {
        pod["metadata"]["labels"][POD_COMPOSITION] = json!("web");
        pod["metadata"]["labels"][POD_COMPOSITION_NAMESPACE] = json!("team-a");
    };
    let (gone, replaced) = (ground.pod_as("gone", of_composition).await?, ground.pod("replaced").await?);
    let (going, lives) = (ground.pod("going").await?, ground.pod("lives").await?);
    ground.followed(4).await?;
    ground.delete("going").await?;
    ground.noted(&going, |entry| entry.is_some_and(|entry| entry["following"]["record"].is_object())).await?;
    for uid in [&gone, &replaced, &lives] {
        ground.noted(uid, |entry| entry.is_some()).await?;
    }
    ground.guarded.webhook().kill();
    ground.delete_at_once("gone").await?;
    ground.delete_at_once("replaced").await?;
    ground.delete_at_once("going").await?;
    ground.pod("replaced").await?;
    ground.follow(Start::default()).await?;
    assert_eq!(causes(&ground.told(&going, 1).await?), ["Gone"]);
    assert_eq!(causes(&ground.told(&replaced, 1).await?), ["Replaced"]);
    assert_eq!(causes(&ground.told(&gone, 1).await?), ["Gone"]);
    // One that was going has all that was known of it; of the others there are identity, node and composition.
    assert_eq!(ground.receiver.of(&going)[0].event["data"]["labels"]["name"], "going");
    let known = &ground.receiver.of(&gone)[0].event["data"];
    assert!(known["node"].is_string());
    assert_eq!(known["labels"], json!({POD_COMPOSITION: "web", POD_COMPOSITION_NAMESPACE: "team-a"}));
    assert!(ground.receiver.of(&lives).is_empty());
    ground.followed(2).await?;
    ground.finish().await
}

/// The process ends well: what has time is noted then, too.
#[tokio::test(flavor = "multi_thread")]
async fn what_went_while_the_process_was_stopped_is_told_by_the_next() -> Result<()> {
    let mut ground = Ground::following("stopped").await?;
    let going = ground.pod("going").await?;
    ground.followed(1).await?;
    ground.delete("going").await?;
    ground.candidates(1).await?;
    ground.guarded.webhook().stop();
    ground.noted(&going, |entry| entry.is_some()).await?;
    ground.delete_at_once("going").await?;
    ground.follow(Start::default()).await?;
    assert_eq!(causes(&ground.told(&going, 1).await?), ["Gone"]);
    ground.finish().await
}

/// The receiver has it, and its answer never came.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_and_not_acknowledged_is_sent_again_with_the_same_id() -> Result<()> {
    let mut ground = Ground::following("ack").await?;
    ground.receiver.hold();
    let uid = ground.pod("web").await?;
    ground.followed(1).await?;
    ground.delete_at_once("web").await?;
    ground.told(&uid, 1).await?;
    ground.noted(&uid, |entry| entry.is_some_and(|entry| entry["undelivered"].is_array())).await?;
    ground.guarded.webhook().kill();
    ground.receiver.answer(StatusCode::OK);
    ground.follow(Start::default()).await?;
    let told = ground.told(&uid, 2).await?;
    assert_eq!(causes(&told[..1]), ["Gone"]);
    assert!(told.iter().all(|again| again.event == told[0].event), "id and all: {told:?}");
    ground.noted(&uid, |entry| entry.is_none()).await?;
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_that_is_down_is_told_when_it_is_back() -> Result<()> {
    let mut ground = Ground::following("down").await?;
    ground.receiver.answer(StatusCode::SERVICE_UNAVAILABLE);
    let uid = ground.pod("web").await?;
    ground.followed(1).await?;
    ground.delete_at_once("web").await?;
    ground.told(&uid, 2).await?;
    ground.metric("eno_webhook_outbox_pending", &[], |count| count == 1).await?;
    ground.receiver.answer(StatusCode::OK);
    ground.noted(&uid, |entry| entry.is_none()).await?;
    let told = ground.receiver.of(&uid);
    assert!(told.iter().all(|one| one.id() == told[0].id()));
    ground.finish().await
}

/// The protocol of `kubectl eno pods redeliver`.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_stays_until_somebody_has_it_sent_again() -> Result<()> {
    let mut ground = Ground::following("dead").await?;
    ground.receiver.answer(StatusCode::BAD_REQUEST);
    let uid = ground.pod("web").await?;
    ground.followed(1).await?;
    ground.delete_at_once("web").await?;
    ground.told(&uid, 1).await?;
    let is_dead = |entry: Option<&serde_json::Value>| {
        entry.is_some_and(|entry| entry["undelivered"][0]["sinks"].to_string().contains("\"dead\""))
    };
    ground.noted(&uid, is_dead).await?;
    ground.metric("eno_webhook_outbox_dead_letters", &[], |count| count == 1).await?;
    // It outlives the process.
    ground.guarded.webhook().kill();
    ground.receiver.answer(StatusCode::OK);
    ground.follow(Start::default()).await?;
    ground.metric("eno_webhook_outbox_dead_letters", &[], |count| count == 1).await?;
    assert_eq!(ground.receiver.of(&uid).len(), 1);

    let id = ground.receiver.of(&uid)[0].id().to_owned();
    let request = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": "again", "namespace": ground.guarded.name(), "labels": {"kubectl-eno.dev/pod-outbox": "request"},
        },
        "data": {"redeliver": id},
    });
    ground.guarded.cluster().apply(&request).await?;
    assert_eq!(ground.told(&uid, 2).await?[1].id(), id);
    let maps = ground.guarded.cluster().api("v1", "ConfigMap", Some(ground.guarded.name()));
    eventually("the request to be gone", LIMIT, async || {
        ensure!(maps.get_opt("again").await?.is_none(), "it exists");
        Ok(())
    })
    .await?;
    ground.noted(&uid, |entry| entry.is_none()).await?;
    ground.finish().await
}

async fn candidate(cluster: &Cluster, ground: &Ground) -> Result<Webhook> {
    let namespace = ground.guarded.name();
    let mut flags = vec![
        "--leader-elect=true".to_owned(),
        "--leader-elect-lease-duration=4s".to_owned(),
        "--leader-elect-renew-deadline=2s".to_owned(),
        "--leader-elect-retry-period=500ms".to_owned(),
    ];
    flags.extend(ground.receiver.flags());
    let options = WebhookOptions {
        namespace: namespace.to_owned(),
        controllers: "pods",
        unregistered: true,
        flags,
        ..WebhookOptions::default()
    };
    Webhook::start(cluster, options).await
}

async fn followed(webhook: &Webhook, count: u64) -> Result<()> {
    eventually(&format!("it to follow {count} pods"), LIMIT, async || {
        let followed = webhook.count("eno_webhook_pods_followed", &[]).await?;
        ensure!(followed == count, "it follows {followed}; it logged:\n{}", webhook.log()?);
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_leader_tells_and_the_next_one_goes_on() -> Result<()> {
    let ground = Ground::new("leaders").await?;
    let cluster = ground.guarded.cluster().clone();
    let mut first = candidate(&cluster, &ground).await?;
    let (early, late) = (ground.pod("early").await?, ground.pod("late").await?);
    followed(&first, 2).await?;
    let second = candidate(&cluster, &ground).await?;
    followed(&second, 0).await?;
    ground.delete_at_once("early").await?;
    ground.receiver.told(&early, 1, LIMIT).await?;
    ground.noted(&late, |entry| entry.is_some()).await?;
    // Else it is told again, with the same id.
    ground.noted(&early, |entry| entry.is_none()).await?;
    first.kill();
    ground.delete_at_once("late").await?;
    ground.receiver.told(&late, 1, LIMIT).await?;
    assert_eq!(second.count("eno_webhook_pod_destroys_total", &[]).await?, 1);
    assert_eq!(ground.receiver.received().len(), 2);
    Ok(())
}

/// A process that was paused past its time, and goes on, tells nothing that another has told.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_was_paused_past_its_time_tells_nothing_when_it_goes_on() -> Result<()> {
    let ground = Ground::new("paused").await?;
    let cluster = ground.guarded.cluster().clone();
    let old = candidate(&cluster, &ground).await?;
    let uid = ground.pod("web").await?;
    followed(&old, 1).await?;
    ground.delete("web").await?;
    ground.noted(&uid, |entry| entry.is_some()).await?;
    let new = candidate(&cluster, &ground).await?;
    old.pause()?;
    followed(&new, 1).await?;
    ground.delete_at_once("web").await?;
    ground.receiver.told(&uid, 1, LIMIT).await?;
    old.resume()?;
    eventually("the old one to know", LIMIT, async || {
        let log = old.log()?;
        ensure!(log.contains("does not lead any more"), "it logged:\n{log}");
        Ok(())
    })
    .await?;
    followed(&old, 0).await?;
    assert_eq!(old.count("eno_webhook_pod_destroys_total", &[]).await?, 0);
    assert_eq!(ground.receiver.of(&uid).len(), 1);
    Ok(())
}
