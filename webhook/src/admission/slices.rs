//! Requests on slices: C1, C2, C3.

use eno_shared::Compositions;
use eno_shared::admission::slice::{self, Dropped};
use eno_shared::api::ResourceSlice;
use eno_shared::patch::add_cleanup_finalizer;
use jiff::Timestamp;

use super::Judged;
use crate::deadline::Deadline;
use crate::facts::Facts;
use crate::review::{Request, Undecodable};

/// C1.
pub(super) async fn delete(request: &Request<'_>, facts: &Facts, deadline: Deadline) -> Result<Judged, Undecodable> {
    let slice: ResourceSlice = request.decode_old()?;
    if slice.metadata.is_deleting() {
        return Ok(Judged::from_review(&slice, slice::delete(&slice, &not_read(), Timestamp::now())));
    }
    let compositions = facts.compositions_of(&slice, deadline).await;
    Ok(Judged::live(&slice, slice::delete(&slice, &compositions, Timestamp::now())))
}

/// C2.
pub(super) async fn update(
    request: &Request<'_>,
    facts: &Facts,
    deadline: Deadline,
    cleanup_runs: bool,
) -> Result<Judged, Undecodable> {
    let (old, new): (ResourceSlice, ResourceSlice) = (request.decode_old()?, request.decode_new()?);
    let dropped = Dropped::between(&old, &new);
    if !dropped.any() {
        return Ok(Judged::from_review(&old, slice::update(&old, dropped, &not_read(), cleanup_runs)));
    }
    let compositions = facts.compositions_of(&old, deadline).await;
    let answer = slice::update(&old, dropped, &compositions, cleanup_runs);
    Ok(Judged::live(&old, answer).or_overridden_by(&new.metadata))
}

/// C3. Nothing is read for it: whatever delays a new slice widens the window in which Eno takes it for garbage.
pub(super) fn create(request: &Request<'_>) -> Result<Judged, Undecodable> {
    let slice: ResourceSlice = request.decode_new()?;
    let patch = add_cleanup_finalizer(&slice.metadata);
    Ok(Judged { patch, ..Judged::from_review(&slice, slice::created(&slice)) })
}

/// For answers that no composition can change.
fn not_read() -> Compositions {
    Compositions::partial([], "not read")
}
