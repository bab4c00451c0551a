//! `-w`: lines in a pipe, a picture on a terminal, and the truth about the connection.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{Component, ControlPlane, Options};
use eno_tests::plugin::binary;
use eno_tests::proxy::{Proxy, Refusal};
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

const LIMIT: Duration = Duration::from_secs(30);

/// The plugin, in the namespace of the ground.
fn command(ground: &Guarded, kubeconfig: &Path, args: &[&str]) -> Result<Command> {
    let mut command = Command::new(binary()?);
    command.args(args).args(["-n", ground.name(), "-w"]).env("KUBECONFIG", kubeconfig);
    Ok(command)
}

fn terminal(ground: &Guarded, args: &[&str], rows: u16, columns: u16) -> Result<Terminal> {
    Terminal::open_sized(command(ground, ground.cluster().kubeconfig(), args)?, rows, columns)
}

/// A watch whose lines are read.
struct Piped {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    errors: Lines<BufReader<ChildStderr>>,
}

impl Piped {
    fn start(ground: &Guarded, kubeconfig: &Path, args: &[&str]) -> Result<Self> {
        let mut command = command(ground, kubeconfig, args)?;
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("it has a standard output")?).lines();
        let errors = BufReader::new(child.stderr.take().context("it has a standard error")?).lines();
        Ok(Self { child, lines, errors })
    }

    /// The next line.
    async fn line(&mut self) -> Result<String> {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await.context("no line in time")??;
        line.context("it has ended")
    }

    /// The next line must have these words, and an age perhaps.
    async fn says(&mut self, words: &str) -> Result<()> {
        let line = self.line().await?;
        let said = line.split_whitespace().collect::<Vec<_>>().join(" ");
        ensure!(said.starts_with(words), "expected {words:?}, it says {line:?}");
        Ok(())
    }

    /// The next line on its standard error must say this.
    async fn warns(&mut self, text: &str) -> Result<()> {
        let line = tokio::time::timeout(LIMIT, self.errors.next_line()).await.context("no warning in time")??;
        let line = line.context("it has ended")?;
        ensure!(line.starts_with(text), "expected {text:?}, it says {line:?}");
        Ok(())
    }

    /// Its exit code, and what it said on its standard error since.
    async fn end(mut self) -> Result<(i32, String)> {
        let status = tokio::time::timeout(LIMIT, self.child.wait()).await.context("it does not end")??;
        let mut said = String::new();
        while let Some(line) = self.errors.next_line().await? {
            said += &(line + "\n");
        }
        Ok((status.code().unwrap_or(-1), said))
    }
}

async fn release(ground: &Guarded, slice: &str) -> Result<()> {
    let patch = json!([{"op": "test", "path": "/metadata/finalizers/0", "value": CLEANUP_FINALIZER},
        {"op": "remove", "path": "/metadata/finalizers/0"}]);
    ground.patch_slice(slice, "json", &patch).await?.success().map(drop)
}

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
async fn a_lost_connection_is_told_and_heals() -> Result<()> {
    let ground = Guarded::unguarded("watch-stale").await?;
    let web = ground.live("web", 1).await?;
    let proxy = Proxy::start(ground.cluster()).await?;
    let terminal = Terminal::open(command(&ground, proxy.kubeconfig(), &["slices"])?)?;
    let mut piped = Piped::start(&ground, proxy.kubeconfig(), &["slices", "--no-headers"])?;
    piped.says("ADDED web-0").await?;
    terminal.screen_is("that it is live", |screen| screen.starts_with("live   1 slice ")).await?;
    proxy.refuse(|_| Some(Refusal::Broken));
    proxy.cut();
    terminal.screen_is("that it is stale", |screen| screen.starts_with("STALE ") && screen.contains("web-0")).await?;
    ground.garbage(&web, "web-old").await?;
    proxy.refuse_nothing();
    terminal.screen_is("all, live", |screen| screen.contains("web-old") && screen.starts_with("live ")).await?;
    // What was heard before the loss is not told again.
    piped.says("ADDED web-old").await?;
    piped.warns("Warning: the connection is lost, what was shown is stale: ").await?;
    piped.warns("Warning: connected again").await
}

#[tokio::test(flavor = "multi_thread")]
async fn heals_when_the_api_server_is_restarted() -> Result<()> {
    let mut controlplane = ControlPlane::start(Options::default()).await?;
    let ground = Guarded::on(Cluster::of(&controlplane).await?, "watch-restart").await?;
    let web = ground.live("web", 1).await?;
    let mut terminal = terminal(&ground, &["slices"], 10, 60)?;
    terminal.screen_is("that it is live", |screen| screen.starts_with("live   1 slice ")).await?;
    controlplane.kill(Component::KubeApiserver);
    terminal.screen_is("that it is stale", |screen| screen.starts_with("STALE ") && screen.contains("web-0")).await?;
    controlplane.revive_apiserver().await?;
    ground.garbage(&web, "web-old").await?;
    terminal
        .screen_is("all, live", |screen| screen.starts_with("live   2 slices") && screen.contains("web-old"))
        .await?;
    terminal.type_in("\u{3}")?;
    ensure!(terminal.ended().await?.0 == 130);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_has_expired_begins_again_without_a_word() -> Result<()> {
    let ground = Guarded::unguarded("watch-410").await?;
    let web = ground.live("web", 1).await?;
    let proxy = Proxy::start(ground.cluster()).await?;
    let mut piped = Piped::start(&ground, proxy.kubeconfig(), &["slices", "--no-headers"])?;
    piped.says("ADDED web-0").await?;
    let expired = AtomicUsize::new(0);
    proxy.refuse(move |asked| {
        let is_watch = asked.path.contains("watch=") && asked.path.contains("resourceslices");
        (is_watch && expired.fetch_add(1, Ordering::Relaxed) == 0).then_some(Refusal::Expired)
    });
    let lists = || proxy.asked(&Method::GET, "resourceslices?").iter().filter(|a| !a.path.contains("watch=")).count();
    let before = lists();
    proxy.cut();
    ground.garbage(&web, "web-old").await?;
    piped.says("ADDED web-old").await?;
    ensure!(lists() > before, "it was not listed again");
    piped.child.start_kill()?;
    let (_, stderr) = piped.end().await?;
    ensure!(stderr.is_empty(), "{stderr}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn where_watching_is_forbidden_it_lists() -> Result<()> {
    let ground = Guarded::unguarded("watch-poll").await?;
    let web = ground.live("web", 1).await?;
    let proxy = Proxy::start(ground.cluster()).await?;
    proxy.refuse(|asked| asked.path.contains("watch=").then_some(Refusal::Forbidden));
    let mut piped = Piped::start(&ground, proxy.kubeconfig(), &["slices", "--no-headers"])?;
    piped.says("ADDED web-0").await?;
    ground.garbage(&web, "web-old").await?;
    piped.says("ADDED web-old").await?;
    let mut warned = [piped.errors.next_line().await?, piped.errors.next_line().await?].map(Option::unwrap_or_default);
    warned.sort();
    ensure!(warned[0].starts_with("Warning: cannot watch compositions, only list them"), "{warned:?}");
    ensure!(warned[1].starts_with("Warning: cannot watch resourceslices, only list them"), "{warned:?}");
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
