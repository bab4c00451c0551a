//! What it shows.

use anyhow::{Result, ensure};
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use eno_tests::{captures, workspace};
use kube::api::DeleteParams;
use serde_json::json;

use super::{chosen, command, find_slice, synthesize, top};

#[tokio::test(flavor = "multi_thread")]
async fn shows_what_changes_with_what_is_stuck_first() -> Result<()> {
    let ground = Guarded::unguarded("top").await?;
    let web = ground.live("web", 1).await?;
    let mut terminal = top(&ground, &[], 24, 80)?;
    terminal
        .screen_is("compositions", |screen| screen.contains("[1 compositions 1]") && screen.contains("live"))
        .await?;
    terminal.type_in("2")?;
    terminal.screen_is("slices", |screen| chosen(screen).contains("web-0") && screen.contains("Keep")).await?;
    // Somebody sticks one, and makes others.
    ground.deleting("legacy", 1).await?;
    ground.terminating("legacy-0").await?;
    for index in 0..9 {
        ground.garbage(&web, &format!("web-old-{index}")).await?;
    }
    let is_first = |screen: &str| screen.lines().nth(3).is_some_and(|line| line.contains("!legacy-0"));
    terminal.screen_is("what is stuck", |screen| is_first(screen) && screen.contains("NeededForDeletion")).await?;
    terminal.screen_is("the sentence of the chosen row", |screen| screen.contains("the current synthesis of")).await?;
    terminal.screen_is("what time alone changes", |screen| screen.contains("Collect")).await?;
    // Smaller in mid-run: the cursor stays in sight, wherever its row is by now.
    terminal.resize(12, 40)?;
    // It has drawn itself anew: only where there is little room it counts what is stuck by a mark.
    let fits = |screen: &str| screen.contains(" !10]") && screen.lines().all(|line| line.chars().count() <= 40);
    terminal.screen_is("the chosen row on 40 × 12", |screen| chosen(screen).contains("web-0 ") && fits(screen)).await?;
    terminal.type_in("g")?;
    terminal.screen_is("the first row", |screen| is_first(screen) && chosen(screen).contains("legacy-0")).await?;
    terminal.type_in("G")?;
    terminal.screen_is("the last row", |screen| !screen.contains("legacy-0") && !chosen(screen).is_empty()).await?;
    terminal.resize(24, 80)?;
    terminal.screen_is("all again", |screen| is_first(screen)).await?;
    ground.cluster().eno("ResourceSlice", ground.name()).delete("web-old-3", &DeleteParams::default()).await?;
    ground.patch_slice("web-old-3", "merge", &json!({"metadata": {"finalizers": null}})).await?.success()?;
    terminal.screen_is("what is gone no more", |screen| !screen.contains("web-old-3")).await?;
    terminal.type_in("q")?;
    let (code, shown) = terminal.ended().await?;
    ensure!(code == 0 && shown.contains("38;5;"), "{code}: no colour in {shown:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn says_the_same_without_colour() -> Result<()> {
    let ground = Guarded::unguarded("top-plain-words").await?;
    ground.deleting("legacy", 1).await?;
    ground.terminating("legacy-0").await?;
    let mut command = command(&ground, ground.cluster().kubeconfig(), &[])?;
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::open_sized(command, 12, 40)?;
    terminal.screen_is("that something is stuck", |screen| screen.contains("[1 compositions 1 !1]")).await?;
    terminal.type_in("2")?;
    terminal
        .screen_is("what it is", |screen| chosen(screen).starts_with(">!legacy-0") && screen.contains("Hold"))
        .await?;
    terminal.type_in("\u{3}")?;
    let (code, shown) = terminal.ended().await?;
    ensure!(code == 0 && !shown.contains("38;5;"), "{code}: colour in {shown:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn drills_down_to_why_and_follows_it() -> Result<()> {
    let ground = Guarded::unguarded("top-why").await?;
    let legacy = ground.deleting("legacy", 1).await?;
    ground.terminating("legacy-0").await?;
    let mut terminal = top(&ground, &[], 40, 80)?;
    find_slice(&mut terminal, "legacy-0").await?;
    terminal.type_in("\r")?;
    terminal.screen_is("why", |screen| screen.contains("HOLD") && screen.contains("has not seen the deletion")).await?;
    ground.states("legacy-0", &json!({"resources": [{"deleted": true}]})).await?;
    ground.reconcile(&legacy).await?;
    terminal.screen_is("what is so by now", |screen| screen.contains("RELEASE   CompositionReconciled")).await?;
    terminal.type_in("\u{1b}")?;
    terminal.screen_is("the list again", |screen| chosen(screen).contains("legacy-0")).await?;
    terminal.type_in("q")?;
    ensure!(terminal.ended().await?.0 == 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn knows_whether_the_webhook_guards_the_namespace() -> Result<()> {
    let mut ground = Guarded::unguarded("top-webhook").await?;
    let terminal = top(&ground, &[], 24, 80)?;
    terminal.screen_is("that there is none", |screen| screen.contains("4 webhook: missing")).await?;
    ground.guard(&[]).await?;
    let mut terminal = top(&ground, &[], 24, 80)?;
    terminal
        .screen_is("that there is one", |screen| screen.contains("4 webhook:") && !screen.contains("missing"))
        .await?;
    terminal.type_in("4")?;
    terminal.screen_is("its policies", |screen| screen.contains("failurePolicy is Fail where a hook protects")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_capture_in_docs_is_what_it_shows() -> Result<()> {
    let is = std::fs::read_to_string(workspace::root().join("docs/top.txt"))?;
    ensure!(is == captures::top().await?, "it is not: run `cargo xtask captures`");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn shows_the_pods_that_work_for_the_namespace_wherever_they_run() -> Result<()> {
    let ground = Guarded::unguarded("top-pods").await?;
    let eno = Guarded::unguarded("top-eno").await?;
    ground.live("web", 1).await?;
    let mut terminal = top(&ground, &[], 24, 120)?;
    terminal.screen_is("no pod yet", |screen| screen.contains("3 pods 0")).await?;
    terminal.type_in("3")?;
    synthesize(&ground, "web", &eno, None).await?;
    let is_shown =
        |screen: &str| ["synthesis", "/web", "Leftover", "orphaned"].iter().all(|word| chosen(screen).contains(word));
    terminal.screen_is("the pod", is_shown).await?;
    // It is not being deleted, so it is not released.
    terminal.type_in("r")?;
    let refusal = "refused: pod/synthesis is not being deleted";
    terminal.screen_is("why not", |screen| screen.contains(refusal)).await?;
    terminal.type_in("\u{1b}")?;
    eno.kubectl(&["delete", "pod", "synthesis", "--grace-period=0", "--force"]).await?.success()?;
    terminal.screen_is("no pod any more", |screen| screen.contains("[3 pods 0]")).await
}
