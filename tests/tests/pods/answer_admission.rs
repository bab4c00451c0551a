//! Admission of pods: it is heard, and nothing is refused.

use anyhow::Result;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, EvictParams};
use kube::{Api, api::PostParams};
use serde_json::json;

use crate::ground::{Ground, Start, causes};

#[tokio::test(flavor = "multi_thread")]
async fn deletions_and_evictions_are_heard_and_dry_runs_cause_nothing() -> Result<()> {
    let mut ground = Ground::new("admission").await?;
    ground.follow(Start { registered: true, ..Start::default() }).await?;
    let (deleted, evicted) = (ground.pod("deleted").await?, ground.pod("evicted").await?);
    ground.pod_as("foreign", |pod| pod["metadata"]["labels"] = json!({})).await?;
    ground.followed(2).await?;
    let pods: Api<Pod> = Api::namespaced(ground.guarded.cluster().client(), ground.guarded.name());

    let dry = DeleteParams { dry_run: true, ..DeleteParams::default() };
    pods.delete("deleted", &dry).await?;
    ground.metric("eno_webhook_reviews_total", &["hook=\"pods-delete\""], |count| count == 1).await?;
    ground.candidates(0).await?;

    // Another's pod is not asked about.
    pods.delete("foreign", &DeleteParams::default().grace_period(0)).await?;
    let evict = EvictParams { post_options: PostParams::default(), ..EvictParams::default() };
    pods.evict("evicted", &evict).await?;
    ground.metric("eno_webhook_reviews_total", &["hook=\"pods-evict\""], |count| count == 1).await?;
    pods.delete("deleted", &DeleteParams::default()).await?;
    ground.metric("eno_webhook_reviews_total", &["hook=\"pods-delete\""], |count| count == 2).await?;
    ground.candidates(2).await?;
    // The last deletion, as a kubelet makes it, is no news.
    ground.delete_at_once("deleted").await?;
    ground.delete_at_once("evicted").await?;
    assert_eq!(causes(&ground.told(&deleted, 1).await?), ["Gone"]);
    assert_eq!(causes(&ground.told(&evicted, 1).await?), ["Gone"]);
    let asked = ground.guarded.webhook().reviews("pods-delete").await?;
    assert_eq!(asked, 2);
    assert_eq!(ground.receiver.received().len(), 2);
    ground.finish().await
}

/// Hints may come many times, of one pod and of all kinds.
#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_is_deleted_and_evicted_again_and_again_ends_once() -> Result<()> {
    let mut ground = Ground::new("hints").await?;
    ground.follow(Start { registered: true, ..Start::default() }).await?;
    let uid = ground.pod("web").await?;
    ground.followed(1).await?;
    let pods: Api<Pod> = Api::namespaced(ground.guarded.cluster().client(), ground.guarded.name());
    for _ in 0..3 {
        // The API server asks about each eviction, and only about the first of the deletions.
        pods.delete("web", &DeleteParams::default()).await?;
        pods.evict("web", &EvictParams::default()).await?;
    }
    ground.metric("eno_webhook_reviews_total", &["hook=\"pods-delete\""], |count| count >= 1).await?;
    ground.metric("eno_webhook_reviews_total", &["hook=\"pods-evict\""], |count| count == 3).await?;
    ground.candidates(1).await?;
    ground.noted(&uid, |entry| entry.is_some_and(|entry| entry["following"]["goingSince"].is_string())).await?;
    assert!(ground.receiver.received().is_empty(), "it is still there");
    ground.delete_at_once("web").await?;
    assert_eq!(causes(&ground.told(&uid, 1).await?), ["Gone"]);
    ground.noted(&uid, |entry| entry.is_none()).await?;
    ground.followed(0).await?;
    assert_eq!(ground.receiver.received().len(), 1);
    ground.finish().await
}
