//! `kubectl eno wait`: says what it waits for when that changes, and ends when it is there.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::reconciled_states;
use eno_tests::plugin::{binary, eno};
use eno_tests::webhook::Guarded;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

const LIMIT: Duration = Duration::from_secs(30);

/// A wait that runs, and what it says.
struct Waiting {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl Waiting {
    fn start(ground: &Guarded, args: &[&str]) -> Result<Self> {
        let mut child = Command::new(binary()?)
            .args(["wait", "-n", ground.name()])
            .args(args)
            .env("KUBECONFIG", ground.cluster().kubeconfig())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let lines = BufReader::new(child.stderr.take().context("it has a standard error")?).lines();
        Ok(Self { child, lines })
    }

    /// The next line, which must say this.
    async fn says(&mut self, text: &str) -> Result<()> {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await.context("no line in time")??;
        let line = line.context("it has ended")?;
        ensure!(line.contains(text), "expected {text:?}, it says {line:?}");
        Ok(())
    }

    /// Its exit code and its standard output.
    async fn end(self) -> Result<(i32, String)> {
        let output = tokio::time::timeout(LIMIT, self.child.wait_with_output()).await.context("it does not end")??;
        Ok((output.status.code().unwrap_or(-1), String::from_utf8(output.stdout)?))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tells_what_a_deletion_waits_for_until_the_composition_is_gone() -> Result<()> {
    let ground = Guarded::unguarded("wait").await?;
    let deleting = ground.deleting("web", 2).await?;
    let mut waiting = Waiting::start(&ground, &["composition/web"])?;
    waiting.says("eno-controller has not seen the deletion").await?;
    let seen = json!({"observedCompositionGeneration": deleting.metadata.generation, "reconciled": null});
    ground.set_status("Composition", "web", &json!({"currentSynthesis": seen})).await?;
    waiting.says("2 of 2 resources are not known to be deleted").await?;
    ground.states("web-0", &json!({"resources": [{"deleted": true}, {"deleted": false}]})).await?;
    waiting.says("1 of 2 resources are not known to be deleted").await?;
    ground.states("web-0", &reconciled_states(2, true)).await?;
    ground.reconcile(&deleting).await?;
    ground
        .kubectl(&[
            "patch",
            "compositions.eno.azure.io",
            "web",
            "--type=json",
            "-p",
            r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#,
        ])
        .await?
        .success()?;
    let (code, stdout) = waiting.end().await?;
    ensure!((code, stdout.as_str()) == (0, "composition.eno.azure.io/web deleted\n"), "{code} {stdout}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slice_of_the_same_name_is_another_one() -> Result<()> {
    let ground = Guarded::unguarded("wait-again").await?;
    let web = ground.live("web", 1).await?;
    let mut waiting = Waiting::start(&ground, &["slice/web-0"])?;
    waiting.says("nobody has deleted it yet").await?;
    let patch = json!([{"op": "test", "path": "/metadata/finalizers/0", "value": CLEANUP_FINALIZER},
        {"op": "remove", "path": "/metadata/finalizers/0"}]);
    ground.patch_slice("web-0", "json", &patch).await?.success()?;
    ground.delete_slice("web-0", &[]).await?.success()?;
    ground.garbage(&web, "web-0").await?;
    let (code, stdout) = waiting.end().await?;
    ensure!((code, stdout.as_str()) == (0, "resourceslice.eno.azure.io/web-0 deleted\n"), "{code} {stdout}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_for_a_synthesis_to_be_reconciled() -> Result<()> {
    let ground = Guarded::unguarded("wait-reconciled").await?;
    let web = ground.live("web", 2).await?;
    let done = eno(ground.cluster(), &["wait", "comp/web", "-n", ground.name(), "--for=reconciled"]).await?;
    ensure!(done.stdout == "composition.eno.azure.io/web reconciled\n", "{done:?}");
    ground.states("web-0", &json!({"resources": [{"reconciled": true}, {}]})).await?;
    ground.set_status("Composition", "web", &json!({"currentSynthesis": {"reconciled": null}})).await?;
    let mut waiting = Waiting::start(&ground, &["comp", "web", "--for", "reconciled"])?;
    waiting.says("1 of 2 resources are reconciled").await?;
    ground.states("web-0", &reconciled_states(2, false)).await?;
    ground.reconcile(&web).await?;
    ensure!(waiting.end().await?.0 == 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_with_what_it_waited_for_at_last() -> Result<()> {
    let ground = Guarded::unguarded("wait-timeout").await?;
    ground.deleting("web", 1).await?;
    for timeout in ["--timeout=1s", "--timeout=0"] {
        let output = eno(ground.cluster(), &["wait", "slice/web-0", "-n", ground.name(), timeout]).await?;
        ensure!(output.code == 124 && output.stdout.is_empty(), "{output:?}");
        let last: Vec<&str> = output.stderr.lines().rev().take(3).collect();
        ensure!(last[0] == format!("next: kubectl eno why resourceslice/web-0 -n {}", ground.name()), "{last:?}");
        ensure!(
            output.stderr.contains("error: timed out waiting for resourceslice.eno.azure.io/web-0 to be deleted"),
            "{last:?}"
        );
    }
    let never = eno(ground.cluster(), &["wait", "slice/absent", "-n", ground.name(), "--for=reconciled"]).await?;
    ensure!(never.code == 1 && never.stderr.contains("it does not exist"), "{never:?}");
    let gone = eno(ground.cluster(), &["wait", "slice/absent", "-n", ground.name()]).await?;
    ensure!(gone.code == 0, "{gone:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_it_says_what_it_waited_for() -> Result<()> {
    let ground = Guarded::unguarded("wait-interrupted").await?;
    ground.deleting("web", 1).await?;
    let mut waiting = Waiting::start(&ground, &["slice/web-0"])?;
    waiting.says("waiting: ").await?;
    let pid = waiting.child.id().context("it runs")?;
    kill(Pid::from_raw(pid.cast_signed()), Signal::SIGINT)?;
    waiting.says("error: interrupted while waiting").await?;
    ensure!(waiting.end().await?.0 == 130);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_watch_it_still_ends() -> Result<()> {
    let ground = Guarded::unguarded("wait-poll").await?;
    ground.live("web", 1).await?;
    for verb in [&["--verb=get,list", "--resource=resourceslices.eno.azure.io,compositions.eno.azure.io"]] {
        ground.kubectl(&[&["create", "role", "look"], &verb[..]].concat()).await?.success()?;
        ground.kubectl(&["create", "rolebinding", "look", "--role=look", "--user=eve"]).await?.success()?;
    }
    eventually("the right to hold", LIMIT, async || {
        ground.kubectl(&["auth", "can-i", "list", "compositions.eno.azure.io", "--as=eve"]).await?.success()
    })
    .await?;
    let mut waiting = Waiting::start(&ground, &["slice/web-0", "--as=eve"])?;
    waiting.says("nobody has deleted it yet").await?;
    ground.patch_slice("web-0", "json", &json!([{"op": "remove", "path": "/metadata/finalizers"}])).await?.success()?;
    ground.delete_slice("web-0", &[]).await?.success()?;
    ensure!(waiting.end().await?.0 == 0);
    Ok(())
}
