//! A new version takes over from an old one: no call is lost meanwhile, and nothing of the old one is left.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use eno_tests::manifests::ground::on_a_new_cluster;
use eno_tests::manifests::overlay;
use eno_tests::webhook::answer::denial;
use serde_json::Value;

use crate::live::{bundles, is_as_manifests_say};

/// The manifests as an older version might have had them: another image, a flag and a hook fewer.
fn older(rendered: &[Value]) -> Result<String> {
    let mut items = rendered.to_vec();
    for item in &mut items {
        if item["kind"] == "Deployment" {
            let container = &mut item["spec"]["template"]["spec"]["containers"][0];
            container["image"] = "eno-webhook:v0.0.1".into();
            let args = container["args"].as_array_mut().context("no args")?;
            args.retain(|arg| arg != "--log-format=json");
        }
        if item["kind"] == "ValidatingWebhookConfiguration" {
            let webhooks = item["webhooks"].as_array_mut().context("no webhooks")?;
            webhooks.retain(|webhook| webhook["name"] != "definitions-delete.webhook.kubectl-eno.dev");
        }
    }
    Ok(serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())
}

/// Report 7.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_loses_no_call() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let dir = overlay("self-managed");
        let new = ground.render(&dir)?;
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("old.yaml"), older(new.all())?)?;
        fs::write(folder.path().join("kustomization.yaml"), "resources: [old.yaml]\n")?;
        let old = ground.apply(folder.path(), &[]).await?;
        let mut first = ground.start(&old).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await?;

        let done = Arc::new(AtomicBool::new(false));
        let stream = async {
            let mut denied = 0;
            while !done.load(Ordering::Relaxed) {
                let tried = ground.delete_slice("team-a", "web-0", &["--dry-run=server"]).await?;
                denial(&tried, "slices-delete").with_context(|| format!("after {denied} denials"))?;
                denied += 1;
            }
            Ok::<u32, anyhow::Error>(denied)
        };
        let upgrade = async {
            // What a Deployment does with `maxUnavailable: 0`: one more, ready, then one fewer.
            ground.apply(&dir, &[]).await?;
            let second = ground.start_unready(&new, false).await?;
            second.ready().await?;
            ground.endpoint(&new, "second", Some(&second)).await?;
            ground.endpoint(&new, "first", None).await?;
            tokio::task::spawn_blocking(move || first.terminate()).await?;
            ground.guarded("team-a", "web-0").await?;
            done.store(true, Ordering::Relaxed);
            Ok::<_, anyhow::Error>(second)
        };
        let (denied, _second) = tokio::try_join!(stream, upgrade)?;
        ensure!(denied > 20, "only {denied} were tried");

        let diff = ground.diff(&dir, &[]).await?;
        ensure!(diff.is_empty(), "{diff}");
        is_as_manifests_say(&ground, &new).await?;
        eno_tests::eventually::eventually(
            "the new hook to have its bundle",
            std::time::Duration::from_secs(90),
            async || {
                let bundles = bundles(&ground, &new).await?;
                ensure!(bundles.iter().all(|bundle| !bundle.is_empty() && *bundle == bundles[0]), "{bundles:?}");
                Ok(())
            },
        )
        .await?;
        let guarded = ground.kubectl(&["delete", "crd", "compositions.eno.azure.io", "--dry-run=server"]).await?;
        denial(&guarded, "definitions-delete").map(drop)
    })
    .await
}
