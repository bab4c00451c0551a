//! Guarded writes. The only place that can destroy anything: grep for its callers to audit what may be destroyed.
//!
//! Every write demands the uid and the resourceVersion that were judged. What has changed since is not touched.

use std::time::Duration;

use http::{HeaderValue, header};
use json_patch::Patch;
use kube::Client;
use kube::core::params::{DeleteParams, Patch as Body, PatchParams, Preconditions};
use kube::core::{Request, Status};
use serde::Deserialize;

use super::read::{ReadError, says_missing, within};
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
    /// The object is not the one that was judged: look again.
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
/// [`ReadError`] for all answers but success and those that say that the object is gone or has changed. Admission may refuse
/// with any code: what says no more than that is an error.
pub async fn delete<K: Kind>(
    client: &Client,
    judged: &Metadata,
    effect: Effect,
    limit: Duration,
) -> Result<Written, ReadError> {
    let request = Request::new(K::path(Some(&judged.namespace))).delete(&judged.name, &guarded(judged, effect));
    send(client, judged, request, limit).await
}

/// Deletes a pod as it was judged, at once: its node is not asked, and may still run it.
///
/// # Errors
/// [`ReadError`] for all answers but success and those that say that the object is gone or has changed. Admission may refuse
/// with any code: what says no more than that is an error.
pub async fn delete_pod_at_once(
    client: &Client,
    judged: &Metadata,
    effect: Effect,
    limit: Duration,
) -> Result<Written, ReadError> {
    let params = DeleteParams { grace_period_seconds: Some(0), ..guarded(judged, effect) };
    let request = Request::new(format!("/api/v1/namespaces/{}/pods", judged.namespace)).delete(&judged.name, &params);
    send(client, judged, request, limit).await
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
/// [`ReadError`] for all answers but success and those that say that the object is gone or has changed. Admission may refuse
/// with any code: what says no more than that is an error.
pub async fn patch<K: Kind>(
    client: &Client,
    judged: &Metadata,
    patch: Patch,
    effect: Effect,
    limit: Duration,
) -> Result<Written, ReadError> {
    let params = PatchParams { dry_run: effect == Effect::DryRun, ..PatchParams::default() };
    let request = Request::new(K::path(Some(&judged.namespace))).patch(&judged.name, &params, &Body::Json::<()>(patch));
    send(client, judged, request, limit).await
}

async fn send(
    client: &Client,
    judged: &Metadata,
    request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    limit: Duration,
) -> Result<Written, ReadError> {
    let mut request = request.map_err(kube::Error::BuildRequest)?;
    request.headers_mut().insert(header::ACCEPT, METADATA_ONLY);
    match within(limit, client.request_text(request)).await {
        Ok(answer) => after(&answer).map(Written::Done).map_err(ReadError::Malformed),
        Err(ReadError::Api(status)) if says_missing(&status, &judged.name) => Ok(Written::Gone),
        Err(ReadError::Api(status)) if says_changed(&status) => Ok(Written::Changed),
        Err(error) => Err(error),
    }
}

/// A precondition of a delete, or a `test` of a patch, did not hold. The API server gives no more of a reason for the latter
/// (`NewGenericServerResponse` in k8s.io/apimachinery); its words are all that tells it from a refusal by admission.
fn says_changed(status: &Status) -> bool {
    match status.code {
        409 => status.reason == "Conflict" && status.message.starts_with("Operation cannot be fulfilled on "),
        422 => status.message == "the server rejected our request due to an error in our request",
        _ => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_api_servers_own_conflicts_say_that_the_object_has_changed() {
        let of = |code: u16, reason: &str, message: &str| {
            let (reason, message) = (reason.to_owned(), message.to_owned());
            says_changed(&Status { code, reason, message, ..Status::default() })
        };
        let conflict = "Operation cannot be fulfilled on resourceslices.eno.azure.io \"a\": the UID in the precondition (1) \
                        does not match the UID in record (2). The object might have been deleted and then recreated";
        assert!(of(409, "Conflict", conflict));
        assert!(of(422, "Invalid", "the server rejected our request due to an error in our request"));
        for (code, reason, message) in [
            (409, "Conflict", "admission webhook \"w\" denied the request: not now"),
            (409, "AlreadyExists", "resourceslices.eno.azure.io \"a\" already exists"),
            (
                422,
                "Invalid",
                "resourceslices \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            ),
            (403, "Forbidden", conflict),
        ] {
            assert!(!of(code, reason, message), "{code} {message}");
        }
    }
}
