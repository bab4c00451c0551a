//! Several replicas share one certificate, and one of them writes.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_tests::eventually::eventually;
use eno_tests::proxy::Proxy;
use futures::future::try_join_all;
use http::Method;
use kube::api::DeleteParams;

use crate::ground::{Ground, LIMIT, Replica, SECRET};

/// A replica that stands for election, and what it asks.
async fn candidate(ground: &Ground) -> Result<(Replica, Proxy)> {
    let proxy = Proxy::start(ground.cluster()).await?;
    let mut options = ground.options(|_| {});
    options.election = Some(ground.election());
    Ok((Replica::by(proxy.kubeconfig(), options).await?, proxy))
}

/// What it has written of certificates.
fn writes(proxy: &Proxy) -> usize {
    let of = |method, path| proxy.asked(method, path).len();
    of(&Method::POST, "/secrets") + of(&Method::PUT, "/secrets/") + of(&Method::PATCH, "webhookconfigurations/")
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_that_start_at_once_share_one_certificate() -> Result<()> {
    let ground = Ground::new("at-once").await?;
    let replicas = try_join_all((0..4).map(|_| candidate(&ground))).await?;
    for (replica, _) in &replicas {
        replica.ready().await?;
    }
    let ends = ground.stored().await?.leaf.ends.as_second();
    for (replica, _) in &replicas {
        let served = replica.metric("eno_webhook_certificate_not_after_timestamp_seconds").await?;
        assert_eq!(served as i64, ends);
    }
    let created = replicas.iter().map(|(_, proxy)| proxy.asked(&Method::POST, "/secrets").len()).sum::<usize>();
    ensure!(created >= 1, "nobody created it");
    assert_eq!(ground.stored().await?.authorities.len(), 1, "those who came too late took what there was");
    for (replica, _) in &replicas {
        ground.configure(replica).await?;
        ground.told().await?;
        ground.answered(replica).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_leader_writes_and_another_goes_on_where_it_ended() -> Result<()> {
    let ground = Ground::new("leader").await?;
    let (mut first, proxy_of_first) = candidate(&ground).await?;
    ground.configure(&first).await?;
    ground.told().await?;
    let (second, proxy_of_second) = candidate(&ground).await?;
    second.ready().await?;
    assert_eq!(writes(&proxy_of_second), 0);

    let before = ground.stored().await?;
    ground.secrets().delete(SECRET, &DeleteParams::default()).await?;
    let between = ground
        .stored_until("another authority to sign", |stored| {
            stored.authorities[0] != before.authorities[0] && stored.signer() == Some(&stored.authorities[0])
        })
        .await?;
    ground.told().await?;
    let ends = between.leaf.ends.as_second() as f64;
    eventually("the second to serve it, too", LIMIT, async || {
        let served = second.metric("eno_webhook_certificate_not_after_timestamp_seconds").await?;
        ensure!(served == ends, "it serves one that ends at {served}, not at {ends}");
        Ok(())
    })
    .await?;
    assert_eq!(writes(&proxy_of_second), 0, "it does not lead");
    assert!(writes(&proxy_of_first) >= 4);

    first.stop().await?;
    let written = writes(&proxy_of_first);
    ground.secrets().delete(SECRET, &DeleteParams::default()).await?;
    ground
        .stored_until("the second to go on", |stored| {
            stored.authorities[0] != between.authorities[0] && stored.signer() == Some(&stored.authorities[0])
        })
        .await?;
    assert!(writes(&proxy_of_second) > 0);
    assert_eq!(writes(&proxy_of_first), written);
    second.ready().await
}

/// A grant that is renewed every two seconds is no reason to look at three objects.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_has_nothing_to_do_asks_for_nothing() -> Result<()> {
    let ground = Ground::new("idle").await?;
    let proxy = Proxy::start(ground.cluster()).await?;
    let mut options = ground.options(|options| options.period = Duration::from_secs(60));
    options.election = Some(ground.election());
    let replica = Replica::by(proxy.kubeconfig(), options).await?;
    ground.configure(&replica).await?;
    ground.told().await?;
    replica.ready().await?;
    // Watches have begun, and what they tell of our own writes is past.
    let renewals = async |count: usize| {
        let until = proxy.asked(&Method::PUT, "/leases/").len() + count;
        eventually("the Lease to be renewed", LIMIT, async || {
            let renewed = proxy.asked(&Method::PUT, "/leases/").len();
            ensure!(renewed >= until, "{renewed} of {until} times");
            Ok(())
        })
        .await
    };
    renewals(4).await?;
    let looks = || proxy.asked(&Method::GET, &format!("/secrets/{SECRET}")).len();
    let before = looks();
    renewals(6).await?;
    assert_eq!(looks(), before);
    Ok(())
}
