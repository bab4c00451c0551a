//! What the watches say may be late, in both directions: a proxy holds it back. Nothing is written on its word alone.

use anyhow::{Result, ensure};
use eno_tests::fixtures::{self, reconciled_synthesis};
use eno_tests::webhook::Guarded;
use http::Method;
use kube::api::DeleteParams;
use serde_json::{Value, json};

fn refers_to(slices: &[&str]) -> Value {
    json!({"currentSynthesis": reconciled_synthesis("1", Some(1), slices)})
}

/// The double look: between the first and the second a synthesis has begun to refer to the slice.
#[tokio::test(flavor = "multi_thread")]
async fn keeps_a_slice_that_is_referred_to_since_the_cache_was_filled() -> Result<()> {
    let mut ground = Guarded::unguarded("stale").await?;
    let proxy = ground.control_by_proxy(&[]).await?;
    let web = ground.compose_new("web", &refers_to(&[])).await?;
    ground.garbage(&web, "current").await?;
    ground.garbage(&web, "flying").await?;
    ground.judged("Wait/TooNew", 2).await?;

    proxy.freeze();
    let mut status = refers_to(&["current"]);
    status["inFlightSynthesis"] = json!({"uuid": "2", "resourceSlices": [{"name": "flying"}]});
    ground.compose("web", &status).await?;
    let before = [ground.slice("current").await?, ground.slice("flying").await?];
    ground.looked("Keep/ReferencedByCurrent", "disagreed", 1).await?;
    ground.looked("Keep/InFlight", "disagreed", 1).await?;
    for slice in &before {
        ground.unchanged(slice).await?;
    }
    proxy.thaw();
    ground.judged("Keep/ReferencedByCurrent", 1).await?;
    ground.judged("Keep/InFlight", 1).await?;
    assert!(proxy.asked(&Method::DELETE, "/resourceslices/").is_empty());
    Ok(())
}

/// The other direction does no harm, and what was missed is done when the cache hears of it.
#[tokio::test(flavor = "multi_thread")]
async fn collects_a_slice_when_the_cache_hears_that_nothing_refers_to_it() -> Result<()> {
    let mut ground = Guarded::unguarded("late").await?;
    let proxy = ground.control_by_proxy(&[]).await?;
    let web = ground.compose_new("web", &refers_to(&["old"])).await?;
    ground.garbage(&web, "old").await?;
    ground.judged("Keep/ReferencedByCurrent", 1).await?;
    proxy.freeze();
    ground.compose("web", &refers_to(&[])).await?;
    ground.old_enough("old").await?;
    ensure!(proxy.asked(&Method::DELETE, "/resourceslices/").is_empty(), "the cache still called it needed");
    proxy.thaw();
    ground.gone("old").await?;
    ground.looked("Collect/Unreferenced", "collected", 1).await
}

/// Its uid and resourceVersion guard every write: what has changed, or has only the name, is not touched.
#[tokio::test(flavor = "multi_thread")]
async fn does_not_touch_a_slice_that_is_another_by_now() -> Result<()> {
    let mut ground = Guarded::unguarded("reuse").await?;
    let proxy = ground.control_by_proxy(&[]).await?;
    let web = ground.compose_new("web", &refers_to(&[])).await?;
    for name in ["changed", "reused"] {
        let mut slice = fixtures::slice(&web, name, "some", &[]);
        slice["metadata"]["finalizers"] = json!([]);
        ground.cluster().apply(&slice).await?;
    }
    ground.judged("Wait/TooNew", 2).await?;
    proxy.freeze();
    ground.patch_slice("changed", "merge", &json!({"metadata": {"labels": {"some": "label"}}})).await?.success()?;
    ground.cluster().eno("ResourceSlice", ground.name()).delete("reused", &DeleteParams::default()).await?;
    ground.old_enough("changed").await?;
    let reused = ground.garbage(&web, "reused").await?;
    let changed = ground.slice("changed").await?;
    ground.looked("Collect/Unreferenced", "changed", 2).await?;
    ground.unchanged(&reused).await?;
    ground.unchanged(&changed).await?;
    proxy.thaw();
    ground.gone("changed").await?;
    ground.gone("reused").await?;
    ground.looked("Collect/Unreferenced", "collected", 2).await
}

/// The cache says held for long, the API server that the slice is gone: nobody chases that.
#[tokio::test(flavor = "multi_thread")]
async fn does_not_chase_a_slice_that_is_gone() -> Result<()> {
    let mut ground = Guarded::unguarded("chase").await?;
    let web = ground.deleting("web", 1).await?;
    ground.terminating("web-0").await?;
    let proxy = ground.control_by_proxy(&["--held-warning=3s"]).await?;
    ground.judged("Hold/NeededForDeletion", 1).await?;
    proxy.freeze();
    ground.patch_slice("web-0", "merge", &json!({"metadata": {"finalizers": null}})).await?.success()?;
    ground.garbage(&web, "later").await?;
    ground.old_enough("later").await?;
    let asked = proxy.asked(&Method::GET, "/resourceslices/web-0").len();
    assert!((1..=4).contains(&asked), "it asked {asked} times about a slice that is gone");
    proxy.thaw();
    ground.judged("Hold/NeededForDeletion", 0).await?;
    ground.gone("later").await
}
