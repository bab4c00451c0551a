//! What holds a composition up, and the deletion of one.

use crate::api::{BlockedBy, Composition, CompositionRef, ResourceSlice};
use crate::compositions::Compositions;
use crate::lookup::Lookup;
use crate::names::FORCE_DELETE_WHEN_SYMPHONY_GONE;
use crate::owner::{composition_owner, symphony_owner};
use crate::usage::{Undone, orphans_resources, reconciled_deletion};

use super::Blocker;
use super::live::live;
use super::slice::{foreign_finalizers, resources_left};

/// What a composition waits for. A live one that is reconciled waits for nothing.
///
/// `slices` are those of its current synthesis, as they were looked up; `namespace_terminating` is `None` where the
/// namespace was not read. The order is that in which Eno works: dependents, the deletion being seen, resources,
/// finalizers.
#[must_use]
pub fn composition_blockers(
    composition: &Composition,
    slices: &[(String, Lookup<&ResourceSlice>)],
    compositions: &Compositions,
    namespace_terminating: Option<bool>,
) -> Vec<Blocker> {
    if !composition.metadata.is_deleting() {
        return live(composition, slices, compositions);
    }
    let mut blockers = vec![];
    if composition.metadata.has_cleanup_finalizer() {
        blockers.extend(dependents(composition, compositions));
        blockers.extend(work_left(composition, slices));
        if namespace_terminating == Some(true)
            && blockers.iter().any(|blocker| matches!(blocker, Blocker::MissingSlice { .. }))
        {
            blockers.push(Blocker::NamespaceTerminating);
        }
        if blockers.is_empty() {
            blockers.push(Blocker::NobodyActs);
        } else if composition.metadata.annotation(FORCE_DELETE_WHEN_SYMPHONY_GONE) == Some("true")
            && symphony_owner(&composition.metadata).is_none()
        {
            blockers.push(Blocker::ForceDeleteIneffective);
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
    let named = |by: &BlockedBy| format!("{}/{}", by.namespace, by.name);
    let home = &composition.metadata;
    let (stale, present): (Vec<&BlockedBy>, Vec<&BlockedBy>) = status
        .blocked_by
        .iter()
        .partition(|by| by.namespace == home.namespace && is_stale(by, composition, compositions));
    if present.is_empty() && !stale.is_empty() {
        return vec![Blocker::StaleDependents { dependents: stale.into_iter().map(named).collect() }];
    }
    vec![Blocker::DependentsExist { dependents: present.into_iter().map(named).collect() }]
}

/// Has a dependent that Eno waits for ceased to depend on the composition, or to exist?
fn is_stale(by: &BlockedBy, composition: &Composition, compositions: &Compositions) -> bool {
    let home = &composition.metadata;
    match compositions.get(&by.name) {
        Lookup::Missing => true,
        Lookup::Unknown(_) => false,
        Lookup::Found(dependent) => !dependent
            .spec
            .depends_on
            .iter()
            .any(|on| on.name == home.name && (on.namespace.is_empty() || on.namespace == home.namespace)),
    }
}

/// The circle of `dependsOn` that leads from the composition back to it, within its namespace.
pub(super) fn circle(composition: &Composition, compositions: &Compositions) -> Option<Vec<String>> {
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
    let found = || slices.iter().filter_map(|(_, slice)| slice.found().copied());
    let unowned = found().filter(|slice| composition_owner(&slice.metadata).is_none());
    let unowned: Vec<String> = unowned.map(|slice| slice.metadata.name.clone()).collect();
    if undone.is_some() && !unowned.is_empty() {
        blockers.push(Blocker::SlicesUnowned { slices: unowned });
    }
    blockers.extend(found().flat_map(resources_left));
    merged(blockers)
}

/// One blocker of resources left, or of no state, for all slices together.
pub(super) fn merged(blockers: Vec<Blocker>) -> Vec<Blocker> {
    let mut merged: Vec<Blocker> = vec![];
    for blocker in blockers {
        let seen = merged.iter_mut().find(|seen| seen.code() == blocker.code());
        match (seen, blocker) {
            (Some(Blocker::ResourcesLeft { left, of }), Blocker::ResourcesLeft { left: more, of: out_of }) => {
                *left += more;
                *of += out_of;
            }
            (Some(Blocker::Unreconciled { left, of }), Blocker::Unreconciled { left: more, of: out_of }) => {
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
