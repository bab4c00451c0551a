//! C6.

use eno_webhook::hooks::Hook::DefinitionsDelete;
use serde_json::json;

use crate::api_server::{Answer, ApiServer};
use crate::call::{Reply, Webhook, deletion};
use crate::objects::{definition, deleting, slice};

const SLICES: &str = "resourceslices.eno.azure.io";

async fn deleted(server: &ApiServer, object: &serde_json::Value) -> Reply {
    Webhook::new(server).ask(DefinitionsDelete, &deletion(DefinitionsDelete, object)).await
}

#[tokio::test]
async fn a_definition_stays_while_objects_of_it_exist() {
    let server = ApiServer::new().with(&slice("s1", "web"));
    deleted(&server, &definition(SLICES)).await.denies("ObjectsExist").says("ns/s1").evidence("live");
    assert_eq!(server.paths(), ["GET /apis/eno.azure.io/v1/resourceslices"], "in the version that is served");
}

#[tokio::test]
async fn a_definition_without_objects_may_go() {
    deleted(&ApiServer::new(), &definition(SLICES)).await.allows("NoObjects");
}

#[tokio::test]
async fn a_definition_whose_objects_cannot_be_listed_asks_to_retry() {
    let path = "/apis/eno.azure.io/v1/resourceslices";
    for (answer, said) in [
        (Answer::Failure(404, "NotFound"), "NotFound"),
        (Answer::Failure(403, "Forbidden"), "Forbidden"),
        (Answer::Object(json!({"kind": "Odd"})), "items"),
    ] {
        let server = ApiServer::new().at(path, answer);
        deleted(&server, &definition(SLICES)).await.asks_to_retry("EvidenceUnknown").says(said);
    }
    let mut unserved = definition(SLICES);
    unserved["spec"]["versions"][1]["served"] = json!(false);
    deleted(&ApiServer::new(), &unserved).await.asks_to_retry("EvidenceUnknown").says("serves no version");
}

#[tokio::test]
async fn a_definition_that_is_going_already_is_not_looked_at() {
    let server = ApiServer::new().with(&slice("s1", "web"));
    deleted(&server, &deleting(definition(SLICES))).await.allows("AlreadyDeleting");
    assert!(server.paths().is_empty());
}

#[tokio::test]
async fn another_definition_passes() {
    let server = ApiServer::new();
    deleted(&server, &definition("resourceslices.resource.k8s.io")).await.allows("NotGuarded");
    deleted(&server, &definition("things.sub.eno.azure.io")).await.allows("NotGuarded");
    assert!(server.paths().is_empty());
}

#[tokio::test]
async fn a_definition_that_does_not_decode_asks_to_retry() {
    let mut odd = definition(SLICES);
    odd["spec"]["versions"] = json!(null);
    deleted(&ApiServer::new(), &odd).await.asks_to_retry("EvidenceUnknown").says("does not decode");
}
