//! The truth about the connection.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{Component, ControlPlane, Options};
use eno_tests::proxy::{Proxy, Refusal};
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use http::Method;

use super::{Piped, command, terminal};

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
