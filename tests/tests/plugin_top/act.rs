//! What its keys do to the cluster: nothing before a person has said so, and what is needed stays.

use anyhow::{Context, Result, ensure};
use eno_shared::names::FORCE_RESYNTHESIS;
use eno_tests::webhook::Guarded;
use kube::ResourceExt;
use serde_json::json;

use super::{chosen, exists, find_slice, synthesize, top};

#[tokio::test(flavor = "multi_thread")]
async fn releases_after_a_dry_run_and_the_typed_name() -> Result<()> {
    let ground = Guarded::new("top-release").await?;
    ground.finished("done", 1).await?;
    ground.terminating("done-0").await?;
    let backups = tempfile::tempdir()?;
    let folder = backups.path().to_str().context("a path of text")?;
    let mut terminal = top(&ground, &["--backup-dir", folder], 30, 100)?;
    find_slice(&mut terminal, "done-0").await?;
    for (typed, ends) in [("y\r", "release is cancelled"), ("done-0\r", "gone after")] {
        let before = ground.slice("done-0").await?;
        terminal.screen_is("the list", |screen| screen.contains("q quit")).await?;
        terminal.type_in("r")?;
        terminal.screen_is("the dry run", |screen| screen.contains("finalizer released (server dry run)")).await?;
        terminal.screen_is("the question", |screen| screen.contains("Type the name to confirm (done-0):")).await?;
        ground.unchanged(&before).await?;
        terminal.type_in(typed)?;
        terminal.screen_is("its end", |screen| screen.contains(ends) && screen.contains("Enter back")).await?;
        ensure!(exists(&ground, "done-0").await? != ends.contains("gone"), "{ends}:\n{}", terminal.screen());
        let written: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
        ensure!(written.len() == 1, "one backup, for the one that was asked about");
        std::fs::remove_file(written[0].path())?;
        terminal.type_in("\r")?;
        terminal.screen_is("the result in a line", |screen| screen.contains(ends) && screen.contains("q quit")).await?;
    }
    terminal.type_in("q")?;
    ensure!(terminal.ended().await?.0 == 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_to_release_what_is_needed_unless_forced() -> Result<()> {
    let mut ground = Guarded::unguarded("top-refuse").await?;
    ground.deleting("legacy", 1).await?;
    ground.terminating("legacy-0").await?;
    ground.guard(&[]).await?;
    let backups = tempfile::tempdir()?;
    let folder = backups.path().to_str().context("a path of text")?;
    let mut terminal = top(&ground, &["--backup-dir", folder], 30, 100)?;
    find_slice(&mut terminal, "legacy-0").await?;
    let before = ground.slice("legacy-0").await?;
    terminal.type_in("r")?;
    terminal
        .screen_is("the refusal", |screen| screen.contains("error: refused:") && screen.contains("Enter back"))
        .await?;
    terminal.type_in("\r")?;
    terminal
        .screen_is("it in a line", |screen| screen.contains("error: refused:") && screen.contains("q quit"))
        .await?;
    ground.unchanged(&before).await?;
    // With force it says what is lost, and asks for the name.
    terminal.type_in("R")?;
    terminal.screen_is("what is lost", |screen| screen.contains("1 resource will NOT be deleted by Eno then")).await?;
    terminal.screen_is("the question", |screen| screen.contains("Type the name to confirm (legacy-0):")).await?;
    ground.unchanged(&before).await?;
    terminal.type_in("legacy-0\r")?;
    terminal.screen_is("its end", |screen| screen.contains("gone after")).await?;
    ensure!(!exists(&ground, "legacy-0").await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn cleans_up_after_yes_and_keeps_what_is_needed() -> Result<()> {
    let ground = Guarded::unguarded("top-cleanup").await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "web-old").await?;
    ground.old_enough("web-old").await?;
    let mut terminal = top(&ground, &[], 24, 80)?;
    find_slice(&mut terminal, "web-0").await?;
    for (typed, gone) in [("\u{1b}", false), ("y\r", true)] {
        terminal.screen_is("the list", |screen| screen.contains("q quit")).await?;
        terminal.type_in("c")?;
        terminal
            .screen_is("what would be done", |screen| {
                screen.contains("deleted from") && screen.contains("(server dry run)")
            })
            .await?;
        terminal.screen_is("the question", |screen| screen.contains("Do you want to continue? (y/N):")).await?;
        ensure!(exists(&ground, "web-old").await?, "it is gone before anybody said so");
        terminal.type_in(typed)?;
        terminal.screen_is("its end", |screen| screen.contains("Enter back")).await?;
        ensure!(exists(&ground, "web-old").await? != gone, "{typed:?}:\n{}", terminal.screen());
        terminal.type_in("\r")?;
    }
    ensure!(exists(&ground, "web-0").await?);
    terminal.screen_is("the result in a line", |screen| screen.contains("1 changed, 0 skipped, 0 failed")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn asks_for_a_new_synthesis_after_yes() -> Result<()> {
    let ground = Guarded::unguarded("top-resynth").await?;
    let web = ground.synthesized("web").await?;
    let current = web.data["status"]["currentSynthesis"]["uuid"].as_str().map(str::to_owned);
    let compositions = ground.cluster().eno("Composition", ground.name());
    let asked = async || anyhow::Ok(compositions.get("web").await?.annotations().get(FORCE_RESYNTHESIS).cloned());
    let mut terminal = top(&ground, &[], 24, 100)?;
    // From the row of a slice: it is its composition that is synthesized.
    find_slice(&mut terminal, "web-0").await?;
    for (typed, uuid) in [("n\r", None), ("y\r", current)] {
        terminal.screen_is("the list", |screen| screen.contains("q quit")).await?;
        terminal.type_in("s")?;
        terminal.screen_is("the dry run", |screen| screen.contains("new synthesis requested (server dry run)")).await?;
        terminal.screen_is("the question", |screen| screen.contains("Do you want to continue? (y/N):")).await?;
        ensure!(asked().await?.is_none(), "it was asked before anybody said so");
        terminal.type_in(typed)?;
        terminal.screen_is("its end", |screen| screen.contains("Enter back")).await?;
        ensure!(asked().await? == uuid, "{typed:?}:\n{}", terminal.screen());
        terminal.type_in("\r")?;
    }
    terminal.screen_is("the result in a line", |screen| screen.contains("web new synthesis requested")).await?;
    // A composition that has changed since: a new synthesis could orphan what it drops.
    compositions.patch("web", &Default::default(), &kube::api::Patch::Merge(json!({"spec": {"x": 1}}))).await?;
    terminal.type_in("s")?;
    terminal.screen_is("the refusal", |screen| screen.contains("refused to ask for a new synthesis")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn deletes_a_pod_by_force_whose_node_is_gone_after_the_typed_name() -> Result<()> {
    let ground = Guarded::unguarded("top-pod").await?;
    ground.live("web", 1).await?;
    // No such node exists, and no kubelet confirms the deletion.
    synthesize(&ground, "web", &ground, Some("gone")).await?;
    ground.kubectl(&["delete", "pod", "synthesis", "--wait=false"]).await?.success()?;
    let pods = ground.cluster().api("v1", "Pod", Some(ground.name()));
    let mut terminal = top(&ground, &[], 24, 100)?;
    terminal.screen_is("the first picture", |screen| screen.contains("[1 compositions")).await?;
    terminal.type_in("3")?;
    terminal.screen_is("the pod", |screen| chosen(screen).contains("synthesis")).await?;
    for (typed, is_left) in [("gone\r", true), ("synthesis\r", false)] {
        terminal.screen_is("the list", |screen| screen.contains("q quit")).await?;
        terminal.type_in("r")?;
        terminal.screen_is("the dry run", |screen| screen.contains("force deleted (server dry run)")).await?;
        terminal.screen_is("the question", |screen| screen.contains("Type the name to confirm (synthesis):")).await?;
        terminal.type_in(typed)?;
        terminal.screen_is("its end", |screen| screen.contains("Enter back")).await?;
        let left = pods.get_opt("synthesis").await?.is_some();
        ensure!(left == is_left, "{typed:?}:\n{}", terminal.screen());
        terminal.type_in("\r")?;
    }
    terminal.screen_is("no pod any more", |screen| screen.contains("[3 pods 0]")).await?;
    // Against the rules there is no way, whatever is typed.
    synthesize(&ground, "web", &ground, None).await?;
    terminal.screen_is("the next pod", |screen| chosen(screen).contains("synthesis")).await?;
    terminal.type_in("R")?;
    terminal.screen_is("why not", |screen| screen.contains("no pod is released against the rules")).await
}
