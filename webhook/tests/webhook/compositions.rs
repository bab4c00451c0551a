//! C4 and C5.

use eno_webhook::hooks::Hook::{CompositionsDelete, CompositionsUpdate, SymphoniesDelete};
use serde_json::{Value, json};

use crate::api_server::{Answer, ApiServer};
use crate::call::{Reply, Webhook, deletion, review};
use crate::objects::{annotated, composition, deleting, emptied, finished, slice, symphony, without};

async fn stripped(server: &ApiServer, old: &Value) -> Reply {
    let new = without(old.clone(), "finalizers");
    Webhook::new(server).ask(CompositionsUpdate, &review(CompositionsUpdate, old, &new)).await
}

#[tokio::test]
async fn a_live_composition_keeps_its_finalizer() {
    stripped(&ApiServer::new(), &composition("web", &["s1"])).await.denies("CompositionLive").evidence("review");
}

#[tokio::test]
async fn a_composition_whose_resources_are_left_keeps_its_finalizer() {
    stripped(&ApiServer::new(), &deleting(composition("web", &["s1"]))).await.denies("NeededForDeletion");
    let server = ApiServer::new().with(&slice("s1", "web"));
    stripped(&server, &finished(composition("web", &["s1"]))).await.denies("NeededForDeletion").evidence("live");
}

#[tokio::test]
async fn eno_may_finish_a_composition_it_has_reconciled() {
    let server = ApiServer::new().with(&emptied(slice("s1", "web"))).with(&emptied(slice("s2", "web")));
    stripped(&server, &finished(composition("web", &["s1", "s2"])))
        .await
        .allows("CompositionReconciled")
        .says_nothing();
}

#[tokio::test]
async fn a_slice_that_does_not_exist_is_allowed_with_a_warning_and_an_event() {
    let server = ApiServer::new();
    let old = finished(composition("web", &["s1"]));
    let webhook = Webhook::new(&server);
    let question = review(CompositionsUpdate, &old, &without(old.clone(), "finalizers"));
    webhook.ask(CompositionsUpdate, &question).await.allows("ResourcesMayBeOrphaned").warns("s1");
    let mut dry = question;
    dry["request"]["dryRun"] = json!(true);
    webhook.ask(CompositionsUpdate, &dry).await.allows("ResourcesMayBeOrphaned");

    // Told to stop, it posts what is in the queue: one Event, for the dry run left none.
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    drop(webhook.router);
    webhook.poster.run(server.client(), stop).await;
    let events: Vec<_> = server.calls().into_iter().filter(|call| call.path.ends_with("/events")).collect();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0].path, "/apis/events.k8s.io/v1/namespaces/ns/events");
    assert_eq!(events[0].body["reason"], "ResourcesMayBeOrphaned");
    assert_eq!(events[0].body["reportingController"], "kubectl-eno.dev/webhook");
    assert_eq!(events[0].body["regarding"]["uid"], "uid-web");
}

#[tokio::test]
async fn a_slice_that_cannot_be_read_asks_to_retry() {
    let path = "/apis/eno.azure.io/v1/namespaces/ns/resourceslices/s1";
    let server = ApiServer::new().at(path, Answer::Failure(500, "InternalError"));
    let reply = stripped(&server, &finished(composition("web", &["s1"]))).await.asks_to_retry("EvidenceUnknown");
    reply.says("slice s1").says("InternalError");
}

#[tokio::test]
async fn a_composition_may_go_with_its_symphony() {
    let mut old = annotated(deleting(composition("web", &["s1"])), "eno.azure.io/forceDeleteWhenSymphonyGone", "true");
    old["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "eno.azure.io/v1", "kind": "Symphony", "name": "all", "uid": "uid-all", "controller": true
    }]);
    stripped(&ApiServer::new(), &old).await.allows("SymphonyGone");
    stripped(&ApiServer::new().with(&symphony("all")), &old).await.denies("NeededForDeletion");
    let path = "/apis/eno.azure.io/v1/namespaces/ns/symphonies/all";
    let server = ApiServer::new().at(path, Answer::Failure(403, "Forbidden"));
    stripped(&server, &old).await.asks_to_retry("EvidenceUnknown").says("symphony");
}

#[tokio::test]
async fn many_slices_are_read_at_once_and_all_of_them() {
    let names: Vec<_> = (0..50).map(|n| format!("s{n}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let server = names.iter().fold(ApiServer::new(), |server, name| server.with(&emptied(slice(name, "web"))));
    stripped(&server, &finished(composition("web", &names))).await.allows("CompositionReconciled");
    assert_eq!(server.paths().len(), 50);
}

#[tokio::test]
async fn an_update_that_keeps_the_finalizer_is_allowed_without_a_read() {
    let (server, object) = (ApiServer::new(), composition("web", &["s1"]));
    let question = review(CompositionsUpdate, &object, &object);
    Webhook::new(&server).ask(CompositionsUpdate, &question).await.allows("NothingDropped");
    assert!(server.paths().is_empty());
}

#[tokio::test]
async fn a_deletion_passes_with_what_it_will_do() {
    let webhook = Webhook::new(&ApiServer::new());
    let mut question = deletion(CompositionsDelete, &composition("web", &["s1"]));
    for (options, said) in [
        (json!({}), "deletes the resources of its 1 slice(s)"),
        (json!({"propagationPolicy": "Foreground"}), "--cascade=foreground"),
        (json!({"propagationPolicy": "Orphan"}), "--cascade=orphan"),
        (json!({"orphanDependents": true}), "--cascade=orphan"),
    ] {
        question["request"]["options"] = options;
        webhook.ask(CompositionsDelete, &question).await.allows("NotGuarded").warns(said);
    }
    question["request"]["options"] = json!(null);
    webhook.ask(CompositionsDelete, &question).await.allows("NotGuarded");
}

#[tokio::test]
async fn the_deletion_of_a_symphony_passes_with_a_warning() {
    let question = deletion(SymphoniesDelete, &symphony("all"));
    let reply = Webhook::new(&ApiServer::new()).ask(SymphoniesDelete, &question).await;
    reply.allows("NotGuarded").warns("behind, by design");
}

#[tokio::test]
async fn a_composition_that_does_not_decode_may_be_deleted() {
    let mut odd = composition("web", &[]);
    odd["spec"]["dependsOn"] = json!(1);
    let question = deletion(CompositionsDelete, &odd);
    Webhook::new(&ApiServer::new()).ask(CompositionsDelete, &question).await.allows("EvidenceUnknown");
}
