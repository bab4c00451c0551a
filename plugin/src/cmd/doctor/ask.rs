//! Questions to the API server beyond Eno's kinds.

use serde_json::Value;

use crate::cluster::Cluster;

/// What it answers.
#[derive(Debug)]
pub(in crate::cmd) enum Answer {
    /// The object.
    Found(Value),
    /// There is none.
    Missing,
    /// It refuses, or does not answer: the reason.
    Failed {
        /// The HTTP status; 0 where there was no answer.
        code: u16,
        /// The reason.
        why: String,
    },
}

impl Answer {
    /// Why nothing can be told.
    pub(in crate::cmd) fn reason(&self) -> String {
        match self {
            Answer::Found(_) => String::new(),
            Answer::Missing => "there is none".to_owned(),
            Answer::Failed { why, .. } => why.clone(),
        }
    }
}

/// Reads a path.
pub(in crate::cmd) async fn get(cluster: &Cluster, path: &str) -> Answer {
    send(cluster, http::Request::get(path).body(vec![])).await
}

/// Sends an object.
pub(in crate::cmd) async fn post(cluster: &Cluster, path: &str, object: &Value) -> Answer {
    let request = http::Request::post(path).header("content-type", "application/json");
    send(cluster, request.body(object.to_string().into_bytes())).await
}

async fn send(cluster: &Cluster, request: http::Result<http::Request<Vec<u8>>>) -> Answer {
    let failed = |why: String| Answer::Failed { code: 0, why };
    let request = match request {
        Ok(request) => request,
        Err(error) => return failed(error.to_string()),
    };
    match tokio::time::timeout(cluster.timeout, cluster.client.request::<Value>(request)).await {
        Ok(Ok(value)) => Answer::Found(value),
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Answer::Missing,
        Ok(Err(kube::Error::Api(status))) => {
            let why = if status.message.is_empty() { status.reason.clone() } else { status.message.clone() };
            Answer::Failed { code: status.code, why }
        }
        Ok(Err(error)) => failed(crate::failure::Failure::transport(&error, &cluster.host).to_string()),
        Err(_) => failed(format!("no answer within {:.0?}", cluster.timeout)),
    }
}

/// The items of a list; none where it is not one.
pub(in crate::cmd) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list["items"].as_array().into_iter().flatten()
}

/// A text of an object, empty where there is none.
pub(in crate::cmd) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
