//! Part D at admission: it is heard, and nothing is refused.

use eno_shared::pods::pod::Pod;
use eno_shared::pods::tracker::Place;
use eno_webhook::admission::Cleanup;
use eno_webhook::candidates::Candidates;
use eno_webhook::hooks::Hook::{self, PodsDelete, PodsEvict};
use eno_webhook::mode::Mode;
use eno_webhook::pods::Hint;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::api_server::ApiServer;
use crate::call::{Reply, Webhook, deletion, review};

/// Asks, and says what was named to those who follow pods.
async fn heard(hook: Hook, review: &Value) -> (Reply, Option<Hint>) {
    let (pods, mut hints) = mpsc::channel(1);
    let cleanup = Cleanup { pods: Some(pods), ..Cleanup::default() };
    let server = ApiServer::new();
    let webhook = Webhook::hinting(&server, Mode::Enforce, Candidates::new(&[]), cleanup);
    let reply = webhook.ask(hook, review).await;
    assert!(server.paths().is_empty(), "nothing is read for it");
    (reply, hints.try_recv().ok())
}

fn pod(annotations: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "ns", "uid": "u1", "annotations": annotations},
        "spec": {"nodeName": "n"},
    })
}

fn hint(uid: Option<&str>) -> Option<Hint> {
    Some(Hint { place: Place::new("ns", "web"), uid: uid.map(Into::into) })
}

#[tokio::test]
async fn a_pod_that_is_deleted_is_named_by_its_uid() {
    let (reply, named) = heard(PodsDelete, &deletion(PodsDelete, &pod(json!({})))).await;
    reply.allows("NotGuarded").says_nothing().evidence("review");
    assert_eq!(named, hint(Some("u1")));
    // An item of a deletecollection.
    let mut unnamed = deletion(PodsDelete, &pod(json!({})));
    unnamed["request"]["name"] = json!("");
    assert_eq!(heard(PodsDelete, &unnamed).await.1, hint(Some("u1")));
    let mirror = pod(json!({"kubernetes.io/config.hash": "h", "kubernetes.io/config.mirror": "h"}));
    // A mirror pod by what it is followed by.
    let followed = serde_json::from_value::<Pod>(mirror.clone()).unwrap().identity().into_owned();
    assert_eq!(heard(PodsDelete, &deletion(PodsDelete, &mirror)).await.1, hint(Some(&followed)));
    assert_ne!(followed, "u1");
}

#[tokio::test]
async fn a_pod_that_is_evicted_is_named() {
    let eviction =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web", "namespace": "ns"}});
    let (reply, named) = heard(PodsEvict, &review(PodsEvict, &Value::Null, &eviction)).await;
    reply.allows("NotGuarded").says_nothing();
    assert_eq!(named, hint(None));
}

#[tokio::test]
async fn a_dry_run_names_nothing() {
    for hook in [PodsDelete, PodsEvict] {
        let mut dry = deletion(hook, &pod(json!({})));
        dry["request"]["dryRun"] = json!(true);
        let (reply, named) = heard(hook, &dry).await;
        reply.allows("NotGuarded");
        assert_eq!(named, None, "{hook}");
    }
}

#[tokio::test]
async fn a_pod_that_does_not_decode_passes() {
    let mut odd = deletion(PodsDelete, &pod(json!({})));
    odd["request"]["oldObject"]["metadata"] = json!("odd");
    heard(PodsDelete, &odd).await.0.allows("EvidenceUnknown");
}
