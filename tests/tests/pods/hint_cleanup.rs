//! The end of a synthesizer's pod has the cleanup look at once at the slices of its composition.

use anyhow::{Result, ensure};
use eno_shared::names::{POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};
use eno_tests::eventually::eventually;
use eno_tests::fixtures::composition;
use eno_tests::webhook::WebhookOptions;
use serde_json::json;

use crate::ground::{Ground, LIMIT};

/// How often the cleanup has looked at a slice that it would collect.
fn looks(log: &str, slice: &str) -> usize {
    let of_slice = format!("name={slice}");
    log.lines().filter(|line| line.contains("dry run: would") && line.contains(&of_slice)).count()
}

/// In a dry run garbage stays, and is looked at again only when something brings it up: the sweep is an hour away, and
/// nothing of the slice or its composition changes.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_pod_brings_up_the_slices_of_its_composition_and_no_others() -> Result<()> {
    let mut ground = Ground::new("hint").await?;
    let namespace = ground.guarded.name().to_owned();
    for (owner, slice) in [("web", "of-web"), ("shop", "of-shop")] {
        let owner = ground.guarded.cluster().apply(&composition(&namespace, owner)).await?;
        ground.guarded.garbage(&owner, slice).await?;
        ground.guarded.old_enough(slice).await?;
    }
    ground
        .pod_as("synthesizer", |pod| {
            pod["metadata"]["labels"][POD_COMPOSITION] = json!("web");
            pod["metadata"]["labels"][POD_COMPOSITION_NAMESPACE] = json!(namespace);
        })
        .await?;
    let flags = ["--dry-run", "--sweep-period=1h", "--sink-events=false"].map(str::to_owned).to_vec();
    let options =
        WebhookOptions { controllers: "cleanup,pods", unregistered: true, flags, ..WebhookOptions::default() };
    ground.guarded.guard_with(options).await?;
    ground.followed(1).await?;
    // All that begins brings them up: when both were looked at and nothing waits, only the pod's end is left.
    ground.guarded.logged(&["dry run: would", "name=of-web"]).await?;
    ground.guarded.logged(&["dry run: would", "name=of-shop"]).await?;
    ground.metric("eno_webhook_queue_length", &[], |waiting| waiting == 0).await?;
    let before = ground.guarded.webhook().log()?;
    ground.delete_at_once("synthesizer").await?;
    let webhook = ground.guarded.webhook();
    eventually("another look at the slice", LIMIT, async || {
        let log = webhook.log()?;
        ensure!(looks(&log, "of-web") > looks(&before, "of-web"), "it logged:\n{log}");
        Ok(())
    })
    .await?;
    let after = webhook.log()?;
    assert!(looks(&before, "of-web") > 0 && looks(&before, "of-shop") > 0);
    assert_eq!(looks(&after, "of-shop"), looks(&before, "of-shop"), "it is of another composition:\n{after}");
    ground.finish().await
}
