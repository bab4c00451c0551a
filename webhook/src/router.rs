//! From an HTTP request to a review and back. A path for each hook.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures::FutureExt;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::admission::Admission;
use crate::body::{self, Unread};
use crate::deadline::Deadline;
use crate::health::Health;
use crate::hooks::Hook;
use crate::review::{self, BadReview};

/// Why a call gets no review for an answer.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("content type {0:?} is not application/json")]
    NotJson(String),
    #[error(transparent)]
    Unread(#[from] Unread),
    #[error(transparent)]
    Bad(#[from] BadReview),
    #[error("the webhook failed on this call; its logs say why")]
    Panicked,
}

/// The hooks.
pub fn router(admission: Arc<Admission>, health: Health) -> Router {
    let mut router = Router::new();
    let room = Arc::new(Semaphore::new(body::ROOM));
    for hook in Hook::ALL {
        let room = Arc::clone(&room);
        let handler = move |State(admission): State<Arc<Admission>>, request: Request| async move {
            let answer = catch_panic(answer(hook, &admission, &room, request)).await;
            answer.unwrap_or_else(|refusal| refuse(hook, &admission, &refusal))
        };
        router = router.route(&hook.path(), post(handler));
    }
    router.with_state(admission).layer(middleware::from_fn(move |request: Request, next: Next| {
        let health = health.clone();
        async move {
            let mut response = next.run(request).await;
            // A client that keeps its connection would come back to a process that is about to end.
            if health.is_draining() {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            response
        }
    }))
}

async fn answer(hook: Hook, admission: &Admission, room: &Semaphore, request: Request) -> Result<Response, Refusal> {
    let deadline = Deadline::of_query(request.uri().query());
    is_json(request.headers())?;
    let (body, _room) = body::read(request.into_body(), deadline, room).await?;
    let request = review::parse(hook, &body)?;
    Ok(Json(admission.review(hook, &request, deadline).await).into_response())
}

fn is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers.get(header::CONTENT_TYPE).map_or("", |value| value.to_str().unwrap_or_default());
    let media_type = value.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(Refusal::NotJson(value.to_owned())) }
}

/// A panic ends one call, and not the connection: the API server would see no more than EOF.
async fn catch_panic<T>(call: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or(Err(Refusal::Panicked))
}

fn refuse(hook: Hook, admission: &Admission, refusal: &Refusal) -> Response {
    let (code, reason, cause) = match refusal {
        Refusal::NotJson(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", "content_type"),
        Refusal::Unread(Unread::TooLarge) => (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", "too_large"),
        Refusal::Unread(Unread::NoRoom) => (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", "no_room"),
        Refusal::Unread(Unread::TooSlow) => (StatusCode::REQUEST_TIMEOUT, "Timeout", "too_slow"),
        Refusal::Unread(Unread::BrokenOff(_)) => (StatusCode::BAD_REQUEST, "BadRequest", "broken_off"),
        Refusal::Bad(bad) => (StatusCode::BAD_REQUEST, "BadRequest", cause(bad)),
        Refusal::Panicked => (StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "panic"),
    };
    let metrics = admission.metrics();
    metrics.refused(hook, cause);
    if matches!(refusal, Refusal::Panicked) {
        metrics.panicked();
    }
    let message = refusal.to_string();
    tracing::warn!(hook = hook.as_str(), cause, "cannot answer a call: {message}");
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    (code, Json(status)).into_response()
}

fn cause(bad: &BadReview) -> &'static str {
    match bad {
        BadReview::Empty => "empty",
        BadReview::Malformed(_) => "malformed",
        BadReview::WrongKind { .. } => "wrong_kind",
        BadReview::NoRequest => "no_request",
        BadReview::WrongHook { .. } => "wrong_hook",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_refusal() {
        let refusal = catch_panic::<()>(async { panic!("a bug") }).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Panicked));
    }
}
