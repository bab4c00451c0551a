//! C1, C2, C3 and C7 of slices.

use eno_webhook::hooks::Hook::{SlicesCreate, SlicesDelete, SlicesUpdate};
use serde_json::{Value, json};

use crate::api_server::{Answer, ApiServer};
use crate::call::{Webhook, deletion, review};
use crate::objects::{FINALIZER, composition, deleting, emptied, finished, slice, without};

const COMPOSITIONS: &str = "/apis/eno.azure.io/v1/namespaces/ns/compositions";

async fn deleted(server: &ApiServer, object: &Value) -> crate::call::Reply {
    Webhook::new(server).ask(SlicesDelete, &deletion(SlicesDelete, object)).await
}

async fn updated(server: &ApiServer, old: &Value, new: &Value) -> crate::call::Reply {
    Webhook::new(server).ask(SlicesUpdate, &review(SlicesUpdate, old, new)).await
}

#[tokio::test]
async fn denies_the_deletion_of_a_slice_of_the_current_synthesis() {
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    let reply = deleted(&server, &slice("s1", "web")).await.denies("ReferencedByCurrent").evidence("live");
    let reply =
        reply.says("resourceslice ns/s1").says("composition web").says("kubectl eno why resourceslice/s1 -n ns");
    assert_eq!(reply.0["auditAnnotations"]["composition"], "web");
    assert_eq!(
        reply.0["status"]["details"]["name"].as_str().zip(reply.0["status"]["details"]["uid"].as_str()),
        Some(("s1", "uid-s1"))
    );
}

#[tokio::test]
async fn reads_the_old_object_where_a_deletecollection_names_nothing() {
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    let mut question = deletion(SlicesDelete, &slice("s1", "web"));
    question["request"]["name"] = json!("");
    Webhook::new(&server).ask(SlicesDelete, &question).await.denies("ReferencedByCurrent").says("ns/s1");
}

#[tokio::test]
async fn a_dry_run_gets_the_same_answer() {
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    let mut question = deletion(SlicesDelete, &slice("s1", "web"));
    question["request"]["dryRun"] = json!(true);
    Webhook::new(&server).ask(SlicesDelete, &question).await.denies("ReferencedByCurrent");
}

/// Owner references may hold any text. Such an owner must not keep its slice, and with it the namespace, for ever.
#[tokio::test]
async fn an_owner_whose_name_no_object_can_have_is_gone() {
    let server = ApiServer::new().with(&composition("web", &[]));
    for name in ["web?x", "../compositions/web", "Web"] {
        deleted(&server, &slice("s1", name)).await.allows("OwnerGone");
    }
}

#[tokio::test]
async fn lets_garbage_go() {
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    deleted(&server, &slice("old", "web")).await.allows("Unreferenced").says_nothing().evidence("live");
}

#[tokio::test]
async fn lets_a_slice_go_whose_composition_is_gone_or_replaced() {
    deleted(&ApiServer::new(), &slice("s1", "web")).await.allows("OwnerGone");
    let mut other = composition("web", &[]);
    other["metadata"]["uid"] = json!("another");
    deleted(&ApiServer::new().with(&other), &slice("s1", "web")).await.allows("OwnerReplaced");
}

#[tokio::test]
async fn holds_a_slice_that_another_composition_lists() {
    let server = ApiServer::new().with(&composition("web", &[])).with(&composition("copy", &["s1"]));
    deleted(&server, &slice("s1", "web")).await.denies("ReferencedByCurrent").says("composition copy");
    let ownerless = without(slice("s1", "web"), "ownerReferences");
    deleted(&server, &ownerless).await.denies("ReferencedByCurrent").says("composition copy");
}

#[tokio::test]
async fn lets_an_unowned_slice_go_with_a_warning() {
    let ownerless = without(slice("s1", "web"), "ownerReferences");
    deleted(&ApiServer::new(), &ownerless).await.allows("Unowned").warns("no composition as controller owner");
}

#[tokio::test]
async fn asks_nobody_about_a_slice_that_is_being_deleted_already() {
    let server = ApiServer::new();
    deleted(&server, &deleting(slice("s1", "web"))).await.allows("AlreadyDeleting").evidence("review");
    assert!(server.paths().is_empty(), "{:?}", server.paths());
}

#[tokio::test]
async fn lets_a_slice_go_whose_deleting_composition_is_done_with_it() {
    let server = ApiServer::new().with(&finished(composition("web", &["s1"])));
    deleted(&server, &emptied(slice("s1", "web"))).await.allows("CompositionReconciled");
    deleted(&server, &slice("s1", "web")).await.denies("ReferencedByCurrent");
}

#[tokio::test]
async fn what_cannot_be_read_is_to_be_retried_and_named() {
    for (answer, said) in [
        (Answer::Failure(403, "Forbidden"), "Forbidden"),
        (Answer::Failure(500, "InternalError"), "InternalError"),
        (Answer::Text(404, "404 page not found"), "page not found"),
        (Answer::Text(200, "<html>"), "malformed"),
    ] {
        let server = ApiServer::new().at(COMPOSITIONS, answer).with(&composition("web", &[]));
        deleted(&server, &slice("s1", "web")).await.asks_to_retry("ReferencesUnknown").says(said).says("try again");
    }
    let owner = format!("{COMPOSITIONS}/web");
    let server = ApiServer::new()
        .at(COMPOSITIONS, Answer::Failure(403, "Forbidden"))
        .at(&owner, Answer::Failure(500, "InternalError"));
    deleted(&server, &slice("s1", "web")).await.asks_to_retry("OwnerUnknown").says("composition web: InternalError");
}

#[tokio::test]
async fn a_slice_that_is_surely_needed_is_denied_even_where_others_cannot_be_read() {
    let server =
        ApiServer::new().at(COMPOSITIONS, Answer::Failure(403, "Forbidden")).with(&composition("web", &["s1"]));
    deleted(&server, &slice("s1", "web")).await.denies("ReferencedByCurrent");
}

#[tokio::test]
async fn a_read_that_takes_too_long_is_given_up_in_time() {
    let server = ApiServer::new().at(COMPOSITIONS, Answer::Silence);
    let question = deletion(SlicesDelete, &slice("s1", "web")).to_string();
    let asked = std::time::Instant::now();
    let (_, body) = Webhook::new(&server).post("/slices-delete?timeout=1s", "application/json", question.into()).await;
    let took = asked.elapsed();
    crate::call::Reply(body["response"].clone())
        .asks_to_retry("ReferencesUnknown")
        .says("no answer from the API server");
    assert!(took.as_millis() < 1000, "{took:?}");
}

#[tokio::test]
async fn an_object_that_does_not_decode_asks_to_retry() {
    let mut odd = slice("s1", "web");
    odd["metadata"]["finalizers"] = json!("not a list");
    deleted(&ApiServer::new(), &odd).await.asks_to_retry("EvidenceUnknown").says("does not decode");
    let mut dra = slice("s1", "web");
    dra["apiVersion"] = json!("resource.k8s.io/v1");
    deleted(&ApiServer::new(), &dra).await.asks_to_retry("EvidenceUnknown").says("resource.k8s.io/v1 ResourceSlice");
    deleted(&ApiServer::new(), &Value::Null).await.asks_to_retry("EvidenceUnknown").says("no oldObject");
}

#[tokio::test]
async fn denies_a_stripped_finalizer_or_owner() {
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    let old = slice("s1", "web");
    updated(&server, &old, &without(old.clone(), "finalizers"))
        .await
        .denies("ReferencedByCurrent")
        .says("its finalizer");
    updated(&server, &old, &without(old.clone(), "ownerReferences"))
        .await
        .denies("ReferencedByCurrent")
        .says("its owner");
    let mut other_owner = old.clone();
    other_owner["metadata"]["ownerReferences"][0]["uid"] = json!("another");
    updated(&server, &old, &other_owner).await.denies("ReferencedByCurrent").says("its owner");
}

#[tokio::test]
async fn an_update_that_drops_nothing_is_allowed_without_a_read() {
    let server = ApiServer::new();
    let mut labelled = slice("s1", "web");
    labelled["metadata"]["labels"] = json!({"a": "b"});
    updated(&server, &slice("s1", "web"), &labelled).await.allows("NothingDropped").evidence("review");
    assert!(server.paths().is_empty());
}

#[tokio::test]
async fn lets_the_finalizer_go_where_the_composition_is_gone() {
    let old = deleting(slice("s1", "web"));
    updated(&ApiServer::new(), &old, &without(old.clone(), "finalizers")).await.allows("OwnerGone");
}

#[tokio::test]
async fn an_update_without_its_new_object_asks_to_retry() {
    updated(&ApiServer::new(), &slice("s1", "web"), &Value::Null)
        .await
        .asks_to_retry("EvidenceUnknown")
        .says("the review carries no object");
}

#[tokio::test]
async fn a_new_slice_gets_the_finalizer_whatever_list_it_has() {
    for (list, expected) in [
        (None, Some(json!([FINALIZER]))),
        (Some(json!(null)), Some(json!([FINALIZER]))),
        (Some(json!([])), Some(json!([FINALIZER]))),
        (Some(json!(["a/b"])), Some(json!(["a/b", FINALIZER]))),
        (Some(json!([FINALIZER])), None),
        (Some(json!([FINALIZER, FINALIZER])), None),
    ] {
        let mut new = without(slice("s1", "web"), "finalizers");
        if let Some(list) = &list {
            new["metadata"]["finalizers"] = list.clone();
        }
        let server = ApiServer::new();
        let reply = Webhook::new(&server).ask(SlicesCreate, &review(SlicesCreate, &Value::Null, &new)).await;
        let reply = reply.allows("NotGuarded").says_nothing();
        assert_eq!(patched(&reply.0, new)["metadata"]["finalizers"], expected.unwrap_or(json!(list)), "{list:?}");
        assert!(server.paths().is_empty(), "nothing is read for it");
    }
}

#[tokio::test]
async fn a_new_slice_without_a_composition_passes_with_a_warning() {
    let mut new = without(slice("s1", "web"), "ownerReferences");
    new["metadata"].as_object_mut().unwrap().remove("name");
    let question = review(SlicesCreate, &Value::Null, &new);
    let reply = Webhook::new(&ApiServer::new()).ask(SlicesCreate, &question).await;
    reply.allows("NotGuarded").warns("no composition as controller owner");
}

#[tokio::test]
async fn a_new_slice_that_does_not_decode_passes_unchanged() {
    let mut odd = slice("s1", "web");
    odd["metadata"]["finalizers"] = json!(7);
    let question = review(SlicesCreate, &Value::Null, &odd);
    let reply = Webhook::new(&ApiServer::new()).ask(SlicesCreate, &question).await.allows("EvidenceUnknown");
    assert!(reply.0["patch"].is_null());
}

fn patched(response: &Value, mut object: Value) -> Value {
    let Some(patch) = response.get("patch") else { return object };
    let k8s_openapi::ByteString(json) = serde_json::from_value(patch.clone()).unwrap();
    let patch: json_patch::Patch = serde_json::from_slice(&json).unwrap();
    json_patch::patch(&mut object, &patch).unwrap();
    object
}
