//! Collecting pauses where suspiciously much is garbage, and goes on only when a live look agrees.

use anyhow::Result;
use eno_tests::fixtures::{composition, reconciled_synthesis};
use eno_tests::webhook::Guarded;
use futures::future::try_join_all;
use serde_json::json;

/// A composition `web`, and as many slices that it does not refer to. Returns their names.
async fn garbage(ground: &Guarded, count: usize) -> Result<Vec<String>> {
    let web = ground.cluster().apply(&composition(ground.name(), "web")).await?;
    let names: Vec<_> = (0..count).map(|index| format!("garbage-{index}")).collect();
    try_join_all(names.iter().map(|name| ground.garbage(&web, name))).await?;
    Ok(names)
}

#[tokio::test(flavor = "multi_thread")]
async fn pauses_at_much_garbage_and_goes_on_when_a_live_look_agrees() -> Result<()> {
    let mut ground = Guarded::unguarded("brake").await?;
    let mut needed = vec![];
    for name in ["a", "b", "c"] {
        ground.live(name, 1).await?;
        needed.push(ground.slice(&format!("{name}-0")).await?);
    }
    for name in garbage(&ground, 150).await? {
        ground.old_enough(&name).await?;
    }
    ground.control(&["--leader-elect=true"]).await?;
    ground.looked("Collect/Unreferenced", "collected", 150).await?;
    ground.logged(&["collecting pauses: more slices than usual are garbage", "known=153"]).await?;
    ground.logged(&["collecting goes on: a live look has decided", "agreed=150 not_agreed=0"]).await?;
    let told = ground.told("CollectingPaused").await?;
    assert_eq!((&*told[0].type_, &*told[0].regarding), ("Warning", "Lease/eno-webhook"));
    assert!(told[0].note.contains("of 153 slices are garbage at once"), "{}", told[0].note);
    assert_eq!(ground.webhook().count("eno_webhook_collecting_paused", &[]).await?, 0);
    for slice in &needed {
        ground.unchanged(slice).await?;
    }
    ground.judged("Keep/ReferencedByCurrent", 3).await
}

/// The cache calls all of it garbage, the API server does not: what a watch has missed must not empty a namespace.
#[tokio::test(flavor = "multi_thread")]
async fn collects_nothing_that_a_live_look_does_not_agree_to() -> Result<()> {
    let mut ground = Guarded::unguarded("stale-brake").await?;
    let proxy = ground.control_by_proxy(&[]).await?;
    let names = garbage(&ground, 150).await?;
    ground.judged("Wait/TooNew", 150).await?;
    proxy.freeze();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    ground.compose("web", &json!({"currentSynthesis": reconciled_synthesis("1", Some(1), &names)})).await?;
    let before = [ground.slice("garbage-0").await?, ground.slice("garbage-149").await?];
    ground.logged(&["collecting pauses"]).await?;
    ground.logged(&["collecting goes on: a live look has decided", "agreed=0"]).await?;
    proxy.thaw();
    ground.judged("Keep/ReferencedByCurrent", 150).await?;
    assert_eq!(ground.webhook().count("eno_webhook_looks_total", &["result=\"collected\""]).await?, 0);
    for slice in &before {
        ground.unchanged(slice).await?;
    }
    Ok(())
}
