//! An API server that is a table: a path, and what is answered there.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use http::{Request, Response};
use kube::Client;
use serde_json::{Value, json};

/// What is answered at a path.
#[derive(Clone)]
pub enum Answer {
    Object(Value),
    /// A Status of this code and reason.
    Failure(u16, &'static str),
    /// Not JSON at all.
    Text(u16, &'static str),
    /// Nothing, ever.
    Silence,
}

/// One call that was received.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: String,
    pub path: String,
    pub body: Value,
}

#[derive(Clone, Default)]
pub struct ApiServer {
    answers: Arc<Mutex<BTreeMap<String, Answer>>>,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl ApiServer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores an object of Eno's at its path.
    pub fn with(self, object: &Value) -> Self {
        let plural = match object["kind"].as_str().unwrap() {
            "Composition" => "compositions",
            "ResourceSlice" => "resourceslices",
            "Symphony" => "symphonies",
            other => panic!("no plural of {other}"),
        };
        let namespace = object["metadata"]["namespace"].as_str().unwrap();
        let name = object["metadata"]["name"].as_str().unwrap();
        let path = format!("/apis/eno.azure.io/v1/namespaces/{namespace}/{plural}/{name}");
        self.at(&path, Answer::Object(object.clone()))
    }

    pub fn at(self, path: &str, answer: Answer) -> Self {
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
        self
    }

    pub fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let server = server.clone();
            async move { Ok::<_, Infallible>(server.answer(request).await) }
        });
        Client::new(service, "default")
    }

    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// Paths of the calls, without their queries.
    pub fn paths(&self) -> Vec<String> {
        self.calls().into_iter().map(|call| format!("{} {}", call.method, call.path)).collect()
    }

    async fn answer(&self, request: Request<kube::client::Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body = body.collect_bytes().await.unwrap();
        let path = parts.uri.path().to_owned();
        let watches = parts.uri.query().is_some_and(|query| query.contains("watch=true"));
        let call = Call {
            method: parts.method.to_string(),
            path: path.clone(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
        };
        self.calls.lock().unwrap().push(call);
        let answer = self.find(&path);
        match answer {
            Answer::Object(_) if watches => {
                Response::new(Body::from_stream(futures::stream::pending::<Result<Vec<u8>, Infallible>>()))
            }
            Answer::Object(object) => respond(200, object.to_string()),
            Answer::Failure(code, reason) => respond(code, status(code, reason, json!({})).to_string()),
            Answer::Text(code, text) => respond(code, text.to_owned()),
            Answer::Silence => std::future::pending().await,
        }
    }

    fn find(&self, path: &str) -> Answer {
        let answers = self.answers.lock().unwrap();
        if let Some(answer) = answers.get(path) {
            return answer.clone();
        }
        if let Some((_, name)) = path.rsplit_once("compositions/").or_else(|| path.rsplit_once("slices/")) {
            return Answer::Object(status(404, "NotFound", json!({"name": name})));
        }
        if let Some((_, name)) = path.rsplit_once("symphonies/") {
            return Answer::Object(status(404, "NotFound", json!({"name": name})));
        }
        let below = format!("{path}/");
        let in_any = path.strip_prefix("/apis/eno.azure.io/v1/").filter(|rest| !rest.contains('/'));
        let items: Vec<_> = answers
            .iter()
            .filter(|(at, _)| {
                at.starts_with(&below) || in_any.is_some_and(|plural| at.contains(&format!("/{plural}/")))
            })
            .filter_map(|(_, answer)| match answer {
                Answer::Object(object) => Some(object.clone()),
                Answer::Failure(..) | Answer::Text(..) | Answer::Silence => None,
            })
            .collect();
        Answer::Object(json!({
            "apiVersion": "eno.azure.io/v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": items
        }))
    }
}

fn status(code: u16, reason: &str, details: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason,
        "message": format!("the server says {reason}"), "details": details
    })
}

fn respond(code: u16, body: String) -> Response<Body> {
    // A 404 in the table is a Status, and its code is the response's.
    let code = match serde_json::from_str::<Value>(&body) {
        Ok(object) if object["kind"] == "Status" => object["code"].as_u64().and_then(|c| u16::try_from(c).ok()),
        Ok(_) | Err(_) => None,
    }
    .unwrap_or(code);
    Response::builder().status(code).header("content-type", "application/json").body(Body::from(body)).unwrap()
}
