//! Eno's slice cleanup controller (`resourceslice/slicecleanup.go`).

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use kube::runtime::controller::Action;

use super::controller::{View, slice_names};

/// Slices younger than this are left alone (`slicecleanup.go:100`).
const MIN_AGE: SignedDuration = SignedDuration::from_secs(5);

/// Deletes the slice if it is garbage in the eyes of Eno, or releases it if it is being deleted.
///
/// # Errors
/// A request failed, or the slice has no controller owner (where Eno panics, for ever).
pub async fn reconcile(view: Arc<View>, slice: Arc<DynamicObject>) -> Result<Action> {
    let owner = slice.owner_references().iter().find(|owner| owner.controller == Some(true));
    let owner = owner.context("the slice has no controller owner (Eno panics here)")?.name.as_str();
    if slice.metadata.deletion_timestamp.is_some() {
        return release(&view, &slice, owner).await;
    }

    let created = slice.creation_timestamp().context("the slice has no creation timestamp")?.0;
    let age = Timestamp::now().duration_since(created);
    if age < MIN_AGE {
        // The age and not what is missing of 5 s, as in Eno: the first real look comes at 5 to 10 s. None at age 0.
        return Ok(Duration::try_from(age).map_or_else(|_| Action::await_change(), Action::requeue));
    }

    let cached = view.cached_composition(owner);
    if !is_garbage(&slice, cached.as_deref()) {
        return Ok(Action::await_change());
    }
    let live = view.compositions.get_opt(owner).await?;
    if !is_garbage(&slice, live.as_ref()) {
        return Ok(Action::await_change());
    }
    let preconditions = Preconditions { uid: slice.uid(), resource_version: None };
    view.slices.delete(&slice.name_any(), &DeleteParams::default().preconditions(preconditions)).await?;
    Ok(Action::await_change())
}

/// `slicecleanup.go:132-164`. The guard compares with the uuid that the executor does *not* write (L1).
fn is_garbage(slice: &DynamicObject, composition: Option<&DynamicObject>) -> bool {
    let Some(composition) = composition else {
        return true;
    };
    let status = &composition.data["status"];
    let in_flight = &status["inFlightSynthesis"];
    let uuid = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    if in_flight.is_object() && uuid(&in_flight["uuid"]) == uuid(&slice.data["spec"]["synthesisUUID"]) {
        return false;
    }
    let refers = |synthesis: &str| slice_names(&status[synthesis]).any(|name| name == slice.name_any());
    !refers("currentSynthesis") && !refers("previousSynthesis")
}

/// `slicecleanup.go:173-206`. Whether the composition is being deleted is not asked, only whether the current synthesis
/// is reconciled, and the cache is believed (L2, L3).
async fn release(view: &View, slice: &DynamicObject, owner: &str) -> Result<Action> {
    if slice.finalizers().is_empty() {
        return Ok(Action::await_change());
    }
    if let Some(composition) = view.cached_composition(owner) {
        let current = &composition.data["status"]["currentSynthesis"];
        let needed = current["reconciled"].is_null() && slice_names(current).any(|name| name == slice.name_any());
        if needed {
            return Ok(Action::await_change());
        }
    }
    // The whole list, foreign finalizers too (L4).
    let patch = serde_json::from_value(serde_json::json!([{"op": "remove", "path": "/metadata/finalizers"}]))?;
    view.slices.patch(&slice.name_any(), &PatchParams::default(), &Patch::Json::<()>(patch)).await?;
    Ok(Action::await_change())
}
