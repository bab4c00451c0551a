//! Guarded writes. The only place that can destroy anything: grep for its callers to audit what may be destroyed.
//!
//! Every write demands the uid and the resourceVersion that were judged. What has changed since is not touched.

use std::time::Duration;

use http::{HeaderValue, header};
use json_patch::Patch;
use kube::Client;
use kube::core::Request;
use kube::core::params::{DeleteParams, Patch as Body, PatchParams, Preconditions};
use serde::Deserialize;

use super::read::{ReadError, within};
use crate::api::{Kind, Metadata};

/// Asks for the metadata of the answer only: a slice may be a megabyte.
const METADATA_ONLY: HeaderValue =
    HeaderValue::from_static("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It was made; the metadata of the object after it, where the object still exists.
    Done(Option<Box<Metadata>>),
    /// The object did not exist any more: what a delete or a release wanted.
    Gone,
    /// The object is not the one that was judged (409, 422): look again.
    Changed,
}

/// Whether a write is to be made, or only checked by the API server and its webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Make it.
    Real,
    /// `dryRun=All`: check it.
    DryRun,
}

/// Deletes the object as it was judged.
///
/// # Errors
/// [`ReadError`] for all but success, 404, 409 and 422.
pub async fn delete<K: Kind>(
    client: &Client,
    judged: &Metadata,
    effect: Effect,
    limit: Duration,
) -> Result<Written, ReadError> {
    let request = Request::new(K::path(Some(&judged.namespace))).delete(&judged.name, &guarded(judged, effect));
    send(client, request, limit).await
}

/// Deletes a pod as it was judged, at once: its node is not asked, and may still run it.
///
/// # Errors
/// [`ReadError`] for all but success, 404, 409 and 422.
pub async fn delete_pod_at_once(
    client: &Client,
    judged: &Metadata,
    effect: Effect,
    limit: Duration,
) -> Result<Written, ReadError> {
    let params = DeleteParams { grace_period_seconds: Some(0), ..guarded(judged, effect) };
    let request = Request::new(format!("/api/v1/namespaces/{}/pods", judged.namespace)).delete(&judged.name, &params);
    send(client, request, limit).await
}

fn guarded(judged: &Metadata, effect: Effect) -> DeleteParams {
    DeleteParams {
        dry_run: effect == Effect::DryRun,
        preconditions: Some(Preconditions {
            uid: Some(judged.uid.clone()),
            resource_version: Some(judged.resource_version.clone()),
        }),
        ..DeleteParams::default()
    }
}

/// Patches the object. The patch carries its own `test` operations, as those of [`patch`](crate::patch) do.
///
/// # Errors
/// [`ReadError`] for all but success, 404, 409 and 422.
pub async fn patch<K: Kind>(
    client: &Client,
    judged: &Metadata,
    patch: Patch,
    effect: Effect,
    limit: Duration,
) -> Result<Written, ReadError> {
    let params = PatchParams { dry_run: effect == Effect::DryRun, ..PatchParams::default() };
    let request = Request::new(K::path(Some(&judged.namespace))).patch(&judged.name, &params, &Body::Json::<()>(patch));
    send(client, request, limit).await
}

async fn send(
    client: &Client,
    request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    limit: Duration,
) -> Result<Written, ReadError> {
    let mut request = request.map_err(kube::Error::BuildRequest)?;
    request.headers_mut().insert(header::ACCEPT, METADATA_ONLY);
    match within(limit, client.request_text(request)).await {
        Ok(answer) => after(&answer).map(Written::Done).map_err(ReadError::Malformed),
        Err(ReadError::Api(status)) => match status.code {
            404 => Ok(Written::Gone),
            409 | 422 => Ok(Written::Changed),
            _ => Err(ReadError::Api(status)),
        },
        Err(error) => Err(error),
    }
}

/// The metadata in the answer; none where a `Status` says that the object is gone.
fn after(answer: &str) -> serde_json::Result<Option<Box<Metadata>>> {
    #[derive(Deserialize)]
    struct Answer {
        kind: String,
        #[serde(default)]
        metadata: Option<Box<Metadata>>,
    }
    let answer: Answer = serde_json::from_str(answer)?;
    Ok(answer.metadata.filter(|_| answer.kind != "Status"))
}
