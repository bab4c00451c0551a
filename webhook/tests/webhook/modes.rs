//! Enforcement modes.

use eno_webhook::candidates::Candidates;
use eno_webhook::hooks::Hook::{SlicesCreate, SlicesDelete};
use eno_webhook::mode::Mode;
use serde_json::Value;

use crate::api_server::{Answer, ApiServer};
use crate::call::{Webhook, deletion, review};
use crate::objects::{composition, slice, without};

fn webhook(server: &ApiServer, mode: Mode) -> Webhook {
    Webhook::with(server, mode, Candidates::new(&[]))
}

#[tokio::test]
async fn warn_lets_a_denial_pass_and_tells_it_whole() {
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    let webhook = webhook(&server, Mode::Warn);
    let reply = webhook.ask(SlicesDelete, &deletion(SlicesDelete, &slice("s1", "web"))).await;
    assert_eq!(reply.0["allowed"], true);
    let reply = reply.rests_on("deny", "ReferencedByCurrent").warns("would be denied").warns("kubectl eno why");
    assert_eq!(reply.0["auditAnnotations"]["mode"], "warn");
    let counted = "hook=\"slices-delete\",operation=\"DELETE\",decision=\"deny\",reason=\"ReferencedByCurrent\"";
    assert!(webhook.metrics.encode().contains(counted), "the decision is counted, not what the mode made of it");
}

#[tokio::test]
async fn warn_lets_pass_what_cannot_be_judged() {
    let server = ApiServer::new().at("/apis/eno.azure.io/v1/namespaces/ns/compositions", Answer::Failure(500, "Down"));
    let question = deletion(SlicesDelete, &slice("s1", "web"));
    let reply = webhook(&server, Mode::Warn).ask(SlicesDelete, &question).await;
    assert_eq!(reply.0["allowed"], true);
    reply.rests_on("retry", "ReferencesUnknown").warns("cannot be judged now");
}

#[tokio::test]
async fn audit_changes_nothing_and_says_nothing() {
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    let webhook = webhook(&server, Mode::Audit);
    let reply = webhook.ask(SlicesDelete, &deletion(SlicesDelete, &slice("s1", "web"))).await;
    assert_eq!(reply.0["allowed"], true);
    let reply = reply.says_nothing().rests_on("deny", "ReferencedByCurrent");
    assert_eq!(reply.0["auditAnnotations"]["mode"], "audit");

    let bare = without(without(slice("s2", "web"), "finalizers"), "ownerReferences");
    let reply = webhook.ask(SlicesCreate, &review(SlicesCreate, &Value::Null, &bare)).await;
    assert!(reply.says_nothing().0["patch"].is_null());
}

#[tokio::test]
async fn warn_still_adds_the_finalizer() {
    let bare = without(slice("s2", "web"), "finalizers");
    let question = review(SlicesCreate, &Value::Null, &bare);
    let reply = webhook(&ApiServer::new(), Mode::Warn).ask(SlicesCreate, &question).await;
    assert_eq!(reply.0["patchType"], "JSONPatch");
}
