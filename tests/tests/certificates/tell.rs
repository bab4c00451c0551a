//! The API server is told whom to trust, in its own configurations and nowhere else.

use anyhow::{Context, Result, ensure};
use eno_tests::eventually::eventually;
use eno_tests::proxy::{Proxy, Refusal};
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::ground::{Ground, KINDS, LIMIT, Replica, SECRET};

#[tokio::test(flavor = "multi_thread")]
async fn begins_with_nothing_and_is_called_as_soon_as_it_is_configured() -> Result<()> {
    let ground = Ground::new("begin").await?;
    let replica = ground.replica().await?;
    // Nobody calls it yet, so there is nobody to tell.
    replica.ready().await?;
    let secret = ground.secrets().get(SECRET).await?;
    assert_eq!(secret.type_.as_deref(), Some("kubernetes.io/tls"));
    ground.configure(&replica).await?;
    ground.told().await?;
    ground.answered(&replica).await?;
    replica.ready().await?;
    let ends = ground.stored().await?.leaf.ends.as_second();
    assert_eq!(replica.metric("eno_webhook_certificate_not_after_timestamp_seconds").await? as i64, ends);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn is_not_ready_before_the_api_server_knows_whom_to_trust() -> Result<()> {
    let ground = Ground::new("untold").await?;
    let mut first = ground.replica().await?;
    ground.configure(&first).await?;
    ground.told().await?;
    first.stop().await?;
    // The Secret is made anew by one that may not write configurations, and remembers nothing.
    ground.secrets().delete(SECRET, &Default::default()).await?;
    let proxy = Proxy::start(ground.cluster()).await?;
    proxy.refuse(|asked| (asked.method == http::Method::PATCH).then_some(Refusal::Forbidden));
    let replica = Replica::by(proxy.kubeconfig(), ground.options(|_| {})).await?;
    let trusted = ground.trusted().await?;
    eventually("the Secret to be made anew", LIMIT, async || {
        ensure!(ground.stored().await?.bundle() != trusted, "it is the old one");
        ensure!(replica.metric("eno_webhook_certificate_loads_failed_total").await? > 0.0, "it did not try");
        Ok(())
    })
    .await?;
    let why = replica.unready().await?.unwrap_or_default();
    ensure!(why.contains("do not trust the serving certificate yet"), "it says {why:?}");
    proxy.refuse_nothing();
    replica.ready().await?;
    ground.told().await
}

#[tokio::test(flavor = "multi_thread")]
async fn owns_the_bundles_and_nothing_else_and_writes_only_what_differs() -> Result<()> {
    let ground = Ground::new("owns").await?;
    let replica = ground.replica().await?;
    ground.configure(&replica).await?;
    ground.told().await?;
    for kind in KINDS {
        let configuration = ground.configuration_of(kind).await?;
        let ours: Vec<_> = configuration
            .managed_fields()
            .iter()
            .filter(|entry| entry.manager.as_deref() == Some("eno-webhook-certificates"))
            .collect();
        assert_eq!(ours.len(), 1);
        let fields = serde_json::to_value(&ours[0].fields_v1)?;
        assert_eq!(fields.as_object().map(serde_json::Map::len), Some(1), "{fields}");
        for (hook, owned) in fields["f:webhooks"].as_object().context("it owns no hook")? {
            assert_eq!(owned, &json!({"f:clientConfig": {"f:caBundle": {}}}), "{hook}");
        }
    }
    // It comes by often, and has nothing to do.
    let versions = async || -> Result<Vec<_>> {
        let mut versions = vec![ground.secrets().get(SECRET).await?.resource_version()];
        for kind in KINDS {
            versions.push(ground.configuration_of(kind).await?.resource_version());
        }
        Ok(versions)
    };
    let before = versions().await?;
    for _ in 0..3 {
        ground.guarded.kubectl(&["label", "secret", SECRET, &format!("l{}=a", fastrand::u32(..))]).await?.success()?;
    }
    let labelled = versions().await?;
    assert_eq!(before[1..], labelled[1..], "the configurations were written");
    let changes = replica.metric("eno_webhook_certificate_changes_total").await?;
    assert_eq!(changes, 3.0, "the Secret and each configuration were written once");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn never_creates_a_configuration() -> Result<()> {
    let ground = Ground::new("nothing").await?;
    let replica = ground.replica().await?;
    replica.ready().await?;
    ground.configure(&replica).await?;
    ground.told().await?;
    for kind in ["validatingwebhookconfiguration", "mutatingwebhookconfiguration"] {
        ground.cluster().kubectl(&["delete", kind, &ground.configuration()]).await?.success()?;
    }
    // A change of the Secret makes it come by.
    ground.secrets().delete(SECRET, &Default::default()).await?;
    ground.stored_until("another authority to sign", |stored| stored.signer() == stored.authorities.first()).await?;
    for kind in KINDS {
        assert!(ground.configuration_of(kind).await.is_err(), "{kind} was created");
    }
    replica.ready().await
}

/// What GitOps does: apply again and again, or put in place what Git has.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_applies_the_rest_leaves_the_bundle_and_whoever_resets_it_does_not_win() -> Result<()> {
    let ground = Ground::new("gitops").await?;
    let replica = ground.replica().await?;
    ground.configure(&replica).await?;
    ground.told().await?;
    ground.answered(&replica).await?;
    let list = ground.configurations(&replica)?.to_string();
    let run = async |args: &[&str]| ground.cluster().kubectl_with(args, &list).await?.success();
    let trusted = ground.trusted().await?;

    run(&["apply", "-f", "-"]).await?;
    assert_eq!(ground.trusted().await?, trusted, "a client-side apply");
    run(&["apply", "--server-side", "--force-conflicts", "--field-manager=gitops", "-f", "-"]).await?;
    assert_eq!(ground.trusted().await?, trusted, "a server-side apply");
    assert_eq!(run(&["diff", "--server-side", "--force-conflicts", "--field-manager=gitops", "-f", "-"]).await?, "");

    run(&["replace", "-f", "-"]).await?;
    ground.told().await?;
    let mut wrong: Value = serde_json::from_str(&list)?;
    for item in wrong["items"].as_array_mut().into_iter().flatten() {
        for hook in item["webhooks"].as_array_mut().into_iter().flatten() {
            // Another certificate, in base64.
            hook["clientConfig"]["caBundle"] = serde_json::to_value(k8s_openapi::ByteString(
                eno_tests::controlplane::Authority::new()?.cert().into_bytes(),
            ))?;
        }
    }
    let args = ["apply", "--server-side", "--force-conflicts", "--field-manager=gitops", "-f", "-"];
    ground.cluster().kubectl_with(&args, &wrong.to_string()).await?.success()?;
    ground.told().await?;
    assert_eq!(ground.trusted().await?, trusted);
    ground.answered(&replica).await
}

/// A version of ours that has one hook less.
#[tokio::test(flavor = "multi_thread")]
async fn does_not_keep_a_hook_that_whoever_applies_the_rest_takes_away() -> Result<()> {
    let ground = Ground::new("hook").await?;
    let replica = ground.replica().await?;
    let list = ground.configurations(&replica)?;
    let mut less = list.clone();
    let hooks = less["items"][0]["webhooks"].as_array_mut().context("a configuration has hooks")?;
    let gone = hooks.pop().context("it has a hook")?;
    for args in [&["apply", "-f", "-"][..], &["apply", "--server-side", "--force-conflicts", "-f", "-"]] {
        ground.cluster().kubectl_with(args, &list.to_string()).await?.success()?;
        ground.told().await?;
        ground.cluster().kubectl_with(args, &less.to_string()).await?.success()?;
        let left = ground.configuration_of(KINDS[0]).await?.data["webhooks"].clone();
        assert!(!left.as_array().context("no hooks")?.iter().any(|hook| hook["name"] == gone["name"]), "{left}");
        ground.told().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn stays_ready_while_the_api_server_is_away() -> Result<()> {
    let ground = Ground::new("away").await?;
    let proxy = Proxy::start(ground.cluster()).await?;
    let replica = Replica::by(proxy.kubeconfig(), ground.options(|_| {})).await?;
    ground.configure(&replica).await?;
    ground.told().await?;
    replica.ready().await?;
    let failed = replica.metric("eno_webhook_certificate_loads_failed_total").await?;
    proxy.refuse(|_| Some(Refusal::Broken));
    proxy.cut();
    eventually("the replica to see that", LIMIT, async || {
        let now = replica.metric("eno_webhook_certificate_loads_failed_total").await?;
        ensure!(now > failed + 1.0, "it failed {now} times");
        Ok(())
    })
    .await?;
    assert_eq!(replica.unready().await?, None);
    Ok(())
}
