//! What it survives, and how it ends.

use anyhow::{Context, Result, ensure};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{Component, ControlPlane, Options};
use eno_tests::eventually::eventually;
use eno_tests::proxy::{Proxy, Refusal};
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use eno_tests::{captures, plugin, workspace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::Command;

use super::{LIMIT, chosen, command, find_slice, top};

#[tokio::test(flavor = "multi_thread")]
async fn says_that_it_is_stale_and_heals() -> Result<()> {
    let ground = Guarded::unguarded("top-stale").await?;
    let web = ground.live("web", 1).await?;
    let proxy = Proxy::start(ground.cluster()).await?;
    let mut terminal = Terminal::open(command(&ground, proxy.kubeconfig(), &[])?)?;
    find_slice(&mut terminal, "web").await?;
    proxy.refuse(|_| Some(Refusal::Broken));
    proxy.cut();
    terminal.screen_is("that it is stale", |screen| screen.contains("STALE") && screen.contains("web-0")).await?;
    // What cannot be done then says so, and harms nothing.
    terminal.type_in("r")?;
    terminal
        .screen_is("why not", |screen| screen.contains("Error from server") && screen.contains("Enter back"))
        .await?;
    terminal.type_in("\r")?;
    ground.garbage(&web, "web-old").await?;
    proxy.refuse_nothing();
    terminal
        .screen_is("all, live", |screen| {
            screen.contains("web-old") && screen.contains("live") && !screen.contains("STALE")
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn outlives_a_restart_of_the_api_server() -> Result<()> {
    let mut controlplane = ControlPlane::start(Options::default()).await?;
    let ground = Guarded::on(Cluster::of(&controlplane).await?, "top-restart").await?;
    let web = ground.live("web", 1).await?;
    let mut terminal = top(&ground, &[], 24, 80)?;
    find_slice(&mut terminal, "web").await?;
    controlplane.kill(Component::KubeApiserver);
    terminal.screen_is("that it is stale", |screen| screen.contains("STALE") && screen.contains("web-0")).await?;
    controlplane.revive_apiserver().await?;
    ground.garbage(&web, "web-old").await?;
    terminal.screen_is("all, live", |screen| screen.contains("web-old") && !screen.contains("STALE")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn gives_the_terminal_back_when_it_is_killed() -> Result<()> {
    let dump = workspace::root().join("plugin/tests/data/demo.yaml");
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGINT, 130)] {
        let mut command = Command::new(plugin::binary()?);
        command.args(["top", "--complete", "-f"]).arg(&dump);
        let terminal = Terminal::open(command)?;
        terminal.screen_is("the first picture", |screen| screen.contains("q quit")).await?;
        ensure!(!terminal.is_cooked()?);
        let pid = terminal.pid().context("it runs")?;
        kill(Pid::from_raw(pid.cast_signed()), signal)?;
        eventually("the terminal to be as it was", LIMIT, async || {
            ensure!(terminal.is_cooked()? && !terminal.screen().contains("q quit"), "{}", terminal.screen());
            Ok(())
        })
        .await?;
        let (ended, shown) = terminal.ended().await?;
        ensure!(ended == code, "{signal}: it ended with {ended}");
        let restored = ["\u{1b}[?1049l", "\u{1b}[?25h"].iter().all(|sequence| shown.contains(sequence));
        ensure!(restored, "{signal}: {shown:?}");
    }
    Ok(())
}

/// Whoever drags a window types on, and a multiplexer may hand over both at once.
#[tokio::test(flavor = "multi_thread")]
async fn hears_each_key_that_is_typed_while_its_size_changes() -> Result<()> {
    let mut command = Command::new(plugin::binary()?);
    command.arg("top").args(captures::DUMP).current_dir(workspace::root());
    let mut terminal = Terminal::open(command)?;
    terminal.screen_is("the first picture", |screen| screen.contains("q quit")).await?;
    terminal.type_in("2")?;
    terminal.screen_is("slices", |screen| screen.contains("[2 slices")).await?;
    let pid = Pid::from_raw(terminal.pid().context("it runs")?.cast_signed());
    let (first, last) = ("billing-ff0q1", "orders-c4v9n");
    for round in 0..60 {
        // Half of the time both are there before it looks; else they race.
        let at_once = round % 4 < 2;
        if at_once {
            kill(pid, Signal::SIGSTOP)?;
        }
        let small = round % 2 == 0;
        terminal.resize(if small { 12 } else { 24 }, if small { 40 } else { 80 })?;
        terminal.type_in(if small { "G" } else { "g" })?;
        if at_once {
            kill(pid, Signal::SIGCONT)?;
        }
        // Not all rows fit a small screen: which are shown depends on both, the cursor and the size.
        let both = |screen: &str| match small {
            true => chosen(screen).contains(last) && !screen.contains(first),
            false => chosen(screen).contains(first) && screen.contains(last),
        };
        terminal.screen_is(&format!("the key and the size of round {round}"), both).await?;
    }
    Ok(())
}
