//! A server on loopback that records requests and answers what a function says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::{Request as HttpRequest, Response as HttpResponse};
use serde_json::{Value, json};

/// A request as it was received.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    /// Repeated headers are joined with commas.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// An answer.
pub struct Response {
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: Option<String>,
}

impl Response {
    pub fn ok(object: Value) -> Self {
        Response { status: 200, headers: vec![("content-type", "application/json")], body: Some(object.to_string()) }
    }

    pub fn list(items: &[Value]) -> Self {
        Self::ok(json!({"apiVersion": "eno.azure.io/v1", "kind": "List", "metadata": {}, "items": items}))
    }

    /// Of each item the metadata alone.
    pub fn metadata_list(items: &[Value]) -> Self {
        let items: Vec<Value> = items
            .iter()
            .map(|item| json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": item["metadata"]}))
            .collect();
        Self::list(&items)
    }

    /// There is another page.
    pub fn page(mut self, token: &str) -> Self {
        let mut list: Value = serde_json::from_str(&self.body.unwrap()).unwrap();
        list["metadata"]["continue"] = token.into();
        self.body = Some(list.to_string());
        self
    }

    pub fn status(code: u16, reason: &str, message: &str) -> Self {
        let status = json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason,
            "message": message});
        Response { status: code, ..Self::ok(status) }
    }

    /// A `test` of a patch did not hold, in the API server's own words.
    pub fn test_failed() -> Self {
        Self::status(422, "Invalid", "the server rejected our request due to an error in our request")
    }

    /// A precondition of a delete did not hold.
    pub fn precondition_failed(name: &str) -> Self {
        let why = "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (2)";
        let message = format!("Operation cannot be fulfilled on resourceslices.eno.azure.io \"{name}\": {why}");
        Self::status(409, "Conflict", &message)
    }

    pub fn forbidden(message: &str) -> Self {
        Self::status(403, "Forbidden", message)
    }

    pub fn not_found(name: &str) -> Self {
        let status = json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound",
            "message": format!("{name} not found"), "details": {"name": name}});
        Response { status: 404, ..Self::ok(status) }
    }

    pub fn plain(status: u16, text: &str) -> Self {
        Response { status, headers: vec![("content-type", "text/plain")], body: Some(text.to_owned()) }
    }

    /// No answer at all.
    pub fn never() -> Self {
        Response { status: 200, headers: vec![], body: None }
    }

    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// The server. It ends with the value.
pub struct ApiServer {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl ApiServer {
    pub fn start(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (recorded, answer) = (requests.clone(), Arc::new(answer));
        let app = axum::Router::new().fallback(move |request: HttpRequest<Body>| {
            let (recorded, answer) = (recorded.clone(), answer.clone());
            async move {
                let request = received(request).await;
                recorded.lock().unwrap().push(request.clone());
                let Response { status, headers, body } = answer(&request);
                let Some(body) = body else { return std::future::pending().await };
                let response =
                    headers.into_iter().fold(HttpResponse::builder().status(status), |response, (name, value)| {
                        response.header(name, value)
                    });
                response.body(Body::from(body)).unwrap()
            }
        });
        runtime.spawn(async move { axum::serve(listener, app).await });
        ApiServer { url, requests, runtime: Some(runtime) }
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// `HOST:PORT`.
    pub fn host(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Ends the server, and keeps its address.
    pub fn stop(mut self) -> Self {
        self.runtime.take().unwrap().shutdown_timeout(std::time::Duration::from_secs(5));
        self
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn received(request: HttpRequest<Body>) -> Request {
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in request.headers() {
        let joined = headers.entry(name.to_string()).or_default();
        let comma = if joined.is_empty() { "" } else { "," };
        *joined = format!("{joined}{comma}{}", value.to_str().unwrap());
    }
    let uri = request.uri().clone();
    let method = request.method().to_string();
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    Request { method, path: uri.path().to_owned(), query: uri.query().unwrap_or_default().to_owned(), headers, body }
}
