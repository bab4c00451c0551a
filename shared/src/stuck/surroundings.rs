//! What holds up what surrounds compositions: symphonies, namespaces, and the pods of synthesizers.

use jiff::Timestamp;

use crate::api::{Composition, Metadata, Symphony};

use super::Blocker;
use super::slice::foreign_finalizers;

/// What a symphony waits for. `compositions` are those that it owns: Eno goes by its name.
#[must_use]
pub fn symphony_blockers(symphony: &Symphony, compositions: &[&Composition]) -> Vec<Blocker> {
    let names = |compositions: &mut dyn Iterator<Item = &&Composition>| -> Vec<String> {
        compositions.map(|composition| composition.metadata.name.clone()).collect()
    };
    if !symphony.metadata.is_deleting() {
        let unreconciled = |composition: &&&Composition| {
            composition.status.current_synthesis.as_ref().is_none_or(|current| current.reconciled.is_none())
        };
        let compositions = names(&mut compositions.iter().filter(unreconciled));
        let waits = symphony.status.reconciled.is_none() && !compositions.is_empty();
        return if waits { vec![Blocker::CompositionsUnreconciled { compositions }] } else { vec![] };
    }
    let mut blockers = vec![];
    if symphony.metadata.has_cleanup_finalizer() {
        blockers.push(match compositions {
            [] => Blocker::NobodyActs,
            _ => Blocker::CompositionsLeft { compositions: names(&mut compositions.iter()) },
        });
    }
    let foreign = foreign_finalizers(&symphony.metadata.finalizers);
    if !foreign.is_empty() {
        // Where ours is gone, Eno tries to put it back for ever, in vain (S15).
        blockers.push(Blocker::ForeignFinalizer { finalizers: foreign });
    }
    blockers
}

/// How many of Eno's objects a namespace holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EnoObjects {
    /// Symphonies.
    pub symphonies: usize,
    /// Compositions.
    pub compositions: usize,
    /// Slices.
    pub slices: usize,
}

/// What the deletion of a namespace waits for, as far as Eno's objects hold it.
#[must_use]
pub fn namespace_blockers(terminating: bool, objects: EnoObjects) -> Vec<Blocker> {
    let EnoObjects { symphonies, compositions, slices } = objects;
    if !terminating || objects == EnoObjects::default() {
        return vec![];
    }
    vec![Blocker::ObjectsLeft { symphonies, compositions, slices }]
}

/// What the deletion of a pod waits for.
#[must_use]
pub fn pod_blockers(pod: &Metadata, now: Timestamp) -> Vec<Blocker> {
    // The API server sets the time at which the pod must have ended.
    let Some(end) = pod.deletion_timestamp else { return vec![] };
    let mut blockers = vec![];
    if end < now {
        blockers.push(Blocker::PodOverdue);
    }
    if !pod.finalizers.is_empty() {
        blockers.push(Blocker::ForeignFinalizer { finalizers: pod.finalizers.clone() });
    }
    blockers
}
