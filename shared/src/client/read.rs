//! One live read of one object.

use std::future::Future;
use std::time::Duration;

use kube::Client;
use kube::core::params::GetParams;
use kube::core::{Request, Status};

use crate::api::{DecodeError, Kind, decode};
use crate::lookup::Lookup;

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The API server refused: 403, 429, 5xx …
    #[error("{}", refusal(.0))]
    Api(Box<Status>),
    /// There was no answer of the API server's, or none that is one.
    #[error("no answer from the API server: {}", root_cause(.0.as_ref()))]
    Transport(Box<kube::Error>),
    /// The object does not decode.
    #[error("{0}")]
    Decode(DecodeError),
    /// The answer is not JSON of the expected form.
    #[error("malformed answer of the API server: {0}")]
    Malformed(serde_json::Error),
    /// There was no answer in time.
    #[error("no answer from the API server within {0:.1?}")]
    TimedOut(Duration),
}

fn refusal(status: &Status) -> String {
    match status.reason.as_str() {
        "" => format!("{} (HTTP {})", status.message, status.code),
        reason => format!("{reason}: {}", status.message),
    }
}

impl From<kube::Error> for ReadError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => ReadError::Api(status),
            other => ReadError::Transport(Box::new(other)),
        }
    }
}

/// The innermost error: the outer ones only say that a request failed.
fn root_cause<'e>(error: &'e (dyn std::error::Error + 'static)) -> &'e (dyn std::error::Error + 'static) {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause
}

/// Reads one object, live. `None` only where the API server says that *this object* does not exist.
///
/// A 404 that does not name the object (the kind is not served, a proxy's error page) is an error: it says nothing of the
/// object. A name that no object can have (an owner reference may hold any text) is missing without a question.
///
/// # Errors
/// [`ReadError`] for everything but the object or its 404.
pub async fn get<K: Kind>(
    client: &Client,
    namespace: Option<&str>,
    name: &str,
    limit: Duration,
) -> Result<Option<K>, ReadError> {
    let text = get_text(client, &K::path(namespace), name, limit).await?;
    text.map(|text| decode(text.as_bytes()).map_err(ReadError::Decode)).transpose()
}

/// [`get`], of an object of any kind, as JSON: `path` is that of all objects of the kind in its namespace.
///
/// # Errors
/// As for [`get`], but that nothing is decoded.
pub async fn get_text(client: &Client, path: &str, name: &str, limit: Duration) -> Result<Option<String>, ReadError> {
    if cannot_be_a_name(name) {
        return Ok(None);
    }
    let request = Request::new(path).get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
    match within(limit, client.request_text(request)).await {
        Ok(text) => Ok(Some(text)),
        Err(ReadError::Api(status)) if says_missing(&status, name) => Ok(None),
        Err(error) => Err(error),
    }
}

/// [`get`], as a fact for the rules.
pub async fn lookup<K: Kind>(client: &Client, namespace: Option<&str>, name: &str, limit: Duration) -> Lookup<K> {
    match get(client, namespace, name, limit).await {
        Ok(Some(object)) => Lookup::Found(object),
        Ok(None) => Lookup::Missing,
        Err(error) => Lookup::Unknown(format!("{} {name}: {error}", K::SINGULAR)),
    }
}

/// Ends an answer that takes too long.
pub(super) async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, ReadError> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answer) => answer.map_err(ReadError::from),
        Err(_) => Err(ReadError::TimedOut(limit)),
    }
}

/// Custom resources are named as DNS subdomains are. In the path of a URL another name would ask for something else, as
/// `a?b` for `a`, and could never be told to be missing.
fn cannot_be_a_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
    name.starts_with('.') || !name.bytes().all(plain)
}

/// Only a 404 that names the object is "missing": the same is said of a kind that is not served, and by proxies.
pub(super) fn says_missing(status: &Status, name: &str) -> bool {
    status.code == 404
        && status.reason == "NotFound"
        && status.details.as_ref().is_some_and(|details| details.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(json: serde_json::Value) -> Status {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn only_a_404_that_names_the_object_is_missing() {
        let missing = serde_json::json!({"status": "Failure", "code": 404, "reason": "NotFound", "message": "",
            "details": {"name": "web", "group": "eno.azure.io", "kind": "compositions"}});
        assert!(says_missing(&status(missing), "web"));
        let kind_not_served = serde_json::json!({"status": "Failure", "code": 404, "reason": "NotFound",
            "message": "the server could not find the requested resource", "details": {}});
        assert!(!says_missing(&status(kind_not_served), "web"));
        let proxy = serde_json::json!({"status": "Failure", "code": 404, "reason": "Failed to parse error data", "message": "404 page not found"});
        assert!(!says_missing(&status(proxy), "web"));
        let forbidden = serde_json::json!({"status": "Failure", "code": 403, "reason": "Forbidden", "message": "",
            "details": {"name": "web"}});
        assert!(!says_missing(&status(forbidden), "web"));
    }

    #[test]
    fn names_that_lead_elsewhere_are_no_names() {
        for name in ["a?b", "a/b", "a%2fb", "a#b", "..", ".", "../a", "A", "a b", "é"] {
            assert!(cannot_be_a_name(name), "{name}");
        }
        for name in ["a", "web-1.2", "7"] {
            assert!(!cannot_be_a_name(name), "{name}");
        }
        // It was left out: nobody knows what was meant.
        assert!(!cannot_be_a_name(""));
    }
}
