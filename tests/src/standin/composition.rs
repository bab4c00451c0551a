//! Eno's composition controller, as far as deletion goes (`composition/controller.go`).

use std::sync::Arc;

use anyhow::Result;
use eno_shared::names::CLEANUP_FINALIZER;
use jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::runtime::controller::Action;
use serde_json::{Value, json};

use super::controller::View;
use super::synthesis::random_uuid;

/// Adds the finalizer; on deletion bumps, waits for `reconciled`, and removes the finalizer.
///
/// # Errors
/// A request failed.
pub async fn reconcile(view: Arc<View>, composition: Arc<DynamicObject>) -> Result<Action> {
    let mut finalizers = composition.finalizers().to_vec();
    let held = finalizers.iter().any(|finalizer| finalizer == CLEANUP_FINALIZER);
    if composition.metadata.deletion_timestamp.is_none() {
        if !held {
            finalizers.push(CLEANUP_FINALIZER.to_owned());
            write(&view, &composition, "", json!({"metadata": {"finalizers": finalizers}})).await?;
        }
        return Ok(Action::await_change());
    }

    let current = &composition.data["status"]["currentSynthesis"];
    if current.is_object() {
        // A deletion raises the generation. The new uuid makes the reconciler read the slices again, in delete mode.
        if current["observedCompositionGeneration"].as_i64() != composition.metadata.generation {
            let bumped = json!({
                "uuid": random_uuid(), "observedCompositionGeneration": composition.metadata.generation,
                "synthesized": Timestamp::now().strftime("%FT%TZ").to_string(), "reconciled": null, "ready": null,
            });
            write(&view, &composition, "status", json!({"status": {"currentSynthesis": bumped}})).await?;
            return Ok(Action::await_change());
        }
        if current["reconciled"].is_null() {
            return Ok(Action::await_change());
        }
    }
    if held {
        finalizers.retain(|finalizer| finalizer != CLEANUP_FINALIZER);
        write(&view, &composition, "", json!({"metadata": {"finalizers": finalizers}})).await?;
    }
    Ok(Action::await_change())
}

/// A merge patch that fails with a conflict where the composition has changed since it was seen, as an update does.
pub(super) async fn write(view: &View, seen: &DynamicObject, subresource: &str, mut patch: Value) -> Result<()> {
    patch["metadata"]["resourceVersion"] = json!(seen.resource_version());
    let (name, params, patch) = (seen.name_any(), PatchParams::default(), Patch::Merge(patch));
    match subresource {
        "" => view.compositions.patch(&name, &params, &patch).await?,
        subresource => view.compositions.patch_subresource(subresource, &name, &params, &patch).await?,
    };
    Ok(())
}
