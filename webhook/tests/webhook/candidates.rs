//! The watch finds whom to read; what is read decides.

use std::time::{Duration, Instant};

use eno_webhook::candidates::Candidates;
use eno_webhook::hooks::Hook::{CompositionsDelete, SlicesDelete};
use eno_webhook::mode::Mode;
use serde_json::json;

use crate::api_server::{Answer, ApiServer};
use crate::call::{Webhook, deletion};
use crate::objects::{composition, slice};

const COMPOSITIONS: &str = "/apis/eno.azure.io/v1/namespaces/ns/compositions";

/// Candidates whose watch has delivered a list.
async fn watched(server: &ApiServer, namespaces: &[String]) -> Candidates {
    let candidates = Candidates::new(namespaces);
    tokio::spawn(candidates.clone().watch(server.client()));
    let deadline = Instant::now() + Duration::from_secs(10);
    while !candidates.have_started() {
        assert!(Instant::now() < deadline, "the watch did not start");
        tokio::task::yield_now().await;
    }
    candidates
}

#[tokio::test]
async fn only_the_owner_and_the_candidates_are_read() {
    let server = ApiServer::new()
        .with(&composition("web", &["s1"]))
        .with(&composition("copy", &["s1"]))
        .with(&composition("other", &["s9"]));
    let candidates = watched(&server, &[]).await;
    let before = server.calls().len();
    let webhook = Webhook::with(&server, Mode::Enforce, candidates);
    webhook.ask(SlicesDelete, &deletion(SlicesDelete, &slice("s1", "web"))).await.denies("ReferencedByCurrent");
    let mut read: Vec<_> = server.paths().split_off(before);
    read.retain(|path| !path.ends_with("/compositions"));
    assert_eq!(read, [format!("GET {COMPOSITIONS}/copy"), format!("GET {COMPOSITIONS}/web")]);
}

#[tokio::test]
async fn a_stale_candidate_is_read_again_before_it_counts() {
    let server = ApiServer::new().with(&composition("web", &[])).with(&composition("copy", &["s1"]));
    let candidates = watched(&server, &[]).await;
    // The watch has not seen yet that the composition has moved on.
    let server = server.with(&composition("copy", &["s2"]));
    let webhook = Webhook::with(&server, Mode::Enforce, candidates);
    webhook.ask(SlicesDelete, &deletion(SlicesDelete, &slice("s1", "web"))).await.allows("Unreferenced");
}

#[tokio::test]
async fn a_candidate_that_cannot_be_read_frees_nothing() {
    let server = ApiServer::new().with(&composition("web", &[])).with(&composition("copy", &["s1"]));
    let candidates = watched(&server, &[]).await;
    let server = server.at(&format!("{COMPOSITIONS}/copy"), Answer::Failure(500, "InternalError"));
    let webhook = Webhook::with(&server, Mode::Enforce, candidates);
    let reply = webhook.ask(SlicesDelete, &deletion(SlicesDelete, &slice("s1", "web"))).await;
    reply.asks_to_retry("ReferencesUnknown").says("composition copy: InternalError");
}

#[tokio::test]
async fn a_composition_that_does_not_decode_holds_every_slice_of_its_namespace() {
    let mut odd = composition("odd", &[]);
    odd["status"]["currentSynthesis"]["resourceSlices"] = json!("not a list");
    let server = ApiServer::new().with(&composition("web", &[])).with(&odd);
    let webhook = Webhook::with(&server, Mode::Enforce, watched(&server, &[]).await);
    let reply = webhook.ask(SlicesDelete, &deletion(SlicesDelete, &slice("s1", "web"))).await;
    reply.asks_to_retry("ReferencesUnknown").says("composition odd");
}

#[tokio::test]
async fn a_watch_that_never_delivered_is_replaced_by_a_live_list() {
    let server = ApiServer::new().at("/apis/eno.azure.io/v1/compositions", Answer::Failure(403, "Forbidden"));
    let candidates = watched(&server, &[]).await;
    let server = server.with(&composition("copy", &["s1"])).with(&composition("web", &[]));
    let webhook = Webhook::with(&server, Mode::Enforce, candidates);
    let reply = webhook.ask(SlicesDelete, &deletion(SlicesDelete, &slice("s1", "web"))).await;
    reply.denies("ReferencedByCurrent").says("composition copy");
}

#[tokio::test]
async fn a_namespace_that_is_not_watched_is_listed_live() {
    let server = ApiServer::new().with(&composition("web", &["s1"]));
    let candidates = watched(&server, &["elsewhere".to_owned()]).await;
    assert_eq!(candidates.referrers("ns", "s1"), None);
    assert_eq!(candidates.referrers("elsewhere", "s1"), Some(vec![]));
    let webhook = Webhook::with(&server, Mode::Enforce, candidates);
    webhook.ask(SlicesDelete, &deletion(SlicesDelete, &slice("s1", "web"))).await.denies("ReferencedByCurrent");
}

#[tokio::test]
async fn a_deletion_names_the_compositions_that_depend_on_it() {
    let mut dependent = composition("web", &[]);
    dependent["spec"]["dependsOn"] = json!([{"name": "db"}]);
    let server = ApiServer::new().with(&composition("db", &[])).with(&dependent);
    let webhook = Webhook::with(&server, Mode::Enforce, watched(&server, &[]).await);
    let reply = webhook.ask(CompositionsDelete, &deletion(CompositionsDelete, &composition("db", &[]))).await;
    reply.allows("NotGuarded").warns("ns/web");
}
