//! What holds up a composition that is not being deleted: why it has no synthesis, or none that is reconciled.

use crate::api::{Composition, ResourceSlice};
use crate::compositions::Compositions;
use crate::lookup::Lookup;
use crate::names::IGNORE_SIDE_EFFECTS;

use super::Blocker;
use super::composition::{circle, merged};
use super::slice::undone;

/// The most characters that the value of a label has.
pub(super) const LABEL_LENGTH: usize = 63;

/// In the order in which Eno works: dependencies, the synthesizer and its inputs, the synthesis, its slices.
pub(super) fn live(
    composition: &Composition,
    slices: &[(String, Lookup<&ResourceSlice>)],
    compositions: &Compositions,
) -> Vec<Blocker> {
    let mut blockers = vec![];
    blockers.extend(dependencies(composition, compositions));
    blockers.extend(synthesizer(composition));
    blockers.extend(in_flight(composition));
    blockers.extend(current(composition, slices));
    blockers
}

fn dependencies(composition: &Composition, compositions: &Compositions) -> Option<Blocker> {
    let status = composition.status.dependency_status.as_ref().filter(|status| status.blocked)?;
    if let Some(circle) = circle(composition, compositions) {
        return Some(Blocker::CircularDependency { circle });
    }
    let dependencies = status.blocked_by.iter().map(|by| format!("{}/{}", by.namespace, by.name)).collect();
    Some(Blocker::DependenciesNotReady { dependencies })
}

fn synthesizer(composition: &Composition) -> Option<Blocker> {
    let synthesizer = &composition.spec.synthesizer;
    if synthesizer.has_selector && synthesizer.name.is_empty() {
        return Some(Blocker::SelectorIgnored);
    }
    match composition.status.simplified.status.as_str() {
        "MissingSynthesizer" => Some(Blocker::SynthesizerMissing { synthesizer: synthesizer.name.clone() }),
        "MissingInputs" => Some(Blocker::InputsMissing),
        _ => None,
    }
}

fn in_flight(composition: &Composition) -> Option<Blocker> {
    let synthesis = composition.status.in_flight_synthesis.as_ref()?;
    let names = [&composition.metadata.name, &composition.spec.synthesizer.name];
    if let Some(name) = names.into_iter().find(|name| name.len() > LABEL_LENGTH) {
        return Some(Blocker::NameTooLong { name: name.clone() });
    }
    Some(match synthesis.canceled {
        Some(_) => Blocker::SynthesisFailing { error: composition.status.simplified.error.clone() },
        None => Blocker::SynthesisInFlight { uuid: synthesis.uuid.clone() },
    })
}

fn current(composition: &Composition, slices: &[(String, Lookup<&ResourceSlice>)]) -> Vec<Blocker> {
    let Some(current) = &composition.status.current_synthesis else { return vec![] };
    let mut blockers = vec![];
    let missing = slices.iter().filter(|(_, slice)| *slice == Lookup::Missing).map(|(name, _)| name.clone());
    let missing: Vec<String> = missing.collect();
    // Eno replaces them by a new synthesis, unless that is forbidden (S9).
    if !missing.is_empty() && composition.metadata.annotation(IGNORE_SIDE_EFFECTS) == Some("true") {
        blockers.push(Blocker::MissingSlice { slices: missing });
        blockers.push(Blocker::SideEffectsIgnored { composition: composition.metadata.name.clone() });
    }
    if current.reconciled.is_none() {
        let found = slices.iter().filter_map(|(_, slice)| slice.found().copied());
        let left = |left, of| Blocker::Unreconciled { left, of };
        blockers.extend(merged(found.flat_map(|slice| undone(slice, |state| state.reconciled, left)).collect()));
    }
    blockers
}
