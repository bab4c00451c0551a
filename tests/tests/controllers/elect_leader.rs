//! Of several processes one writes, also where one of them was paused past its time.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eno_tests::cluster::Cluster;
use eno_tests::eventually::eventually;
use eno_tests::webhook::{Guarded, Webhook, WebhookOptions};

const LIMIT: Duration = Duration::from_secs(30);
/// For how long a grant holds for others.
const LEASE: Duration = Duration::from_secs(4);

async fn candidate(cluster: &Cluster, namespace: &str) -> Result<Webhook> {
    let flags = [
        "--leader-elect=true".to_owned(),
        format!("--leader-elect-lease-duration={}s", LEASE.as_secs()),
        "--leader-elect-renew-deadline=2s".to_owned(),
        "--leader-elect-retry-period=500ms".to_owned(),
    ];
    let options = WebhookOptions {
        namespace: namespace.to_owned(),
        controllers: "cleanup,release",
        unregistered: true,
        flags: flags.to_vec(),
        ..WebhookOptions::default()
    };
    Webhook::start(cluster, options).await
}

async fn leads(webhook: &Webhook, expected: bool) -> Result<()> {
    eventually(if expected { "it to lead" } else { "it not to lead" }, LIMIT, async || {
        let leading = webhook.count("eno_webhook_leading", &[]).await?;
        ensure!(leading == u64::from(expected), "leading is {leading}");
        Ok(())
    })
    .await
}

async fn looks(webhook: &Webhook) -> Result<u64> {
    webhook.count("eno_webhook_looks_total", &[]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_was_paused_past_its_time_writes_nothing_when_it_goes_on() -> Result<()> {
    let ground = Guarded::unguarded("dispute").await?;
    let (cluster, namespace) = (ground.cluster().clone(), ground.name().to_owned());
    let old = candidate(&cluster, &namespace).await?;
    leads(&old, true).await?;
    let new = candidate(&cluster, &namespace).await?;
    leads(&new, false).await?;

    // The old one knows of garbage that is too new, and is paused before its time comes.
    let web = ground.live("web", 1).await?;
    let needed = ground.slice("web-0").await?;
    for index in 0..10 {
        ground.garbage(&web, &format!("garbage-{index}")).await?;
    }
    eventually("the leader to know all slices", LIMIT, async || {
        let queued = old.count("eno_webhook_slices", &["verdict=\"Wait\""]).await?;
        let looked = looks(&old).await?;
        ensure!(queued == 10 && looked == 0, "{queued} wait, {looked} were looked at");
        Ok(())
    })
    .await?;
    old.pause()?;
    leads(&new, true).await?;
    let slices = cluster.eno("ResourceSlice", &namespace);
    eventually("the new leader to collect the garbage", LIMIT, async || {
        let collected = new.looks("Collect/Unreferenced", "collected").await?;
        let left = slices.list_metadata(&kube::api::ListParams::default()).await?.items.len();
        ensure!(collected == 10 && left == 1, "{collected} are collected, {left} are left");
        Ok(())
    })
    .await?;

    old.resume()?;
    leads(&old, false).await?;
    let log = old.log()?;
    ensure!(log.contains("does not lead any more"), "it logged:\n{log}");
    let idle = old.count("eno_webhook_looks_total", &["result=\"not-leading\""]).await?;
    assert_eq!(looks(&old).await?, idle, "it had ten slices to collect, and its time was over");
    leads(&new, true).await?;
    ground.unchanged(&needed).await
}

#[tokio::test(flavor = "multi_thread")]
async fn another_takes_over_at_once_when_the_leader_ends_well() -> Result<()> {
    let ground = Guarded::unguarded("handover").await?;
    let (cluster, namespace) = (ground.cluster().clone(), ground.name().to_owned());
    let mut first = candidate(&cluster, &namespace).await?;
    leads(&first, true).await?;
    let second = candidate(&cluster, &namespace).await?;
    leads(&second, false).await?;

    let stopped = Instant::now();
    let ended = std::thread::spawn(move || first.stop());
    leads(&second, true).await?;
    let took = stopped.elapsed();
    ensure!(took < LEASE, "it took {took:?}: as long as for a leader that crashed");
    ended.join().ok().context("stopping panicked")?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "garbage").await?;
    let slices = cluster.eno("ResourceSlice", &namespace);
    eventually("the garbage to be gone", LIMIT, async || {
        ensure!(slices.get_metadata_opt("garbage").await?.is_none(), "it exists");
        Ok(())
    })
    .await?;
    assert_eq!(second.looks("Collect/Unreferenced", "collected").await?, 1);
    Ok(())
}
