//! Whoever reaches the webhook can ask it: it learns an answer, and starts nothing. What the controllers are told of is a name;
//! they look for themselves.

use anyhow::{Result, ensure};
use eno_shared::names::ENO_API_VERSION;
use eno_tests::webhook::{Guarded, WebhookOptions};
use kube::api::DynamicObject;
use kube::{Client, Config, ResourceExt};
use serde_json::{Value, json};

/// A review of a slice that is what `forged` makes of it; nobody has asked for this.
fn review(operation: &str, slice: &DynamicObject, forged: &Value, new: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "eno.azure.io", "version": "v1", "kind": "ResourceSlice"},
            "resource": {"group": "eno.azure.io", "version": "v1", "resource": "resourceslices"},
            "name": slice.name_any(), "namespace": slice.namespace(), "operation": operation, "dryRun": false,
            "userInfo": {"username": "system:admin", "groups": ["system:masters"]},
            "oldObject": forged, "object": new,
        },
    })
}

async fn ask(webhook: &Client, hook: &str, review: &Value) -> Result<Value> {
    let request = http::Request::post(format!("/{hook}?timeout=5s")).header("content-type", "application/json");
    let answer: Value = webhook.request(request.body(review.to_string().into_bytes())?).await?;
    ensure!(answer["response"]["allowed"].is_boolean(), "{answer}");
    Ok(answer["response"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_reviews_start_nothing() -> Result<()> {
    let mut ground = Guarded::unguarded("forged").await?;
    let web = ground.live("web", 1).await?;
    let needed = ground.slice("web-0").await?;
    let all = WebhookOptions { controllers: "*", ..WebhookOptions::default() };
    ground.guard_with(all).await?;
    let mut config = Config::new(ground.webhook().url().parse()?);
    config.root_cert_file = Some(ground.webhook().ca().to_owned());
    let webhook = Client::try_from(config)?;

    // Garbage of a composition that does not exist, being deleted: as the controllers collect and release it.
    let mut forged = serde_json::to_value(&needed)?;
    forged["metadata"]["ownerReferences"] = json!([{
        "apiVersion": ENO_API_VERSION, "kind": "Composition", "name": "gone", "uid": "gone", "controller": true,
    }]);
    let mut terminating = forged.clone();
    terminating["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut stripped = terminating.clone();
    stripped["metadata"]["finalizers"] = json!([]);
    for (hook, review) in [
        ("slices-delete", review("DELETE", &needed, &forged, &Value::Null)),
        ("slices-delete", review("DELETE", &needed, &terminating, &Value::Null)),
        ("slices-update", review("UPDATE", &needed, &terminating, &stripped)),
    ] {
        let before = ground.webhook().reviews(hook).await?;
        ask(&webhook, hook, &review).await?;
        assert_eq!(ground.webhook().reviews(hook).await?, before + 1, "{hook}");
    }

    // The controllers work, and have come past what they were told of before.
    ground.garbage(&web, "web-old").await?;
    ground.gone("web-old").await?;
    ground.unchanged(&needed).await
}
