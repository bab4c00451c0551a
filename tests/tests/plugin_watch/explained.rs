//! One thing that is explained, or drawn.

use anyhow::{Result, ensure};
use eno_tests::webhook::Guarded;
use serde_json::{Value, json};

use super::{Piped, release, terminal};

#[tokio::test(flavor = "multi_thread")]
async fn why_is_told_again_until_it_is_gone() -> Result<()> {
    let ground = Guarded::unguarded("watch-why").await?;
    let deleting = ground.deleting("web", 2).await?;
    let terminal = terminal(&ground, &["why", "composition/web"], 30, 80)?;
    terminal
        .screen_is("what it waits for", |screen| screen.contains("eno-controller has not seen the deletion"))
        .await?;
    let mut piped = Piped::start(&ground, ground.cluster().kubeconfig(), &["why", "composition/web", "-o", "json"])?;
    let next: Value = serde_json::from_str(&piped.line().await?)?;
    ensure!(next["type"] == "ADDED" && next["object"]["blockers"][0]["code"] == "DeletionNotObserved", "{next}");
    let seen = json!({"observedCompositionGeneration": deleting.metadata.generation, "reconciled": null});
    ground.set_status("Composition", "web", &json!({"currentSynthesis": seen})).await?;
    terminal
        .screen_is("what is left", |screen| screen.contains("2 of 2 resources are not known to be deleted"))
        .await?;
    // Of the slice only its status changes.
    ground.states("web-0", &json!({"resources": [{"deleted": true}, {"deleted": false}]})).await?;
    terminal
        .screen_is("what is left", |screen| screen.contains("1 of 2 resources are not known to be deleted"))
        .await?;
    let off = r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#;
    ground.kubectl(&["patch", "compositions.eno.azure.io", "web", "--type=json", "-p", off]).await?.success()?;
    let (code, shown) = terminal.ended().await?;
    ensure!(code == 0 && shown.contains("composition.eno.azure.io/web deleted"), "{code} {shown}");
    let mut last = Value::Null;
    while let Ok(line) = piped.line().await {
        last = serde_json::from_str(&line)?;
    }
    ensure!(last["type"] == "DELETED", "{last}");
    ensure!(piped.end().await?.0 == 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_grows_and_shrinks() -> Result<()> {
    let ground = Guarded::unguarded("watch-tree").await?;
    let web = ground.live("web", 1).await?;
    let terminal = terminal(&ground, &["tree"], 24, 80)?;
    terminal.screen_is("the tree", |screen| screen.contains("ResourceSlice/web-0")).await?;
    let mut piped = Piped::start(&ground, ground.cluster().kubeconfig(), &["tree"])?;
    piped.says("EVENT NAME IN STATE REASON AGE").await?;
    piped.says("ADDED Composition/web <none> Ready").await?;
    let mut last = String::new();
    while !last.contains("v1/ConfigMap") {
        last = piped.line().await?;
    }
    ground.garbage(&web, "web-old").await?;
    terminal
        .screen_is("more", |screen| screen.contains("ResourceSlice/web-old ") && screen.contains("Collect"))
        .await?;
    piped.says("ADDED Synthesis/none Composition/web Unreferenced").await?;
    piped.says("ADDED ResourceSlice/web-old Synthesis/none Wait TooNew").await?;
    piped.says("MODIFIED ResourceSlice/web-old Synthesis/none Collect Unreferenced").await?;
    release(&ground, "web-old").await?;
    ground.delete_slice("web-old", &[]).await?.success()?;
    terminal.screen_is("less", |screen| !screen.contains("web-old")).await
}
