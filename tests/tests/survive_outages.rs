//! What happens where the webhook is down, cannot read, or is told not to enforce.

use std::fs;

use anyhow::{Context, Result};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_tests::cluster::Output;
use eno_tests::fixtures::{composition, reconciled_states, slice};
use eno_tests::namespace::Namespace;
use eno_tests::webhook::answer::{denial, warnings};
use eno_tests::webhook::audit::{Requests, annotated};
use eno_tests::webhook::{Guarded, WebhookOptions};
use kube::ResourceExt;
use serde_json::{Value, json};
use tempfile::TempDir;

const COMPOSITIONS: &str = "compositions.eno.azure.io";

/// The API server did not get an answer of this hook, says so, and refuses.
fn assert_unanswered(output: &Output, hook: &str) {
    let failed = format!("failed calling webhook \"{hook}.webhook.kubectl-eno.dev\"");
    assert_eq!(output.code, 1, "{}", output.stdout);
    assert!(output.stderr.contains(&failed), "{}", output.stderr);
}

fn strip() -> Value {
    json!({"metadata": {"finalizers": null}})
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_what_could_lose_something_while_the_webhook_is_down() -> Result<()> {
    let mut ground = Guarded::new("down").await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "web-old").await?;
    let (needed, garbage) = (ground.slice("web-0").await?, ground.slice("web-old").await?);
    ground.webhook().kill();

    assert_unanswered(&ground.delete_slice("web-0", &[]).await?, "slices-delete");
    assert_unanswered(&ground.delete_slice("web-old", &[]).await?, "slices-delete");
    assert_unanswered(&ground.patch_slice("web-0", "merge", &strip()).await?, "slices-update");
    let ownerless = json!({"metadata": {"ownerReferences": null}});
    assert_unanswered(&ground.patch_slice("web-0", "merge", &ownerless).await?, "slices-update");
    let strip = strip().to_string();
    let args = ["patch", COMPOSITIONS, "web", "--type=merge", "--patch", &strip];
    assert_unanswered(&ground.kubectl(&args).await?, "compositions-update");
    ground.unchanged(&needed).await?;
    ground.unchanged(&garbage).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lets_all_else_pass_while_the_webhook_is_down() -> Result<()> {
    let mut ground = Guarded::new("passes").await?;
    let web = ground.live("web", 1).await?;
    ground.webhook().kill();

    // Hooks that only remark.
    let mut bare = slice(&web, "bare", "some", &[]);
    bare["metadata"]["finalizers"] = json!([]);
    ground.kubectl_with(&["create", "-f", "-"], &bare.to_string()).await?.success()?;
    assert!(ground.slice("bare").await?.finalizers().is_empty(), "nobody was there to add one");
    let deleted = ground.kubectl(&["delete", COMPOSITIONS, "web", "--wait=false"]).await?;
    assert!(warnings(&deleted).is_empty(), "{}", deleted.stderr);
    deleted.success()?;

    // What the conditions or the rules leave out.
    ground.states("web-0", &reconciled_states(1, true)).await?;
    ground.patch_slice("web-0", "merge", &json!({"metadata": {"labels": {"some": "label"}}})).await?.success()?;
    ground.patch_slice("bare", "merge", &json!({"metadata": {"finalizers": [CLEANUP_FINALIZER]}})).await?.success()?;
    let deleting = ground.cluster().eno("Composition", ground.name()).get("web").await?;
    ground.reconcile(&deleting).await?;
    ground.kubectl(&["create", "configmap", "other"]).await?.success()?;
    ground.kubectl(&["delete", "configmap", "other"]).await?.success()?;
    let elsewhere = Namespace::new(ground.cluster(), "elsewhere").await?;
    let applied = ground.cluster().apply(&composition(elsewhere.name(), "api")).await?;
    ground.cluster().apply(&slice(&applied, "api-0", "some", &[])).await?;
    let args = ["delete", "resourceslices.eno.azure.io", "api-0", "--wait=false", "--namespace", elsewhere.name()];
    ground.cluster().kubectl(&args).await?.success()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn says_in_mode_warn_what_it_would_deny() -> Result<()> {
    let mut ground = Guarded::unguarded("warn").await?;
    ground.guard(&["--mode=warn"]).await?;
    let web = ground.live("web", 1).await?;
    let deleted = ground.delete_slice("web-0", &[]).await?;
    let namespace = ground.name();
    let would = format!("would be denied: resourceslice {namespace}/web-0 must stay (ReferencedByCurrent): ");
    assert!(warnings(&deleted).concat().starts_with(&would), "{}", deleted.stderr);
    deleted.success()?;
    assert!(ground.slice("web-0").await?.metadata.deletion_timestamp.is_some());
    let requests = Requests { hook: "slices-delete", verb: "delete", namespace, name: "web-0" };
    annotated(ground.cluster(), requests, &[("decision", "deny"), ("mode", "warn")]).await?;

    // New slices are still helped.
    let mut bare = slice(&web, "bare", "some", &[]);
    bare["metadata"]["finalizers"] = json!([]);
    ground.kubectl_with(&["create", "-f", "-"], &bare.to_string()).await?.success()?;
    assert_eq!(ground.slice("bare").await?.finalizers(), [CLEANUP_FINALIZER]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_records_in_mode_audit_what_it_would_deny() -> Result<()> {
    let mut ground = Guarded::unguarded("audit").await?;
    ground.guard(&["--mode=audit"]).await?;
    let web = ground.live("web", 1).await?;
    let deleted = ground.delete_slice("web-0", &[]).await?;
    assert!(warnings(&deleted).is_empty(), "{}", deleted.stderr);
    deleted.success()?;
    let stripped = ground.patch_slice("web-0", "merge", &strip()).await?;
    assert!(warnings(&stripped).is_empty(), "{}", stripped.stderr);
    stripped.success()?;
    let namespace = ground.name().to_owned();
    for (hook, verb) in [("slices-delete", "delete"), ("slices-update", "patch")] {
        let requests = Requests { hook, verb, namespace: &namespace, name: "web-0" };
        let recorded = [("decision", "deny"), ("mode", "audit"), ("reason", "ReferencedByCurrent")];
        annotated(ground.cluster(), requests, &recorded).await?;
    }
    let denied = ["hook=\"slices-delete\"", "decision=\"deny\"", "reason=\"ReferencedByCurrent\""];
    assert_eq!(ground.webhook().count("eno_webhook_reviews_total", &denied).await?, 1);

    let mut bare = slice(&web, "bare", "some", &[]);
    bare["metadata"]["finalizers"] = json!([]);
    ground.kubectl_with(&["create", "-f", "-"], &bare.to_string()).await?.success()?;
    assert!(ground.slice("bare").await?.finalizers().is_empty(), "nothing is changed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn records_each_decision_in_the_audit_log() -> Result<()> {
    let ground = Guarded::new("annotations").await?;
    ground.live("web", 1).await?;
    ground.finished("done", 1).await?;
    let namespace = ground.name();
    let recorded = async |hook, verb, name, [decision, reason, composition, evidence]: [&str; 4]| {
        let expected =
            [("decision", decision), ("reason", reason), ("composition", composition), ("evidence", evidence)];
        annotated(ground.cluster(), Requests { hook, verb, namespace, name }, &expected).await
    };
    denial(&ground.delete_slice("web-0", &[]).await?, "slices-delete")?;
    recorded("slices-delete", "delete", "web-0", ["deny", "ReferencedByCurrent", "web", "live"]).await?;
    ground.delete_slice("done-0", &[]).await?.success()?;
    recorded("slices-delete", "delete", "done-0", ["allow", "CompositionReconciled", "done", "live"]).await?;
    denial(&ground.patch_slice("web-0", "merge", &strip()).await?, "slices-update")?;
    recorded("slices-update", "patch", "web-0", ["deny", "ReferencedByCurrent", "web", "live"]).await?;
    let strip = strip().to_string();
    let args = ["patch", COMPOSITIONS, "web", "--type=merge", "--patch", &strip];
    denial(&ground.kubectl(&args).await?, "compositions-update")?;
    recorded("compositions-update", "patch", "web", ["deny", "CompositionLive", "web", "review"]).await?;
    ground.kubectl(&["delete", COMPOSITIONS, "web", "--wait=false"]).await?.success()?;
    recorded("compositions-delete", "delete", "web", ["allow", "NotGuarded", "web", "review"]).await
}

/// The kubeconfig of a service account that may do nothing.
async fn powerless(ground: &Guarded, dir: &TempDir) -> Result<std::path::PathBuf> {
    ground.kubectl(&["create", "serviceaccount", "powerless"]).await?.success()?;
    let token = ground.kubectl(&["create", "token", "powerless"]).await?.success()?;
    let view = ground.kubectl(&["config", "view", "--raw", "--minify", "-o", "json"]).await?.success()?;
    let mut kubeconfig: Value = serde_json::from_str(&view)?;
    let user = kubeconfig.pointer_mut("/users/0/user").context("a kubeconfig has a user")?;
    *user = json!({"token": token.trim()});
    let path = dir.path().join("kubeconfig");
    fs::write(&path, kubeconfig.to_string())?;
    Ok(path)
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_for_now_what_it_has_no_right_to_read_and_loses_nothing() -> Result<()> {
    let mut ground = Guarded::unguarded("powerless").await?;
    let namespace = ground.name().to_owned();
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "web-old").await?;
    ground.finished("done", 1).await?;
    let (needed, garbage) = (ground.slice("web-0").await?, ground.slice("web-old").await?);
    let dir = TempDir::new()?;
    let kubeconfig = Some(powerless(&ground, &dir).await?);
    ground.guard_with(WebhookOptions { kubeconfig, ..WebhookOptions::default() }).await?;

    let user = format!("User \"system:serviceaccount:{namespace}:powerless\" cannot get resource");
    for name in ["web-0", "web-old"] {
        let refused = ground.delete_slice(name, &[]).await?;
        let message = denial(&refused, "slices-delete")?;
        let begin = format!(
            "resourceslice {namespace}/{name} cannot be judged now (OwnerUnknown): its composition could not be read: "
        );
        assert!(message.starts_with(&begin) && message.contains(&user), "{message}");
        assert!(message.contains("Nothing was changed; try again."), "{message}");
        assert!(refused.stderr.starts_with("Error from server (ServiceUnavailable)"), "{}", refused.stderr);
    }
    denial(&ground.patch_slice("web-0", "merge", &strip()).await?, "slices-update")?;
    let strip = strip().to_string();
    let args = ["patch", COMPOSITIONS, "done", "--type=merge", "--patch", &strip];
    let message = denial(&ground.kubectl(&args).await?, "compositions-update")?;
    let begin = format!(
        "composition {namespace}/done cannot be judged now (EvidenceUnknown): its slice done-0 could not be read: "
    );
    assert!(message.starts_with(&begin) && message.contains(&user), "{message}");
    let requests = Requests { hook: "slices-delete", verb: "delete", namespace: &namespace, name: "web-0" };
    annotated(ground.cluster(), requests, &[("decision", "retry"), ("evidence", "none")]).await?;
    ground.unchanged(&needed).await?;
    ground.unchanged(&garbage).await
}
