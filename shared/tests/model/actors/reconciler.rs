//! eno-reconciler: fills its cache from the slices, makes and deletes resources, and writes down what it saw.

use super::super::state::{Cache, Mask, RESOURCES, Status, members};
use super::Steps;

pub fn act(steps: &mut Steps<'_>) {
    if steps.scenario.stale_composition {
        steps.will("reconciler: informer catches up", |state| state.catch_up());
    }
    if steps.scenario.reconciler_restarts && steps.from.reconciler.is_some() {
        steps.may("reconciler: restart", |state| state.reconciler = None);
    }
    if steps.from.terminating != 0 {
        steps.will("cluster: the terminating resource goes", |state| {
            state.present &= !state.terminating;
            state.terminating = 0;
        });
    }
    let Some(seen) = steps.from.seen.filter(|seen| seen.uuid != 0) else { return };
    match steps.from.reconciler.filter(|cache| cache.uuid == seen.uuid) {
        Some(cache) => work(steps, &cache),
        // All or nothing: it waits for slices that do not exist.
        None if members(seen.slices).all(|index| steps.from.slices[index].is_some()) => {
            steps.will("reconciler: fill its cache", |state| {
                let mut cache = Cache { uuid: seen.uuid, deletes: seen.deleting, content: Default::default() };
                for index in members(seen.slices) {
                    cache.content[index] = state.slices[index].map(|slice| (slice.live, slice.tombstones));
                }
                state.reconciler = Some(cache);
            });
        }
        None => {}
    }
}

fn work(steps: &mut Steps<'_>, cache: &Cache) {
    for (index, content) in cache.content.iter().enumerate() {
        let Some((live, tombstones)) = *content else { continue };
        for resource in RESOURCES {
            if (live | tombstones) & resource == 0 {
                continue;
            }
            let present = steps.from.present & resource != 0;
            let terminating = steps.from.terminating & resource != 0;
            if cache.deletes || tombstones & resource != 0 {
                if present && !terminating {
                    steps.will("reconciler: delete a resource", |state| state.present &= !resource);
                } else {
                    write_status(steps, index, resource, true);
                }
            } else if present {
                // A terminating resource counts as deleted, whoever deletes it.
                write_status(steps, index, resource, terminating);
            } else {
                steps.will("reconciler: create a resource", |state| state.present |= resource);
            }
        }
    }
}

fn write_status(steps: &mut Steps<'_>, index: usize, resource: Mask, deleted: bool) {
    let label =
        if deleted { "reconciler: write deleted into slice" } else { "reconciler: write reconciled into slice" };
    steps.will((label, index), |state| {
        let Some(slice) = &mut state.slices[index] else { return };
        let old = slice.status.unwrap_or(Status { reconciled: 0, deleted: 0 });
        let kept = old.deleted & !resource;
        slice.status = Some(Status {
            reconciled: old.reconciled | resource,
            deleted: if deleted { kept | resource } else { kept },
        });
    });
}
