//! The override: annotation and right, both.

use eno_webhook::candidates::Candidates;
use eno_webhook::hooks::Hook::{CompositionsUpdate, DefinitionsDelete, SlicesDelete, SlicesUpdate};
use eno_webhook::mode::Mode;
use serde_json::{Value, json};

use crate::api_server::{Answer, ApiServer};
use crate::call::{Webhook, deletion, review};
use crate::objects::{annotated, composition, definition, slice, without};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const FORCE: &str = "kubectl-eno.dev/force";

fn server(allowed: bool) -> ApiServer {
    let answer = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {}, "status": {"allowed": allowed}
    });
    ApiServer::new().with(&composition("web", &["s1"])).at(REVIEWS, Answer::Object(answer))
}

fn forced(object: Value) -> Value {
    let uid = object["metadata"]["uid"].as_str().unwrap().to_owned();
    annotated(object, FORCE, &uid)
}

#[tokio::test]
async fn passes_with_annotation_and_right() {
    let server = server(true);
    let webhook = Webhook::new(&server);
    let reply = webhook.ask(SlicesDelete, &deletion(SlicesDelete, &forced(slice("s1", "web")))).await;
    let reply = reply.allows("ReferencedByCurrent").warns("forced by alice").warns("although");
    assert_eq!(reply.0["auditAnnotations"]["override"], "granted");
    assert!(webhook.metrics.encode().contains("eno_webhook_overrides_total{hook=\"slices-delete\"} 1"));

    let asked = server.calls().into_iter().find(|call| call.path == REVIEWS).unwrap().body;
    assert_eq!(
        asked["spec"],
        json!({
            "user": "alice", "uid": "1", "groups": ["dev", "system:authenticated"], "extra": {"k": ["v"]},
            "resourceAttributes": {
                "verb": "force", "group": "eno.azure.io", "version": "v1", "resource": "resourceslices",
                "namespace": "ns", "name": "s1"
            }
        })
    );
}

#[tokio::test]
async fn is_told_in_an_event() {
    let server = server(true);
    let webhook = Webhook::new(&server);
    webhook.ask(SlicesDelete, &deletion(SlicesDelete, &forced(slice("s1", "web")))).await.allows("ReferencedByCurrent");
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    drop(webhook.router);
    webhook.poster.run(server.client(), stop).await;
    let event = server.calls().into_iter().find(|call| call.path.ends_with("/events")).unwrap().body;
    assert_eq!((event["reason"].as_str(), event["action"].as_str()), (Some("Forced"), Some("Delete")));
    assert!(event["note"].as_str().unwrap().contains("by alice"));
}

#[tokio::test]
async fn is_refused_without_the_right_and_says_what_to_grant() {
    let reply =
        Webhook::new(&server(false)).ask(SlicesDelete, &deletion(SlicesDelete, &forced(slice("s1", "web")))).await;
    let reply = reply.denies("ReferencedByCurrent").says("alice may not force resourceslices.eno.azure.io");
    let reply = reply.says("kubectl create role eno-force -n ns --verb=force");
    assert_eq!(reply.0["auditAnnotations"]["override"], "refused");
}

#[tokio::test]
async fn is_refused_where_the_right_cannot_be_told() {
    let server = server(true).at(REVIEWS, Answer::Failure(500, "InternalError"));
    let reply = Webhook::new(&server).ask(SlicesDelete, &deletion(SlicesDelete, &forced(slice("s1", "web")))).await;
    let reply = reply.denies("ReferencedByCurrent").says("could not be told").says("InternalError");
    assert_eq!(reply.0["auditAnnotations"]["override"], "unknown");
}

#[tokio::test]
async fn is_not_asked_for_by_another_uid() {
    let server = server(true);
    let copied = annotated(slice("s1", "web"), FORCE, "uid-of-another");
    Webhook::new(&server).ask(SlicesDelete, &deletion(SlicesDelete, &copied)).await.denies("ReferencedByCurrent");
    assert!(!server.paths().iter().any(|path| path.contains(REVIEWS)), "nobody is asked");
}

#[tokio::test]
async fn counts_on_the_object_as_it_would_be() {
    let old = slice("s1", "web");
    let question = review(SlicesUpdate, &old, &forced(without(old.clone(), "finalizers")));
    Webhook::new(&server(true)).ask(SlicesUpdate, &question).await.allows("ReferencedByCurrent").warns("forced by");
    let old = composition("web", &["s1"]);
    let question = review(CompositionsUpdate, &old, &forced(without(old.clone(), "finalizers")));
    Webhook::new(&server(true)).ask(CompositionsUpdate, &question).await.allows("CompositionLive").warns("forced by");
}

#[tokio::test]
async fn passes_what_could_not_be_judged() {
    let server = server(true).at("/apis/eno.azure.io/v1/namespaces/ns/compositions", Answer::Failure(500, "Down"));
    let object = forced(slice("other", "web"));
    Webhook::new(&server).ask(SlicesDelete, &deletion(SlicesDelete, &object)).await.allows("ReferencesUnknown");
}

#[tokio::test]
async fn is_not_known_to_definitions() {
    let server = server(true);
    let object = forced(definition("compositions.eno.azure.io"));
    let reply = Webhook::new(&server).ask(DefinitionsDelete, &deletion(DefinitionsDelete, &object)).await;
    reply.denies("ObjectsExist");
}

#[tokio::test]
async fn a_dry_run_leaves_no_event() {
    let server = server(true);
    let webhook = Webhook::with(&server, Mode::Enforce, Candidates::new(&[]));
    let mut question = deletion(SlicesDelete, &forced(slice("s1", "web")));
    question["request"]["dryRun"] = json!(true);
    webhook.ask(SlicesDelete, &question).await.allows("ReferencedByCurrent");
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    drop(webhook.router);
    webhook.poster.run(server.client(), stop).await;
    assert!(!server.paths().iter().any(|path| path.ends_with("/events")));
}
