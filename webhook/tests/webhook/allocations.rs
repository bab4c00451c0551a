//! What a call takes of memory beside its body, which arrives in pieces and is not kept.

use allocation_counter::{AllocationInfo, measure};
use axum::body::Body;
use bytes::Bytes;
use eno_webhook::hooks::Hook::{SlicesDelete, SlicesUpdate};
use futures::stream;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use std::convert::Infallible;
use tower::ServiceExt;

use crate::api_server::ApiServer;
use crate::call::{Webhook, deletion, review};
use crate::objects::{deleting, slice};

/// As much as arrives at once.
const PIECE: usize = 16 * 1024;

/// A slice with manifests of so many bytes each.
fn with_manifests(bytes: usize) -> Value {
    let mut slice = slice("s1", "web");
    let manifest = json!({"data": "\"quoted\"".repeat(bytes / 8)}).to_string();
    slice["spec"]["resources"] = json!([{"manifest": manifest}, {"manifest": manifest}]);
    slice
}

/// What the answer to a review takes, for which nothing is read.
fn taken(path: &str, review: &Value) -> AllocationInfo {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    // The client of the API server starts tasks.
    let _within = runtime.enter();
    let webhook = Webhook::new(&ApiServer::new());
    let body = Bytes::from(review.to_string());
    let request = || {
        let pieces: Vec<_> = (0..body.len()).step_by(PIECE).collect();
        let pieces: Vec<_> =
            pieces.iter().map(|at| Ok::<_, Infallible>(body.slice(*at..body.len().min(at + PIECE)))).collect();
        let body = Body::from_stream(stream::iter(pieces));
        Request::post(path).header("content-type", "application/json").body(body).unwrap()
    };
    let call = |request: Request<Body>| runtime.block_on(webhook.router.clone().oneshot(request)).unwrap().status();
    // The first makes what all need.
    assert_eq!(call(request()), StatusCode::OK);
    let request = request();
    measure(|| assert_eq!(call(request), StatusCode::OK))
}

#[test]
fn a_call_takes_as_much_for_a_slice_of_a_megabyte_as_for_a_small_one() {
    let deletion_of = |bytes| taken("/slices-delete", &deletion(SlicesDelete, &deleting(with_manifests(bytes))));
    let update_of = |bytes| {
        let slice = with_manifests(bytes);
        taken("/slices-update", &review(SlicesUpdate, &slice, &slice))
    };
    for (small, large) in [(deletion_of(8), deletion_of(700_000)), (update_of(8), update_of(700_000))] {
        assert_eq!(large.count_total, small.count_total);
        assert_eq!(large.bytes_total, small.bytes_total);
        assert!(large.bytes_max < 64 * 1024, "{large:?}");
    }
}
