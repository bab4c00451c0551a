//! Whatever of ours is lost, the cluster can be mended: nothing locks itself up.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_shared::names::WEBHOOK_NAMESPACE;
use eno_tests::cluster::Output;
use eno_tests::eventually::eventually;
use eno_tests::manifests::ground::{Ground, on_a_new_cluster};
use eno_tests::manifests::overlay;
use serde_json::{Value, json};

use crate::live::{commands, run};

const LIMIT: Duration = Duration::from_secs(60);

fn break_glass() -> Result<Vec<Vec<String>>> {
    commands("docs/break-glass.md", 1)
}

/// The API server did not get an answer of the webhook.
fn unanswered(output: &Output) -> Result<()> {
    let said = &output.stderr;
    ensure!(
        output.code == 1 && said.contains("failed calling webhook \"slices-delete.webhook.kubectl-eno.dev\""),
        "{said}"
    );
    Ok(())
}

async fn can_be_deleted(ground: &Ground, namespace: &str, slice: &str) -> Result<()> {
    eventually("the API server to forget the webhooks", LIMIT, async || {
        ground.delete_slice(namespace, slice, &["--dry-run=server"]).await?.success()
    })
    .await
    .map(drop)
}

async fn gone(ground: &Ground, namespace: &str) -> Result<()> {
    eventually(&format!("namespace {namespace} to be gone"), LIMIT, async || {
        let left =
            ground.kubectl(&["get", "namespace", namespace, "--ignore-not-found", "-o", "yaml"]).await?.success()?;
        ensure!(left.is_empty(), "{left}");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn three_commands_break_the_glass_and_mend_it() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let mut replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await?;
        let [open, quiet, close] = &break_glass()?[..] else { anyhow::bail!("not three commands") };

        // With a webhook that answers, and with one that does not.
        run(&ground, open).await?;
        can_be_deleted(&ground, "team-a", "web-0").await?;
        run(&ground, close).await?;
        ground.guarded("team-a", "web-0").await?;
        replica.kill();
        unanswered(&ground.delete_slice("team-a", "web-0", &["--dry-run=server"]).await?)?;
        run(&ground, open).await?;
        can_be_deleted(&ground, "team-a", "web-0").await?;
        run(&ground, quiet).await?;
        let replicas =
            ["get", "deployment", "eno-webhook", "--namespace", WEBHOOK_NAMESPACE, "-o", "jsonpath={.spec.replicas}"];
        assert_eq!(ground.kubectl(&replicas).await?.success()?, "0");

        run(&ground, close).await?;
        assert_eq!(ground.kubectl(&replicas).await?.success()?, "2");
        let _replica = ground.start(&manifests).await?;
        ground.guarded("team-a", "web-0").await
    })
    .await
}

/// Reports 1, 2 and 8: the namespace goes, and with it all that answers, while slices are in it and elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn our_namespace_may_be_deleted_and_comes_back() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let mut replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.needed_slice(WEBHOOK_NAMESPACE, "inside").await?;
        ground.guarded("team-a", "web-0").await?;
        ground.kubectl(&["delete", "namespace", WEBHOOK_NAMESPACE, "--wait=false"]).await?.success()?;
        tokio::task::spawn_blocking(move || replica.terminate()).await?;

        eventually("the webhook not to answer", LIMIT, async || {
            unanswered(&ground.delete_slice("team-a", "web-0", &["--dry-run=server"]).await?)
        })
        .await?;
        run(&ground, &break_glass()?[0]).await?;
        can_be_deleted(&ground, "team-a", "web-0").await?;
        // Eno is not there to finish what is inside.
        for object in ["composition.eno.azure.io/inside", "resourceslice.eno.azure.io/inside-0"] {
            let free = ["patch", object, "--namespace", WEBHOOK_NAMESPACE, "--type=merge"];
            let patch = ["--patch", r#"{"metadata":{"finalizers":null}}"#];
            let freed = ground.kubectl(&[&free[..], &patch].concat()).await?;
            ensure!(freed.code == 0 || freed.stderr.contains("NotFound"), "{}", freed.stderr);
        }
        gone(&ground, WEBHOOK_NAMESPACE).await?;

        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let _replica = ground.start(&manifests).await?;
        ground.guarded("team-a", "web-0").await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_service_is_mended_by_applying_again() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await?;
        // A connection that stands is used on: that the Service is gone shows when there is none any more.
        drop(replica);
        ground.kubectl(&["delete", "service", "eno-webhook", "--namespace", WEBHOOK_NAMESPACE]).await?.success()?;
        eventually("the webhook not to be found", LIMIT, async || {
            unanswered(&ground.delete_slice("team-a", "web-0", &["--dry-run=server"]).await?)
        })
        .await?;
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let _replica = ground.start(&manifests).await?;
        ground.guarded("team-a", "web-0").await
    })
    .await
}

/// Reports 5 and 6: what a cluster needs to start pods is never ours to refuse.
#[tokio::test(flavor = "multi_thread")]
async fn pods_start_anywhere_while_no_webhook_answers() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let mut replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await?;
        replica.kill();
        unanswered(&ground.delete_slice("team-a", "web-0", &["--dry-run=server"]).await?)?;

        let pod = &manifests.only("Deployment")?["spec"]["template"]["spec"];
        let lease = json!({"holderIdentity": "somebody", "leaseDurationSeconds": 15});
        for namespace in [WEBHOOK_NAMESPACE, "kube-system"] {
            let account = json!({"name": "eno-webhook", "namespace": namespace});
            ground.cluster().apply(&json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})).await?;
            let object = |api_version: &str, kind: &str, rest: Value| {
                let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "one", "namespace": namespace}});
                for (field, value) in rest.as_object().into_iter().flatten() {
                    object[field] = value.clone();
                }
                object.to_string()
            };
            for object in [
                object("v1", "Pod", json!({"spec": pod})),
                object("v1", "Secret", json!({})),
                object("v1", "ConfigMap", json!({})),
                object("coordination.k8s.io/v1", "Lease", json!({"spec": lease})),
            ] {
                ground.cluster().kubectl_with(&["create", "-f", "-"], &object).await?.success()?;
                let delete = ["delete", "--grace-period=0", "--force", "-f", "-"];
                ground.cluster().kubectl_with(&delete, &object).await?.success()?;
            }
        }
        let _replica = ground.start(&manifests).await?;
        ground.guarded("team-a", "web-0").await
    })
    .await
}
