//! Users: they make compositions and namespaces, want them synthesized anew, delete them, and leave slices lying about.

use std::sync::atomic::{AtomicUsize, Ordering};

use eno_shared::names::FORCE_RESYNTHESIS;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, PropagationPolicy};
use serde_json::json;

use super::{Actor, namespace_of};
use crate::chaos::ledger::Outcome;
use crate::chaos::stage::TARGETS;
use crate::eno::real;
use crate::fixtures::{composition, config_map, slice};

/// Compositions of a namespace, at most.
const COMPOSITIONS: usize = 8;
/// Namespaces, at most.
const TOWNS: usize = 4;
/// Resources of a composition.
pub(super) const EACH: usize = 3;

/// Makes compositions.
pub(super) async fn author(mut actor: Actor) {
    // The names of resources are those of compositions, and all are in one namespace.
    static MADE: AtomicUsize = AtomicUsize::new(0);
    while actor.goes_on() {
        if let Some(town) = actor.town() {
            let compositions = actor.stage.eno("Composition", &town);
            let list = actor.stage.call("a list", compositions.list_metadata(&ListParams::default())).await.1;
            if list.is_some_and(|list| list.items.len() < COMPOSITIONS) {
                let name = format!("c{}", MADE.fetch_add(1, Ordering::Relaxed));
                let object = match actor.stage.real_eno {
                    true => real::composition(&town, &name, "maker", TARGETS, EACH),
                    false => composition(&town, &name),
                };
                let object = serde_json::from_value(object).expect("a composition is an object");
                actor.stage.call("a new composition", compositions.create(&PostParams::default(), &object)).await;
            }
        }
        actor.pause(100, 1500).await;
    }
}

/// Deletes compositions, and asks for new syntheses.
pub(super) async fn user(mut actor: Actor) {
    while actor.goes_on() {
        if let Some(composition) = actor.any("Composition").await {
            let (name, compositions) =
                (composition.name_any(), actor.stage.eno("Composition", &namespace_of(&composition)));
            match actor.rng.u8(..10) {
                0..3 => {
                    let propagation_policy =
                        [None, Some(PropagationPolicy::Background), Some(PropagationPolicy::Foreground)]
                            [actor.rng.usize(..3)]
                        .clone();
                    let params = DeleteParams { propagation_policy, ..DeleteParams::default() };
                    actor.stage.call("the deletion of a composition", compositions.delete(&name, &params)).await;
                }
                3..7 => {
                    let uuid = &composition.data["status"]["currentSynthesis"]["uuid"];
                    let patch = Patch::Merge(json!({"metadata": {"annotations": {FORCE_RESYNTHESIS: uuid}}}));
                    let params = PatchParams::default();
                    let patched = compositions.patch_metadata(&name, &params, &patch);
                    actor.stage.call("the wish for a new synthesis", patched).await;
                }
                _ => {}
            }
        }
        actor.pause(200, 1500).await;
    }
}

/// Makes namespaces, and deletes them with all that is in them.
pub(super) async fn founder(mut actor: Actor) {
    while actor.goes_on() {
        // Fails while the API server is away.
        let _ = actor.stage.forget_what_is_gone().await;
        let towns = actor.stage.towns_of_actors();
        if towns.len() < 2 || towns.len() < TOWNS && actor.rng.bool() {
            if let Err(error) = actor.stage.found().await {
                eprintln!("founder: {error:#}");
            }
        } else if let Some(town) = actor.rng.choice(towns) {
            let namespaces = actor.stage.cluster.api("v1", "Namespace", None);
            actor.stage.call("the deletion of a namespace", namespaces.delete(&town, &DeleteParams::default())).await;
        }
        actor.pause(6_000, 20_000).await;
    }
}

/// Makes slices that no synthesis lists: garbage.
pub(super) async fn litterer(mut actor: Actor) {
    while actor.goes_on() {
        if let Some(owner) = actor.any("Composition").await {
            let name = format!("litter-{:08x}", actor.rng.u32(..));
            let object = slice(&owner, &name, "an-old-synthesis", &[config_map(TARGETS, &name, 0)]);
            let object = serde_json::from_value(object).expect("a slice is an object");
            let slices = actor.stage.eno("ResourceSlice", &namespace_of(&owner));
            let (made, _) = actor.stage.call("a new slice", slices.create(&PostParams::default(), &object)).await;
            if let Outcome::Denied(why) = made {
                actor.stage.ledger.violated(format!("a new slice was denied: {why}"));
            }
        }
        actor.pause(300, 3000).await;
    }
}
