//! Requests on pods: part D. They are only heard; nothing of a pod's is guarded.

use eno_shared::admission::{Answer, Ground, Outcome};
use eno_shared::api::DecodeError;
use eno_shared::pods::pod::Pod;

use super::{Evidence, Judged, Subject};
use crate::review::{Request, Undecodable};

/// A pod is deleted. Each item of a deletecollection is asked about, without a name.
pub(super) fn delete(request: &Request<'_>) -> Result<Judged, Undecodable> {
    let pod: Pod = serde_json::from_str(request.old_text()?).map_err(DecodeError::Malformed)?;
    let subject = Subject { name: pod.metadata.name.clone(), uid: pod.identity().into_owned(), ..of_pod(request) };
    Ok(Judged::new(subject, heard(), Evidence::Review))
}

/// A pod is evicted. An eviction says of which name, and not of which uid.
pub(super) fn evict(request: &Request<'_>) -> Judged {
    Judged::new(of_pod(request), heard(), Evidence::Review)
}

fn of_pod(request: &Request<'_>) -> Subject {
    Subject { api_version: "v1".to_owned(), kind: "Pod", ..Subject::of_request(request) }
}

fn heard() -> Answer {
    Answer {
        outcome: Outcome::Allow,
        ground: Ground::NotGuarded,
        composition: None,
        message: "the pod is followed to its end".to_owned(),
        warnings: vec![],
    }
}
