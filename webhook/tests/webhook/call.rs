//! One call to a hook, and what came back.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use eno_webhook::admission::{Admission, Cleanup};
use eno_webhook::candidates::Candidates;
use eno_webhook::clock::Clock;
use eno_webhook::events::{Events, Poster};
use eno_webhook::facts::Facts;
use eno_webhook::force::Force;
use eno_webhook::health::Health;
use eno_webhook::hooks::Hook;
use eno_webhook::metrics::Metrics;
use eno_webhook::mode::Mode;
use eno_webhook::router;
use eno_webhook::tls::Serving;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::api_server::ApiServer;

pub struct Webhook {
    pub router: Router,
    pub metrics: Metrics,
    pub poster: Poster,
}

impl Webhook {
    /// One that lists live: no watch runs.
    pub fn new(server: &ApiServer) -> Self {
        Self::with(server, Mode::Enforce, Candidates::new(&[]))
    }

    pub fn with(server: &ApiServer, mode: Mode, candidates: Candidates) -> Self {
        Self::hinting(server, mode, candidates, Cleanup::default())
    }

    /// One that names to the controllers what may have to be looked at.
    pub fn hinting(server: &ApiServer, mode: Mode, candidates: Candidates, cleanup: Cleanup) -> Self {
        let (client, metrics) = (server.client(), Metrics::default());
        let (events, poster) = Events::new(metrics.clone());
        let facts = Facts::new(client.clone(), candidates.clone(), metrics.clone());
        let force = Force::new(client, metrics.clone());
        let admission: Arc<Admission> = Admission::new(facts, force, mode, events, metrics.clone(), cleanup);
        let health = Health::new(candidates, Serving::new(Clock::default()), metrics.clone());
        Webhook { router: router::router(admission, health), metrics, poster }
    }

    pub async fn ask(&self, hook: Hook, review: &Value) -> Reply {
        let (code, body) = self.post(&hook.path(), "application/json", review.to_string().into()).await;
        assert_eq!(code, StatusCode::OK, "{body}");
        assert_eq!(body["apiVersion"], "admission.k8s.io/v1");
        assert_eq!(body["kind"], "AdmissionReview");
        let response = body["response"].clone();
        assert_eq!(response["uid"], review["request"]["uid"], "the uid is echoed");
        assert_eq!(response["patch"].is_null(), response["patchType"].is_null(), "patch and type go together");
        Reply(response)
    }

    pub async fn post(&self, path: &str, content_type: &str, body: Body) -> (StatusCode, Value) {
        let request = Request::post(path).header("content-type", content_type).body(body).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let code = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice(&body).unwrap_or_default())
    }
}

/// `response` of the review that came back.
#[derive(Debug)]
pub struct Reply(pub Value);

impl Reply {
    #[track_caller]
    pub fn allows(self, reason: &str) -> Self {
        assert_eq!(self.0["allowed"], true, "{}", self.0);
        assert!(self.0["status"].is_null());
        self.rests_on("allow", reason)
    }

    #[track_caller]
    pub fn denies(self, reason: &str) -> Self {
        self.refuses(403, "Forbidden", reason).rests_on("deny", reason)
    }

    #[track_caller]
    pub fn asks_to_retry(self, reason: &str) -> Self {
        self.refuses(503, "ServiceUnavailable", reason).rests_on("retry", reason).evidence("none")
    }

    #[track_caller]
    fn refuses(self, code: u16, status: &str, reason: &str) -> Self {
        assert_eq!(self.0["allowed"], false, "{}", self.0);
        assert_eq!(self.0["status"]["code"], code);
        assert_eq!(self.0["status"]["reason"], status);
        assert_eq!(self.0["status"]["details"]["causes"][0]["reason"], reason);
        self
    }

    #[track_caller]
    pub fn rests_on(self, decision: &str, reason: &str) -> Self {
        assert_eq!(self.0["auditAnnotations"]["decision"], decision, "{}", self.0);
        assert_eq!(self.0["auditAnnotations"]["reason"], reason, "{}", self.0);
        self
    }

    #[track_caller]
    pub fn evidence(self, evidence: &str) -> Self {
        assert_eq!(self.0["auditAnnotations"]["evidence"], evidence, "{}", self.0);
        self
    }

    #[track_caller]
    pub fn says(self, part: &str) -> Self {
        assert!(self.message().contains(part), "{part:?} is not in {:?}", self.message());
        self
    }

    #[track_caller]
    pub fn warns(self, part: &str) -> Self {
        assert!(self.warnings().contains(part), "{part:?} is not in {:?}", self.warnings());
        self
    }

    #[track_caller]
    pub fn says_nothing(self) -> Self {
        assert!(self.0["warnings"].is_null(), "{}", self.0);
        self
    }

    pub fn message(&self) -> &str {
        self.0["status"]["message"].as_str().unwrap_or_default()
    }

    /// All warnings, one after the other.
    pub fn warnings(&self) -> String {
        let warnings = self.0["warnings"].as_array().into_iter().flatten();
        warnings.filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// A review as the API server sends it. `old` and `new` are `null` where the operation has none.
pub fn review(hook: Hook, old: &Value, new: &Value) -> Value {
    let rule = hook.rule();
    let object = if old.is_null() { new } else { old };
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "review-1",
            "kind": {"group": rule.group, "version": rule.version, "kind": object["kind"]},
            "resource": {"group": rule.group, "version": rule.version, "resource": rule.resource},
            "subResource": rule.subresource,
            "requestKind": {"group": rule.group, "version": rule.version, "kind": object["kind"]},
            "name": object["metadata"]["name"].as_str().unwrap_or_default(),
            "namespace": object["metadata"]["namespace"].as_str().unwrap_or_default(),
            "operation": rule.operation.as_str(),
            "userInfo": {"username": "alice", "uid": "1", "groups": ["dev", "system:authenticated"], "extra": {"k": ["v"]}},
            "object": new, "oldObject": old, "dryRun": false,
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"}
        }
    })
}

pub fn deletion(hook: Hook, object: &Value) -> Value {
    review(hook, object, &Value::Null)
}
