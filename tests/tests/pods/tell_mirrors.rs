//! Mirror pods: what a node shows of its static pods, and makes again at will.

use anyhow::{Context, Result, ensure};
use eno_tests::eventually::eventually;
use serde_json::{Value, json};

use crate::ground::{Ground, LIMIT, Start, causes};

fn mirror(hash: &str) -> impl FnOnce(&mut Value) {
    let annotations = json!({"kubernetes.io/config.hash": hash, "kubernetes.io/config.mirror": hash});
    move |pod| pod["metadata"]["annotations"] = annotations
}

/// By what it is noted, which is not its uid.
async fn identity(ground: &Ground, name: &str) -> Result<String> {
    let outbox = ground.outbox().await?;
    let entry = outbox.into_iter().find(|(_, entry)| entry["name"] == name);
    entry.map(|(key, _)| key).with_context(|| format!("nothing is noted of {name}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_pod_outlives_its_mirror_pods() -> Result<()> {
    let mut ground = Ground::new("mirror").await?;
    let proxy = ground.proxy().await?;
    ground.follow(Start { proxy: Some(&proxy), ..Start::default() }).await?;
    let first = ground.pod_as("web", mirror("h1")).await?;
    ground.followed(1).await?;
    // As the kubelet does when the mirror pod was deleted, or differs.
    proxy.freeze();
    ground.delete_at_once("web").await?;
    let second = ground.pod_as("web", mirror("h1")).await?;
    ensure!(first != second, "it is another object");
    proxy.thaw();
    ground.metric("eno_webhook_pod_looks_total", &["result=\"found\""], |count| count > 0).await?;
    ground.followed(1).await?;
    ground.candidates(0).await?;
    assert!(ground.receiver.received().is_empty(), "it is the same static pod");
    // The static pod was changed: it is another.
    proxy.freeze();
    ground.delete_at_once("web").await?;
    ground.pod_as("web", mirror("h2")).await?;
    proxy.thaw();
    ground.metric("eno_webhook_pod_destroys_total", &["cause=\"Replaced\""], |count| count == 1).await?;
    ground.delete_at_once("web").await?;
    ground.metric("eno_webhook_pod_destroys_total", &["cause=\"Gone\""], |count| count == 1).await?;
    ground.metric("eno_webhook_sink_attempts_total", &["result=\"delivered\""], |count| count == 2).await?;
    let told = ground.receiver.received();
    assert_eq!(causes(&told), ["Replaced", "Gone"]);
    assert_ne!(told[0].uid(), told[1].uid());
    assert!(![&first, &second].contains(&&told[0].uid().to_owned()), "uids of mirror pods say nothing");
    ground.finish().await
}

/// Anyone who may create a pod may write what looks like a mirror pod.
#[tokio::test(flavor = "multi_thread")]
async fn a_forged_mirror_pod_tells_no_end_but_its_own_and_breaks_no_write() -> Result<()> {
    let mut ground = Ground::following("forged").await?;
    let victim = ground.pod("victim").await?;
    ground.followed(1).await?;
    ground.pod_as("forged", mirror(&victim)).await?;
    ground.pod_as("odd", mirror("no key of a ConfigMap: a/b c\n")).await?;
    ground.followed(3).await?;
    for name in ["forged", "odd"] {
        ground.delete(name).await?;
    }
    ground.candidates(2).await?;
    for name in ["forged", "odd"] {
        let noted = eventually("it to be noted", LIMIT, async || identity(&ground, name).await).await?;
        assert_ne!(noted, victim);
        ground.delete_at_once(name).await?;
    }
    ground.metric("eno_webhook_pod_destroys_total", &["cause=\"Gone\""], |count| count == 2).await?;
    ground.metric("eno_webhook_sink_attempts_total", &["result=\"delivered\""], |count| count == 2).await?;
    assert!(ground.receiver.of(&victim).is_empty(), "it lives");
    ground.delete_at_once("victim").await?;
    assert_eq!(causes(&ground.told(&victim, 1).await?), ["Gone"], "and its own end is not hidden");
    let failed = ground.guarded.webhook().count("eno_webhook_outbox_writes_total", &["result=\"failed\""]).await?;
    assert_eq!(failed, 0);
    ground.finish().await
}
