//! Lists: lines in a pipe, a picture on a terminal.

use anyhow::{Result, ensure};
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use serde_json::{Value, json};

use super::{Piped, command, release, terminal};

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_gets_a_line_for_each_change_that_shows() -> Result<()> {
    let ground = Guarded::unguarded("watch").await?;
    let web = ground.live("web", 1).await?;
    let mut watch = Piped::start(&ground, ground.cluster().kubeconfig(), &["slices"])?;
    watch.says("EVENT NAME COMPOSITION VERDICT REASON AGE").await?;
    watch.says("ADDED web-0 web Keep ReferencedByCurrent").await?;
    // Nothing that is shown changes by this.
    ground.patch_slice("web-0", "merge", &json!({"metadata": {"labels": {"a": "b"}}})).await?.success()?;
    ground.garbage(&web, "web-old").await?;
    watch.says("ADDED web-old web Wait TooNew").await?;
    // By time alone.
    watch.says("MODIFIED web-old web Collect Unreferenced").await?;
    ground.delete_slice("web-old", &[]).await?.success()?;
    watch.says("MODIFIED web-old web Release Unreferenced").await?;
    release(&ground, "web-old").await?;
    watch.says("DELETED web-old web Release").await?;
    // A composition decides about its slices.
    ground.set_status("Composition", "web", &json!({"currentSynthesis": {"resourceSlices": []}})).await?;
    watch.says("MODIFIED web-0 web Collect Unreferenced").await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_selected_any_more_has_left() -> Result<()> {
    let ground = Guarded::unguarded("watch-left").await?;
    ground.live("web", 1).await?;
    let mut watch = Piped::start(&ground, ground.cluster().kubeconfig(), &["slices", "--verdict=keep"])?;
    watch.says("EVENT").await?;
    watch.says("ADDED web-0").await?;
    ground.set_status("Composition", "web", &json!({"currentSynthesis": {"resourceSlices": []}})).await?;
    watch.says("LEFT web-0 web Keep").await
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_one_document_on_each_line() -> Result<()> {
    let ground = Guarded::unguarded("watch-json").await?;
    ground.live("web", 1).await?;
    let mut watch = Piped::start(&ground, ground.cluster().kubeconfig(), &["compositions", "-o", "json"])?;
    let next: Value = serde_json::from_str(&watch.line().await?)?;
    ensure!(next["type"] == "ADDED" && next["object"]["name"] == "web", "{next}");
    ensure!(next["object"]["state"] == "Ready", "{next}");
    ground.kubectl(&["delete", "compositions.eno.azure.io", "web", "--wait=false"]).await?.success()?;
    let next: Value = serde_json::from_str(&watch.line().await?)?;
    ensure!(next["type"] == "MODIFIED" && next["object"]["state"] == "DeletionRequested", "{next}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_what_changes_and_what_went() -> Result<()> {
    let ground = Guarded::unguarded("watch-tty").await?;
    let web = ground.live("web", 1).await?;
    for index in 0..12 {
        ground.garbage(&web, &format!("old-{index:02}")).await?;
    }
    let mut terminal = terminal(&ground, &["slices", "--stuck-after=1s"], 12, 40)?;
    terminal.screen_is("what fits", |screen| screen.contains("13 slices") && screen.contains("… and ")).await?;
    ensure!(terminal.screen().lines().all(|line| line.chars().count() < 40), "{}", terminal.screen());
    ground.delete_slice("web-0", &[]).await?.success()?;
    terminal.screen_is("that they are stuck", |screen| screen.starts_with("live   13 slices, 13 stuck")).await?;
    // Room for all.
    terminal.resize(24, 80)?;
    terminal
        .screen_is("all of it", |screen| screen.contains("web-0") && screen.contains("old-11") && !screen.contains("…"))
        .await?;
    ensure!(terminal.screen().starts_with("live   13 slices, 13 stuck"), "{}", terminal.screen());
    release(&ground, "web-0").await?;
    terminal.screen_is("that it is gone", |screen| screen.contains("web-0") && screen.contains("Gone")).await?;
    terminal.screen_is("it no more", |screen| screen.contains("12 slices") && !screen.contains("web-0")).await?;
    terminal.type_in("\u{3}")?;
    let (code, shown) = terminal.ended().await?;
    ensure!(code == 130, "it ended with {code}");
    ensure!(shown.contains("\u{1b}[36mCollect"), "no colour in {shown:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_colour_a_terminal_shows_the_same_words() -> Result<()> {
    let ground = Guarded::unguarded("watch-plain").await?;
    ground.live("web", 1).await?;
    let mut command = command(&ground, ground.cluster().kubeconfig(), &["slices", "--timeout=2s"])?;
    command.env("NO_COLOR", "1");
    let (code, shown) = Terminal::open(command)?.ended().await?;
    ensure!(code == 0 && shown.contains("Keep") && !shown.contains("\u{1b}[32m"), "{code} {shown:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_when_all_are_as_is_waited_for() -> Result<()> {
    let ground = Guarded::unguarded("watch-until").await?;
    ground.finished("gone", 1).await?;
    ground.live("web", 1).await?;
    let kubeconfig = ground.cluster().kubeconfig();
    let args = ["compositions", "gone", "--until=deleted", "--no-headers"];
    let mut deleted = Piped::start(&ground, kubeconfig, &args)?;
    deleted.says("ADDED gone").await?;
    let off = r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#;
    ground.kubectl(&["patch", "compositions.eno.azure.io", "gone", "--type=json", "-p", off]).await?.success()?;
    deleted.says("DELETED gone").await?;
    ensure!(deleted.end().await?.0 == 0);

    let late = Piped::start(&ground, kubeconfig, &["slices", "web-0", "--until=deleted", "--timeout=1s"])?;
    let (code, stderr) = late.end().await?;
    ensure!(code == 124, "{code} {stderr}");
    ensure!(
        stderr.contains("timed out waiting for 1 of 1 to be deleted; resourceslice.eno.azure.io/web-0"),
        "{stderr}"
    );

    let reconciled = Piped::start(&ground, kubeconfig, &["compositions", "--until=reconciled", "-o", "name"])?;
    ensure!(reconciled.end().await?.0 == 0);

    let empty = Piped::start(&ground, kubeconfig, &["compositions", "--deleting", "--until=empty"])?;
    ensure!(empty.end().await?.0 == 0);

    ground.delete_slice("web-0", &[]).await?.success()?;
    let never = Piped::start(&ground, kubeconfig, &["slices", "web-0", "--until=reconciled"])?;
    let (code, stderr) = never.end().await?;
    ensure!(code == 1 && stderr.contains("it is being deleted"), "{code} {stderr}");
    Ok(())
}
