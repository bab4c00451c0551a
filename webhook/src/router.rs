//! From an HTTP request to a review and back. A path for each hook.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use http_body_util::BodyExt;
use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::admission::Admission;
use crate::deadline::Deadline;
use crate::health::Health;
use crate::hooks::Hook;
use crate::review::{self, BadReview};

/// The largest body: two objects of the 3 MiB that the API server takes, and what surrounds them.
pub const LARGEST_BODY: usize = 7 * 1024 * 1024;

/// What the bodies of all calls may hold together until they are answered: nine of the largest, some ninety of 700 kB. Whoever
/// reaches the port may send some: without a bound they would use up the memory, of which the manifest grants four times as
/// much for this and all else.
const ROOM: usize = 64 * 1024 * 1024;

/// Why a call gets no review for an answer.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("content type {0:?} is not application/json")]
    NotJson(String),
    #[error("the body is larger than {LARGEST_BODY} bytes")]
    TooLarge,
    #[error("too many large bodies at once; try again")]
    NoRoom,
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("the body broke off: {0}")]
    BrokenOff(axum::Error),
    #[error(transparent)]
    Bad(#[from] BadReview),
    #[error("the webhook failed on this call; its logs say why")]
    Panicked,
}

/// The hooks.
pub fn router(admission: Arc<Admission>, health: Health) -> Router {
    let mut router = Router::new();
    let room = Arc::new(Semaphore::new(ROOM));
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
    let (body, _room) = read(request.into_body(), deadline, room).await?;
    let request = review::parse(hook, &body)?;
    Ok(Json(admission.review(hook, &request, deadline).await).into_response())
}

fn is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers.get(header::CONTENT_TYPE).map_or("", |value| value.to_str().unwrap_or_default());
    let media_type = value.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(Refusal::NotJson(value.to_owned())) }
}

/// Reads a body into one buffer. It takes room for what has arrived, and not for what is announced: who wants to take all
/// room must send as much.
async fn read(mut body: Body, deadline: Deadline, room: &Semaphore) -> Result<(Bytes, SemaphorePermit<'_>), Refusal> {
    use axum::body::HttpBody;
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > LARGEST_BODY {
        return Err(Refusal::TooLarge);
    }
    let take = |bytes: usize| room.try_acquire_many(bytes.try_into().unwrap_or(u32::MAX)).map_err(|_| Refusal::NoRoom);
    let mut read = BytesMut::with_capacity(announced);
    let mut taken = take(0)?;
    loop {
        let frame = tokio::time::timeout_at(deadline.at(), body.frame()).await.map_err(|_| Refusal::TooSlow)?;
        let Some(frame) = frame else { return Ok((read.freeze(), taken)) };
        // A frame that is not data is a trailer.
        let Ok(data) = frame.map_err(Refusal::BrokenOff)?.into_data() else { continue };
        if read.len() + data.len() > LARGEST_BODY {
            return Err(Refusal::TooLarge);
        }
        taken.merge(take(data.len())?);
        read.extend_from_slice(&data);
    }
}

/// A panic ends one call, and not the connection: the API server would see no more than EOF.
async fn catch_panic<T>(call: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or(Err(Refusal::Panicked))
}

fn refuse(hook: Hook, admission: &Admission, refusal: &Refusal) -> Response {
    let (code, reason, cause) = match refusal {
        Refusal::NotJson(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", "content_type"),
        Refusal::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", "too_large"),
        Refusal::NoRoom => (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", "no_room"),
        Refusal::TooSlow => (StatusCode::REQUEST_TIMEOUT, "Timeout", "too_slow"),
        Refusal::BrokenOff(_) => (StatusCode::BAD_REQUEST, "BadRequest", "broken_off"),
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

    #[tokio::test]
    async fn bodies_share_a_bounded_room_until_they_are_answered() {
        let room = Semaphore::new(8);
        let read = |bytes: usize| read(Body::from(vec![b' '; bytes]), Deadline::of_query(None), &room);
        let (body, held) = read(5).await.unwrap();
        assert_eq!(body.len(), 5);
        assert!(matches!(read(5).await, Err(Refusal::NoRoom)));
        assert!(read(3).await.is_ok(), "a refused body holds nothing");
        drop(held);
        assert!(read(8).await.is_ok());
    }
}
