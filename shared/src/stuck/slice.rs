//! What holds a slice up.

use crate::api::{Content, ResourceSlice, ResourceState};
use crate::compositions::Compositions;
use crate::lookup::Lookup;
use crate::names::{CLEANUP_FINALIZER, IGNORE_SIDE_EFFECTS};
use crate::owner::composition_owner;
use crate::usage::Undone;
use crate::verdict::{Judgement, Reason, Verdict};

use super::Blocker;

/// What a slice waits for, given the judgement on it. Nothing, where it is kept for good reason.
///
/// `namespace_terminating` is `None` where the namespace was not read.
#[must_use]
pub fn slice_blockers(
    slice: &ResourceSlice,
    judgement: &Judgement,
    compositions: &Compositions,
    namespace_terminating: Option<bool>,
) -> Vec<Blocker> {
    let mut blockers = match judgement.verdict {
        Verdict::Keep | Verdict::Wait | Verdict::Unknown => return vec![],
        Verdict::Collect => return vec![Blocker::NobodyActs],
        Verdict::Hold => held(slice, &judgement.reason, compositions, namespace_terminating),
        Verdict::Release => released(slice, &judgement.reason),
    };
    let foreign = foreign_finalizers(&slice.metadata.finalizers);
    if !foreign.is_empty() {
        blockers.push(Blocker::ForeignFinalizer { finalizers: foreign });
    }
    blockers
}

fn held(
    slice: &ResourceSlice,
    reason: &Reason,
    compositions: &Compositions,
    namespace_terminating: Option<bool>,
) -> Vec<Blocker> {
    let Some(name) = reason.composition() else { return vec![] };
    let composition = match compositions.get(name) {
        Lookup::Found(composition) => composition,
        Lookup::Missing | Lookup::Unknown(_) => return vec![],
    };
    match reason {
        Reason::InFlight { .. } => composition
            .status
            .in_flight_synthesis
            .iter()
            .map(|synthesis| Blocker::SynthesisInFlight { uuid: synthesis.uuid.clone() })
            .collect(),
        Reason::NeededForDeletion { undone: Undone::DeletionNotObserved, .. } => vec![Blocker::DeletionNotObserved],
        Reason::NeededForDeletion { .. } => match resources_left(slice) {
            left if left.is_empty() && slice.content != Content::Unread => {
                vec![Blocker::NotReconciled { composition: name.to_owned() }]
            }
            left => left,
        },
        Reason::ReferencedByCurrent { .. } => {
            let composition_name = name.to_owned();
            let mut blockers = vec![match composition.metadata.annotation(IGNORE_SIDE_EFFECTS) {
                Some("true") => Blocker::SideEffectsIgnored { composition: composition_name },
                Some(_) | None => Blocker::ResynthesisNeeded { composition: composition_name },
            }];
            if namespace_terminating == Some(true) {
                blockers.push(Blocker::NamespaceTerminating);
            }
            blockers
        }
        Reason::ReferencedByPrevious { .. }
        | Reason::Unowned
        | Reason::OwnerUnknown { .. }
        | Reason::ReferencesUnknown { .. }
        | Reason::TooNew { .. }
        | Reason::OwnerGone { .. }
        | Reason::OwnerReplaced { .. }
        | Reason::CompositionFinished { .. }
        | Reason::CompositionReconciled { .. }
        | Reason::Unreferenced { .. }
        | Reason::NoFinalizer => vec![],
    }
}

fn released(slice: &ResourceSlice, reason: &Reason) -> Vec<Blocker> {
    if *reason == Reason::NoFinalizer {
        return vec![];
    }
    if composition_owner(&slice.metadata).is_none() {
        return vec![Blocker::NoOwner];
    }
    vec![Blocker::NobodyActs]
}

/// What keeps the resources of a slice from being deleted.
pub(super) fn resources_left(slice: &ResourceSlice) -> Vec<Blocker> {
    undone(slice, |state| state.deleted, |left, of| Blocker::ResourcesLeft { left, of })
}

/// What keeps the resources of a slice from being done; `left` says what is not.
pub(super) fn undone(
    slice: &ResourceSlice,
    done: impl Fn(&ResourceState) -> bool,
    left: impl Fn(usize, usize) -> Blocker,
) -> Vec<Blocker> {
    let Content::Read { resources, states, .. } = &slice.content else { return vec![] };
    if states.is_empty() && *resources > 0 {
        return vec![Blocker::NoReconcilerSeen];
    }
    if states.len() != *resources {
        return vec![Blocker::StatusMismatch { states: states.len(), resources: *resources }];
    }
    let mut blockers = vec![];
    let mut errors = states.iter().map(|state| &state.reconciliation_error).filter(|error| !error.is_empty());
    if let Some(first) = errors.next() {
        blockers.push(Blocker::ReconcileError { error: first.clone(), resources: 1 + errors.count() });
    }
    let done = states.iter().filter(|state| done(state)).count();
    if done < *resources {
        blockers.push(left(resources - done, *resources));
    }
    blockers
}

/// The finalizers that are not Eno's.
pub(super) fn foreign_finalizers(finalizers: &[String]) -> Vec<String> {
    finalizers.iter().filter(|finalizer| *finalizer != CLEANUP_FINALIZER).cloned().collect()
}
