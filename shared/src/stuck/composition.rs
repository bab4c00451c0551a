//! What holds a composition up.

use crate::api::{Composition, CompositionRef, ResourceSlice};
use crate::compositions::Compositions;
use crate::lookup::Lookup;
use crate::usage::{Undone, orphans_resources, reconciled_deletion};

use super::Blocker;
use super::slice::{foreign_finalizers, resources_left};

/// What a deleting composition waits for; nothing, where it is live.
///
/// `slices` are those of its current synthesis, as they were looked up. The order is that in which Eno works: dependents,
/// the deletion being seen, resources, finalizers.
#[must_use]
pub fn composition_blockers(
    composition: &Composition,
    slices: &[(String, Lookup<&ResourceSlice>)],
    compositions: &Compositions,
) -> Vec<Blocker> {
    if !composition.metadata.is_deleting() {
        return vec![];
    }
    let mut blockers = vec![];
    if composition.metadata.has_cleanup_finalizer() {
        blockers.extend(dependents(composition, compositions));
        blockers.extend(work_left(composition, slices));
        if blockers.is_empty() {
            blockers.push(Blocker::NobodyActs);
        }
    }
    let foreign = foreign_finalizers(&composition.metadata.finalizers);
    if !foreign.is_empty() {
        blockers.push(Blocker::ForeignFinalizer { finalizers: foreign });
    }
    blockers
}

fn dependents(composition: &Composition, compositions: &Compositions) -> Vec<Blocker> {
    if let Some(circle) = circle(composition, compositions) {
        return vec![Blocker::CircularDependency { circle }];
    }
    let reported = composition
        .status
        .dependency_status
        .as_ref()
        .filter(|status| status.blocked && status.reason == "WaitingOnDependents");
    let Some(status) = reported else { return vec![] };
    let dependents = status.blocked_by.iter().map(|by| format!("{}/{}", by.namespace, by.name)).collect();
    vec![Blocker::DependentsExist { dependents }]
}

/// The circle of `dependsOn` that leads from the composition back to it, within its namespace.
fn circle(composition: &Composition, compositions: &Compositions) -> Option<Vec<String>> {
    let home = &composition.metadata;
    let mut open = vec![vec![composition]];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(path) = open.pop() {
        let at = *path.last()?;
        for CompositionRef { name, namespace } in &at.spec.depends_on {
            if !namespace.is_empty() && *namespace != home.namespace {
                continue;
            }
            if *name == home.name {
                let names = path.iter().map(|step| &step.metadata.name).chain([name]);
                return Some(names.map(|name| format!("{}/{name}", home.namespace)).collect());
            }
            if let Lookup::Found(next) = compositions.get(name)
                && seen.insert(name.as_str())
            {
                open.push(path.iter().copied().chain([next]).collect());
            }
        }
    }
    None
}

fn work_left(composition: &Composition, slices: &[(String, Lookup<&ResourceSlice>)]) -> Vec<Blocker> {
    let mut blockers = vec![];
    if let Some(synthesis) = &composition.status.in_flight_synthesis {
        blockers.push(Blocker::SynthesisInFlight { uuid: synthesis.uuid.clone() });
    }
    if composition.status.current_synthesis.is_none() {
        return blockers;
    }
    let undone = reconciled_deletion(composition).err();
    if undone == Some(Undone::DeletionNotObserved) {
        blockers.push(Blocker::DeletionNotObserved);
        return blockers;
    }
    if orphans_resources(composition) {
        return blockers;
    }
    let missing: Vec<String> =
        slices.iter().filter(|(_, slice)| *slice == Lookup::Missing).map(|(name, _)| name.clone()).collect();
    // With all slices missing Eno calls the composition done.
    if undone.is_some() && !missing.is_empty() && missing.len() < slices.len() {
        blockers.push(Blocker::MissingSlice { slices: missing });
    }
    for (_, slice) in slices {
        if let Lookup::Found(slice) = slice {
            blockers.extend(resources_left(slice));
        }
    }
    merged(blockers)
}

/// One blocker of resources left, or of no state, for all slices together.
fn merged(blockers: Vec<Blocker>) -> Vec<Blocker> {
    let mut merged: Vec<Blocker> = vec![];
    for blocker in blockers {
        let seen = merged.iter_mut().find(|seen| seen.code() == blocker.code());
        match (seen, blocker) {
            (Some(Blocker::ResourcesLeft { left, of }), Blocker::ResourcesLeft { left: more, of: out_of }) => {
                *left += more;
                *of += out_of;
            }
            (Some(Blocker::ReconcileError { resources, .. }), Blocker::ReconcileError { resources: more, .. }) => {
                *resources += more;
            }
            (Some(_), Blocker::NoReconcilerSeen) => {}
            (_, blocker) => merged.push(blocker),
        }
    }
    merged
}
