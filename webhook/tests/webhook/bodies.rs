//! Bodies that are no question, or a strange one. Each gets an answer, and the next call is served.

use axum::body::Body;
use eno_webhook::hooks::Hook::{self, SlicesDelete, SlicesUpdate};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::api_server::ApiServer;
use crate::call::{Webhook, deletion, review};
use crate::objects::{composition, definition, slice, symphony, without};

fn webhook() -> Webhook {
    Webhook::new(&ApiServer::new().with(&composition("web", &["s1"])))
}

/// A body that gets no review, with the code and what the message says.
async fn refused(body: impl Into<Body>, code: StatusCode, said: &str) {
    let (found, status) = webhook().post("/slices-delete", "application/json", body.into()).await;
    assert_eq!(found, code, "{status}");
    assert_eq!((status["kind"].as_str(), status["code"].as_u64()), (Some("Status"), Some(code.as_u16().into())));
    let message = status["message"].as_str().unwrap();
    assert!(message.contains(said), "{said:?} is not in {message:?}");
}

#[tokio::test]
async fn what_is_no_review_is_a_400_that_says_why() {
    let whole = deletion(SlicesDelete, &slice("s1", "web")).to_string();
    refused("", StatusCode::BAD_REQUEST, "empty").await;
    refused(whole[..whole.len() / 2].to_owned(), StatusCode::BAD_REQUEST, "EOF").await;
    refused(&b"\xff\xfe\x00"[..], StatusCode::BAD_REQUEST, "not an admission.k8s.io/v1 AdmissionReview").await;
    refused("[]", StatusCode::BAD_REQUEST, "AdmissionReview").await;
    refused("null", StatusCode::BAD_REQUEST, "AdmissionReview").await;
    refused("{}", StatusCode::BAD_REQUEST, "an object of no kind").await;
    refused(r#"{"apiVersion": "v1", "kind": "Pod"}"#, StatusCode::BAD_REQUEST, "v1 Pod").await;
    refused(whole.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1"), StatusCode::BAD_REQUEST, "v1beta1").await;
    refused(
        r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}"#,
        StatusCode::BAD_REQUEST,
        "no request",
    )
    .await;
    refused(whole.replace("review-1", ""), StatusCode::BAD_REQUEST, "no request with a uid").await;
    refused("[".repeat(1_000_000), StatusCode::BAD_REQUEST, "AdmissionReview").await;
}

#[test]
fn a_review_that_is_cut_anywhere_is_refused() {
    let whole = deletion(SlicesDelete, &slice("s1", "web")).to_string();
    eno_webhook::review::parse(SlicesDelete, whole.as_bytes()).unwrap();
    for length in 0..whole.len() {
        assert!(eno_webhook::review::parse(SlicesDelete, &whole.as_bytes()[..length]).is_err(), "{length}");
    }
}

#[tokio::test]
async fn deep_nesting_in_an_object_costs_nothing() {
    let question = deletion(SlicesDelete, &slice("s1", "web")).to_string();
    let deep = format!("\"deep\":{}{},\"spec\":", "[".repeat(100_000), "]".repeat(100_000));
    let question = question.replacen("\"spec\":", &deep, 1);
    let (code, body) = webhook().post("/slices-delete", "application/json", question.into()).await;
    assert_eq!(code, StatusCode::OK, "{body}");
}

#[tokio::test]
async fn a_request_of_another_hook_is_a_400_that_names_both() {
    let webhook = webhook();
    let question = deletion(Hook::CompositionsDelete, &composition("web", &[])).to_string();
    let (code, status) = webhook.post("/slices-delete", "application/json", question.into()).await;
    assert_eq!(code, StatusCode::BAD_REQUEST);
    let message = status["message"].as_str().unwrap();
    assert!(message.contains("resourceslices") && message.contains("compositions") && message.contains("print-config"));

    let mut subresource = deletion(SlicesDelete, &slice("s1", "web"));
    subresource["request"]["subResource"] = json!("status");
    let (code, _) = webhook.post("/slices-delete", "application/json", subresource.to_string().into()).await;
    assert_eq!(code, StatusCode::BAD_REQUEST);
    let mut dra = deletion(SlicesDelete, &slice("s1", "web"));
    dra["request"]["resource"]["group"] = json!("resource.k8s.io");
    let (code, _) = webhook.post("/slices-delete", "application/json", dra.to_string().into()).await;
    assert_eq!(code, StatusCode::BAD_REQUEST);
}

/// The namespace of the object says where what decides is read: an object of elsewhere would find no composition there.
#[tokio::test]
async fn an_object_that_the_request_does_not_name_is_not_judged() {
    for (field, other) in [("namespace", json!("elsewhere")), ("namespace", Value::Null), ("name", json!("s2"))] {
        let mut question = deletion(SlicesDelete, &slice("s1", "web"));
        question["request"]["oldObject"]["metadata"][field] = other;
        let reply = webhook().ask(SlicesDelete, &question).await.asks_to_retry("EvidenceUnknown");
        reply.says("the object ns/s1 cannot be judged").says("not the one that the request names");
    }
}

#[tokio::test]
async fn a_body_that_is_not_said_to_be_json_is_a_415() {
    let question = deletion(SlicesDelete, &slice("s1", "web")).to_string();
    for content_type in ["text/plain", "application/yaml", ""] {
        let (code, _) = webhook().post("/slices-delete", content_type, question.clone().into()).await;
        assert_eq!(code, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type}");
    }
    let (code, _) = webhook().post("/slices-delete", "application/json; charset=utf-8", question.into()).await;
    assert_eq!(code, StatusCode::OK);
}

#[tokio::test]
async fn eight_mebibytes_are_a_413_announced_or_not() {
    let huge = vec![b' '; 8 * 1024 * 1024];
    refused(huge.clone(), StatusCode::PAYLOAD_TOO_LARGE, "larger than 7340032 bytes").await;
    let pieces = huge.chunks(65536).map(|piece| Ok::<_, std::io::Error>(piece.to_vec())).collect::<Vec<_>>();
    let streamed = Body::from_stream(futures::stream::iter(pieces));
    refused(streamed, StatusCode::PAYLOAD_TOO_LARGE, "larger than").await;
}

#[tokio::test]
async fn an_update_of_two_slices_of_three_mebibytes_is_judged() {
    let mut old = slice("s1", "web");
    old["spec"]["resources"] = json!([{"manifest": "x".repeat(3 * 1024 * 1024)}]);
    let question = review(SlicesUpdate, &old, &without(old.clone(), "finalizers"));
    webhook().ask(SlicesUpdate, &question).await.denies("ReferencedByCurrent");
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_a_408_in_time() {
    let body = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let (code, status) = webhook().post("/slices-delete?timeout=100ms", "application/json", body).await;
    assert_eq!(code, StatusCode::REQUEST_TIMEOUT, "{status}");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_a_400() {
    let broken = futures::stream::iter([Ok(b"{".to_vec()), Err(std::io::Error::other("reset"))]);
    refused(Body::from_stream(broken), StatusCode::BAD_REQUEST, "broke off").await;
}

#[tokio::test]
async fn what_is_refused_is_counted_by_hook_and_cause() {
    let webhook = webhook();
    webhook.post("/slices-delete", "application/json", Body::empty()).await;
    assert!(
        webhook.metrics.encode().contains("eno_webhook_bodies_refused_total{hook=\"slices-delete\",cause=\"empty\"} 1")
    );
}

#[tokio::test]
async fn only_hooks_are_served_and_only_by_post() {
    let router = webhook().router;
    let get = Request::get("/slices-delete").body(Body::empty()).unwrap();
    assert_eq!(router.clone().oneshot(get).await.unwrap().status(), StatusCode::METHOD_NOT_ALLOWED);
    let unknown = Request::post("/").body(Body::empty()).unwrap();
    assert_eq!(router.oneshot(unknown).await.unwrap().status(), StatusCode::NOT_FOUND);
}

/// Of each hook a question that it must answer: a hook in the table without a handler would be a 404 here.
#[tokio::test]
async fn every_hook_answers_what_its_rule_sends() {
    for hook in Hook::ALL {
        let object = match hook {
            Hook::SlicesDelete | Hook::SlicesUpdate | Hook::SlicesCreate => slice("s1", "web"),
            Hook::CompositionsUpdate | Hook::CompositionsDelete => composition("web", &["s1"]),
            Hook::SymphoniesDelete => symphony("all"),
            Hook::DefinitionsDelete => definition("symphonies.eno.azure.io"),
            Hook::PodsDelete | Hook::PodsEvict => {
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "ns", "uid": "u1"}})
            }
        };
        let (old, new) = match hook.rule().operation {
            eno_webhook::hooks::Operation::Create => (Value::Null, object),
            eno_webhook::hooks::Operation::Update => (object.clone(), without(object, "finalizers")),
            eno_webhook::hooks::Operation::Delete => (object, Value::Null),
        };
        let reply = webhook().ask(hook, &review(hook, &old, &new)).await;
        assert!(reply.0["auditAnnotations"]["decision"].is_string(), "{hook}");
    }
}
