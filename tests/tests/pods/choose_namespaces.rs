//! Pods of namespaces with a label: a namespace comes and goes, and its pods live on.

use anyhow::Result;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::ground::{Ground, Start, causes};

/// A label that no other test's namespace has.
const LABEL: &str = "kubectl-eno.dev/test-follows";

async fn label(ground: &Ground, value: Value) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(ground.guarded.cluster().client());
    let patch = Patch::Merge(json!({"metadata": {"labels": {LABEL: value}}}));
    namespaces.patch(ground.guarded.name(), &PatchParams::default(), &patch).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_are_followed_while_their_namespace_has_the_label() -> Result<()> {
    let mut ground = Ground::new("labelled").await?;
    let name = ground.guarded.name().to_owned();
    let flag = format!("--pod-namespace-selector={LABEL}={name}");
    ground.pod("early").await?;
    ground.follow(Start { flags: &[&flag], ..Start::default() }).await?;
    label(&ground, json!(name)).await?;
    ground.followed(1).await?;
    let late = ground.pod("late").await?;
    ground.followed(2).await?;

    // It loses the label: its pods are not followed any more, and nobody is told that they have ended.
    label(&ground, json!("another")).await?;
    ground.followed(0).await?;
    ground.delete_at_once("early").await?;
    label(&ground, json!(name)).await?;
    ground.followed(1).await?;
    ground.delete_at_once("late").await?;
    assert_eq!(causes(&ground.told(&late, 1).await?), ["Gone"]);
    assert_eq!(ground.receiver.received().len(), 1, "{:?}", ground.receiver.received());
    ground.finish().await
}

/// No list tells of it, and what was noted of it must not stay for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_left_while_nobody_ran_is_forgotten_and_what_went_there_is_told() -> Result<()> {
    let mut ground = Ground::new("left").await?;
    let name = ground.guarded.name().to_owned();
    let flag = format!("--pod-namespace-selector={LABEL}={name}");
    label(&ground, json!(name)).await?;
    ground.follow(Start { flags: &[&flag], ..Start::default() }).await?;
    let (lives, gone, going) = (ground.pod("lives").await?, ground.pod("gone").await?, ground.pod("going").await?);
    ground.followed(3).await?;
    // What is urgent takes along what has time.
    ground.delete("going").await?;
    for uid in [&lives, &gone, &going] {
        ground.noted(uid, |entry| entry.is_some()).await?;
    }
    ground.guarded.webhook().kill();
    label(&ground, Value::Null).await?;
    ground.delete_at_once("gone").await?;
    ground.follow(Start { flags: &[&flag], ..Start::default() }).await?;
    assert_eq!(causes(&ground.told(&gone, 1).await?), ["Gone"]);
    ground.noted(&lives, |entry| entry.is_none()).await?;
    // One that is being deleted is followed to its end.
    ground.followed(1).await?;
    ground.delete_at_once("going").await?;
    assert_eq!(causes(&ground.told(&going, 1).await?), ["Gone"]);
    assert!(ground.receiver.of(&lives).is_empty());
    ground.finish().await
}

/// The operator names other namespaces, and the process begins again.
#[tokio::test(flavor = "multi_thread")]
async fn pods_of_a_namespace_that_is_not_named_any_more_are_forgotten() -> Result<()> {
    let mut ground = Ground::following("named").await?;
    let uid = ground.pod("web").await?;
    ground.followed(1).await?;
    // A process that ends well notes what has time, too.
    ground.guarded.webhook().stop();
    ground.noted(&uid, |entry| entry.is_some()).await?;
    ground.follow(Start { flags: &["--pod-namespace=default"], ..Start::default() }).await?;
    ground.noted(&uid, |entry| entry.is_none()).await?;
    ground.followed(0).await?;
    assert!(ground.receiver.received().is_empty(), "it lives");
    ground.finish().await
}
