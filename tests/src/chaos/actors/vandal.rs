//! Who deletes and strips at random. Most of it must be denied; what is let pass is judged by the witness.

use eno_shared::names::CLEANUP_FINALIZER;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::json;

use super::{Actor, namespace_of};

/// Acts until the end.
pub(super) async fn vandal(mut actor: Actor) {
    while actor.goes_on() {
        match actor.rng.u8(..20) {
            0..8 => delete_slice(&mut actor).await,
            8..14 => change_slice(&mut actor).await,
            14..18 => strip_composition(&mut actor).await,
            18 => delete_slices(&mut actor).await,
            _ => {}
        }
        actor.pause(50, 600).await;
    }
}

async fn delete_slice(actor: &mut Actor) {
    let Some(slice) = actor.any("ResourceSlice").await else { return };
    let slices = actor.stage.eno("ResourceSlice", &namespace_of(&slice));
    let (name, params) = (slice.name_any(), DeleteParams::default());
    let deleted = slices.delete(&name, &params);
    actor.stage.call("the deletion of a slice", deleted).await;
}

/// `kubectl delete resourceslices --all`.
async fn delete_slices(actor: &mut Actor) {
    let Some(town) = actor.town() else { return };
    let slices = actor.stage.eno("ResourceSlice", &town);
    let (params, all) = (DeleteParams::default(), ListParams::default());
    let deleted = slices.delete_collection(&params, &all);
    actor.stage.call("the deletion of all slices", deleted).await;
}

/// Takes off finalizers, or the owner.
async fn change_slice(actor: &mut Actor) {
    let Some(slice) = actor.any("ResourceSlice").await else { return };
    let slices = actor.stage.eno("ResourceSlice", &namespace_of(&slice));
    let patch = match actor.rng.bool() {
        true => json!({"metadata": {"finalizers": null}}),
        false => json!({"metadata": {"ownerReferences": null}}),
    };
    let (name, params, patch) = (slice.name_any(), PatchParams::default(), Patch::Merge(patch));
    let patched = slices.patch_metadata(&name, &params, &patch);
    actor.stage.call("a strip of a slice", patched).await;
}

async fn strip_composition(actor: &mut Actor) {
    let Some(composition) = actor.any("Composition").await else { return };
    let compositions = actor.stage.eno("Composition", &namespace_of(&composition));
    let kept: Vec<_> = composition.finalizers().iter().filter(|one| *one != CLEANUP_FINALIZER).collect();
    let patch = Patch::Merge(json!({"metadata": {"finalizers": kept}}));
    let (name, params) = (composition.name_any(), PatchParams::default());
    let patched = compositions.patch_metadata(&name, &params, &patch);
    actor.stage.call("a strip of a composition", patched).await;
}
