//! Eno's slice controller: the states of the slices, summed up in the composition (`resourceslice/slice.go`).

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use eno_shared::names::{
    DELETION_STRATEGY, DELETION_STRATEGY_ORPHAN, FORCE_RESYNTHESIS, IGNORE_SIDE_EFFECTS, SYMPHONY_DELETING,
};
use jiff::{SignedDuration, Timestamp};
use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::runtime::controller::Action;
use serde_json::{Value, json};

use super::composition::write;
use super::controller::{View, slice_names};

/// Sets or clears `reconciled` and `ready` of the current synthesis.
///
/// # Errors
/// A request failed.
pub async fn reconcile(view: Arc<View>, composition: Arc<DynamicObject>) -> Result<Action> {
    let current = &composition.data["status"]["currentSynthesis"];
    if !current.is_object() {
        return Ok(Action::await_change());
    }
    let deleting = composition.metadata.deletion_timestamp.is_some();
    let (mut reconciled, mut ready) = (true, true);
    for name in slice_names(current) {
        let Some(slice) = view.cached_slice(name) else {
            if deleting {
                continue; // "missing" counts as done: the root of L2
            }
            return resynthesize(&view, &composition, current).await;
        };
        if is_true(composition.labels().get(SYMPHONY_DELETING)) {
            continue;
        }
        let states = slice.data["status"]["resources"].as_array().map_or(&[][..], Vec::as_slice);
        let resources = slice.data["spec"]["resources"].as_array().map_or(0, Vec::len);
        if states.is_empty() && resources > 0 {
            (reconciled, ready) = (false, false);
            break;
        }
        reconciled &= states.iter().all(|state| is_done(state, &composition));
        ready &= states.iter().all(|state| !state["ready"].is_null());
    }

    if current["reconciled"].is_null() != reconciled && current["ready"].is_null() != ready {
        return Ok(Action::await_change());
    }
    let now = Timestamp::now().strftime("%FT%TZ").to_string();
    let since = |set: bool, field: &str| match (set, &current[field]) {
        (false, _) => Value::Null,
        (true, Value::Null) => json!(now),
        (true, kept) => kept.clone(),
    };
    let synthesis = json!({"reconciled": since(reconciled, "reconciled"), "ready": since(ready, "ready")});
    write(&view, &composition, "status", json!({"status": {"currentSynthesis": synthesis}})).await?;
    Ok(Action::await_change())
}

/// `slice.go:197-200`.
fn is_done(state: &Value, composition: &DynamicObject) -> bool {
    let set = |field: &str| state[field].as_bool() == Some(true);
    let strategy = composition.annotations().get(DELETION_STRATEGY).map(String::as_str);
    let must_be_deleted =
        composition.metadata.deletion_timestamp.is_some() && strategy != Some(DELETION_STRATEGY_ORPHAN);
    set("reconciled") && (set("deleted") || !must_be_deleted)
}

/// `slice.go:117-158`: asks for a new synthesis where a slice of a live composition is missing.
async fn resynthesize(view: &View, composition: &DynamicObject, current: &Value) -> Result<Action> {
    let annotations = composition.annotations();
    let asked = annotations.get(FORCE_RESYNTHESIS).map(String::as_str) == current["uuid"].as_str();
    let in_flight = composition.data["status"]["inFlightSynthesis"].is_object();
    if asked || in_flight || is_true(annotations.get(IGNORE_SIDE_EFFECTS)) {
        return Ok(Action::await_change());
    }
    // New slices may not have reached the cache yet. The age and not what is missing of 5 s, as in Eno.
    if let Some(synthesized) = current["synthesized"].as_str() {
        let age = Timestamp::now().duration_since(synthesized.parse()?);
        if age < SignedDuration::from_secs(5) {
            return Ok(Duration::try_from(age).map_or_else(|_| Action::await_change(), Action::requeue));
        }
    }
    let annotation = json!({"metadata": {"annotations": {FORCE_RESYNTHESIS: current["uuid"]}}});
    write(view, composition, "", annotation).await?;
    Ok(Action::await_change())
}

pub(super) fn is_true(value: Option<&String>) -> bool {
    value.is_some_and(|value| value == "true")
}
