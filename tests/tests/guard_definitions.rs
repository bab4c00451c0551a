//! C6, and a webhook behind a Service: both need a control plane of their own.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use eno_tests::cluster::{Cluster, Output};
use eno_tests::controlplane::{ControlPlane, Options};
use eno_tests::crds;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::reconciled_composition;
use eno_tests::netns::{self, Netns};
use eno_tests::webhook::answer::denial;
use eno_tests::webhook::{Guarded, Webhook, WebhookOptions};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(30);

/// A CRD of that group, in which any object fits.
fn definition(plural: &str, group: &str) -> serde_json::Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": plural, "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

async fn delete(cluster: &Cluster, name: &str) -> Result<Output> {
    cluster.kubectl(&["delete", "crd", name, "--wait=false"]).await
}

async fn forgotten(cluster: &Cluster, name: &str) -> Result<()> {
    let definitions = Api::<CustomResourceDefinition>::all(cluster.client());
    eventually("the definition to be gone", LIMIT, async || {
        ensure!(definitions.get_opt(name).await?.is_none(), "{name} is there");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_deletion_of_enos_definitions_while_objects_exist() -> Result<()> {
    let controlplane = ControlPlane::start(Options::default()).await?;
    let mut ground = Guarded::on(Cluster::of(&controlplane).await?, "crd").await?;
    ground.guard_with(WebhookOptions { definitions: true, ..WebhookOptions::default() }).await?;
    let namespace = ground.name().to_owned();
    ground.live("web", 1).await?;
    // Foreign ones go, with objects or without; a group that only looks like Eno's is foreign too.
    for group in ["example.com", "not-eno.azure.io", "sub.eno.azure.io"] {
        ground.cluster().apply(&definition("widgets", group)).await?;
        let widget = json!({"apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": "one"}});
        eventually("the kind to be served", LIMIT, async || {
            ground.kubectl_with(&["create", "-f", "-"], &widget.to_string()).await?.success()
        })
        .await?;
    }

    for (name, object) in [("resourceslices.eno.azure.io", "web-0"), ("compositions.eno.azure.io", "web")] {
        assert_eq!(
            denial(&delete(ground.cluster(), name).await?, "definitions-delete")?,
            format!(
                "customresourcedefinition {name} must stay (ObjectsExist): {namespace}/{object} exists, and would be \
                 removed with no check. Next: kubectl get {name} -A"
            )
        );
        let forced = ["annotate", "crd", name, "kubectl-eno.dev/force=any"];
        ground.cluster().kubectl(&forced).await?.success()?;
        denial(&delete(ground.cluster(), name).await?, "definitions-delete")?;
    }
    for group in ["example.com", "not-eno.azure.io", "sub.eno.azure.io"] {
        delete(ground.cluster(), &format!("widgets.{group}")).await?.success()?;
        forgotten(ground.cluster(), &format!("widgets.{group}")).await?;
    }
    // Without objects it may go.
    delete(ground.cluster(), "symphonies.eno.azure.io").await?.success()?;
    forgotten(ground.cluster(), "symphonies.eno.azure.io").await?;

    ground.webhook().kill();
    let unanswered = delete(ground.cluster(), "resourceslices.eno.azure.io").await?;
    let failed = "failed calling webhook \"definitions-delete.webhook.kubectl-eno.dev\"";
    assert!(unanswered.code == 1 && unanswered.stderr.contains(failed), "{}", unanswered.stderr);
    ground.cluster().apply(&definition("widgets", "example.com")).await?;
    delete(ground.cluster(), "widgets.example.com").await?.success()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_through_a_service_by_tls_with_its_own_authority() -> Result<()> {
    let network = Netns::new()?;
    let netns = Some(network.name().to_owned());
    let controlplane = ControlPlane::start(Options { netns: netns.clone(), ..Options::default() }).await?;
    let kubeconfig: PathBuf = controlplane.kubeconfig();
    netns::within(Some(network.name()), move || async move {
        let cluster = Cluster::at(&kubeconfig).await?;
        crds::install(&cluster).await?;
        let namespace = "guarded";
        cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await?;
        let options = WebhookOptions { namespace: namespace.to_owned(), netns, ..WebhookOptions::default() };
        let webhook = Webhook::start(&cluster, options).await?;
        reconciled_composition(&cluster, namespace, "web", namespace, 1).await?;

        let configs = cluster.kubectl(&["get", "validatingwebhookconfigurations", "-o", "json"]).await?.success()?;
        assert!(configs.contains("\"service\"") && !configs.contains("\"url\""), "{configs}");
        let args = ["delete", "resourceslices.eno.azure.io", "web-0", "--namespace", namespace, "--wait=false"];
        let message = denial(&cluster.kubectl(&args).await?, "slices-delete")?;
        assert!(message.contains("guarded/web-0 must stay (ReferencedByCurrent)"), "{message}");
        assert_eq!(webhook.count("eno_webhook_tls_handshakes_failed_total", &[]).await?, 0);
        Ok(())
    })
    .await
}
