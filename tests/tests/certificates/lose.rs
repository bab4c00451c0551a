//! The Secret is deleted, or spoilt, under load.

use anyhow::{Context, Result, ensure};
use eno_tests::eventually::eventually;
use eno_tests::proxy::Proxy;
use eno_webhook::certificates::stored::Stored;
use http::Method;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use crate::ground::{Ground, LIMIT, Replica, SECRET};
use crate::rotate::Load;

/// Another authority than before signs what is served, and the API server knows it.
async fn replaced(ground: &Ground, before: &Stored) -> Result<()> {
    let old = before.authorities[0].clone();
    ground
        .stored_until("another authority to sign", |stored| {
            let newest = &stored.authorities[0];
            *newest != old && stored.signer() == Some(newest)
        })
        .await?;
    ground.told().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_deleted_comes_back_with_another_authority_and_no_call_fails() -> Result<()> {
    let ground = Ground::new("deleted").await?;
    let replica = ground.replica().await?;
    ground.configure(&replica).await?;
    ground.answered(&replica).await?;
    let before = ground.stored().await?;
    let load = Load::start(&ground);
    ground.secrets().delete(SECRET, &DeleteParams::default()).await?;
    replaced(&ground, &before).await?;
    // New connections, too.
    load.go_on(&ground, 200).await?;
    let both = ground.stored().await?;
    ensure!(both.authorities.contains(&before.authorities[0]), "a replica may still serve what the old one signed");
    load.none_failed().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_spoilt_is_mended_and_no_call_fails() -> Result<()> {
    let ground = Ground::new("spoilt").await?;
    let replica = ground.replica().await?;
    ground.configure(&replica).await?;
    ground.answered(&replica).await?;
    let load = Load::start(&ground);
    let other = Stored::new(&ground.wanted(), Timestamp::now())?.to_data();
    for (key, value) in [
        ("tls.crt", ByteString(b"no PEM".to_vec())),
        ("tls.key", other["tls.key"].clone()),
        ("ca.crt", ByteString(vec![])),
        ("ca.key", other["ca.key"].clone()),
    ] {
        let before = ground.stored().await?;
        let patch = json!({"data": {key: value}});
        ground.secrets().patch(SECRET, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        replaced(&ground, &before).await.with_context(|| format!("{key} was spoilt"))?;
    }
    load.go_on(&ground, 200).await?;
    load.none_failed().await
}

/// Another tool, or a restored backup, puts a whole other authority in place.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_replaced_by_another_good_one_is_taken_and_no_call_fails() -> Result<()> {
    let ground = Ground::new("restored").await?;
    let replica = ground.replica().await?;
    ground.configure(&replica).await?;
    ground.answered(&replica).await?;
    let other = Stored::new(&ground.wanted(), Timestamp::now())?;
    let load = Load::start(&ground);
    let patch = json!({"data": other.to_data()});
    ground.secrets().patch(SECRET, &PatchParams::default(), &Patch::Merge(&patch)).await?;
    let stored = ground.stored_until("both to be trusted", |stored| stored.authorities.len() == 2).await?;
    ensure!(stored.leaf == other.leaf && stored.authorities[0] == other.authorities[0], "it is another");
    ground.told().await?;
    load.go_on(&ground, 200).await?;
    load.none_failed().await
}

/// Without a memory there is one gap: until the leader has told the API server.
#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_secret_does_not_stop_a_replica_that_starts() -> Result<()> {
    let ground = Ground::new("start").await?;
    let metadata = kube::api::ObjectMeta { name: Some(SECRET.into()), ..Default::default() };
    let spoilt =
        Secret { metadata, data: Some([("tls.crt".to_owned(), ByteString(vec![1]))].into()), ..Secret::default() };
    ground.secrets().create(&Default::default(), &spoilt).await?;
    let replica = ground.replica().await?;
    replica.ready().await?;
    ground.configure(&replica).await?;
    ground.answered(&replica).await?;
    // What else there is of it stays.
    let secret = ground.secrets().get(SECRET).await?;
    assert_eq!(secret.type_.as_deref(), Some("Opaque"));
    Ok(())
}

/// A replica that cannot see the Secret goes on with what it has.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_does_not_lead_serves_on_without_a_secret() -> Result<()> {
    let ground = Ground::new("follows").await?;
    let mut leader = ground.replica().await?;
    ground.configure(&leader).await?;
    ground.told().await?;
    // Nobody renews this Lease, and nobody may take it for an hour.
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "eno-webhook", "namespace": ground.namespace()},
        "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600},
    });
    ground.cluster().apply(&lease).await?;
    let mut options = ground.options(|_| {});
    options.election = Some(ground.election());
    let proxy = Proxy::start(ground.cluster()).await?;
    let follower = Replica::by(proxy.kubeconfig(), options).await?;
    follower.ready().await?;
    leader.stop().await?;
    ground.secrets().delete(SECRET, &DeleteParams::default()).await?;
    let looks = || proxy.asked(&Method::GET, &format!("/secrets/{SECRET}")).len();
    let before = looks();
    eventually("the follower to see that", LIMIT, async || {
        ensure!(looks() >= before + 3, "it has not looked");
        Ok(())
    })
    .await?;
    ensure!(ground.secrets().get_opt(SECRET).await?.is_none(), "it has written");
    assert_eq!(follower.unready().await?, None);
    Ok(())
}
