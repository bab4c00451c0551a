//! Where a composition is in its life: derived from its fields, in the order in which Eno works.

use crate::api::{Composition, Synthesis};
use crate::usage::{Undone, is_finished, orphans_resources, reconciled_deletion};

/// Where a composition is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompositionState {
    /// Nothing was synthesized, and nothing is: it is new, or something blocks it.
    Pending,
    /// Its first synthesis is in flight.
    Synthesizing,
    /// Its synthesis was given up, and is tried again.
    Retrying,
    /// Its resources are being made.
    Reconciling,
    /// Its resources are made, and not all ready.
    NotReady,
    /// Its resources are ready.
    Ready,
    /// It has a current synthesis, and another in flight.
    Resynthesizing,
    /// It is to be deleted, and Eno has not seen that.
    DeletionRequested,
    /// It is to be deleted after what depends on it.
    WaitingOnDependents,
    /// Its resources are being deleted.
    Deleting,
    /// It is being deleted, and its resources are left behind on purpose.
    Orphaning,
    /// Its resources are deleted; Eno's finalizer is still on it.
    Deleted,
    /// Eno has finished with it.
    Finished,
}

impl CompositionState {
    /// All states.
    pub const ALL: [CompositionState; 13] = [
        CompositionState::Pending,
        CompositionState::Synthesizing,
        CompositionState::Retrying,
        CompositionState::Reconciling,
        CompositionState::NotReady,
        CompositionState::Ready,
        CompositionState::Resynthesizing,
        CompositionState::DeletionRequested,
        CompositionState::WaitingOnDependents,
        CompositionState::Deleting,
        CompositionState::Orphaning,
        CompositionState::Deleted,
        CompositionState::Finished,
    ];

    /// Of a composition.
    #[must_use]
    pub fn of(composition: &Composition) -> Self {
        if composition.metadata.is_deleting() { deleting(composition) } else { live(composition) }
    }

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            CompositionState::Pending => "Pending",
            CompositionState::Synthesizing => "Synthesizing",
            CompositionState::Retrying => "Retrying",
            CompositionState::Reconciling => "Reconciling",
            CompositionState::NotReady => "NotReady",
            CompositionState::Ready => "Ready",
            CompositionState::Resynthesizing => "Resynthesizing",
            CompositionState::DeletionRequested => "DeletionRequested",
            CompositionState::WaitingOnDependents => "WaitingOnDependents",
            CompositionState::Deleting => "Deleting",
            CompositionState::Orphaning => "Orphaning",
            CompositionState::Deleted => "Deleted",
            CompositionState::Finished => "Finished",
        }
    }

    /// The sentence for people.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            CompositionState::Pending => "nothing was synthesized yet",
            CompositionState::Synthesizing => "its first synthesis is in flight",
            CompositionState::Retrying => "its synthesis was given up, and is tried again",
            CompositionState::Reconciling => "its resources are being made",
            CompositionState::NotReady => "its resources are made, and not all ready",
            CompositionState::Ready => "its resources are made and ready; its current and previous slices are needed",
            CompositionState::Resynthesizing => "a new synthesis is in flight",
            CompositionState::DeletionRequested => "it is to be deleted, which eno-controller has not seen",
            CompositionState::WaitingOnDependents => "it is to be deleted after what depends on it",
            CompositionState::Deleting => "its resources are being deleted",
            CompositionState::Orphaning => "it is being deleted, and its resources are left behind on purpose",
            CompositionState::Deleted => "its resources are deleted; eno-controller's finalizer is still on it",
            CompositionState::Finished => "Eno has finished deleting it",
        }
    }
}

fn live(composition: &Composition) -> CompositionState {
    let status = &composition.status;
    match (&status.in_flight_synthesis, &status.current_synthesis) {
        (Some(Synthesis { canceled: Some(_), .. }), _) => CompositionState::Retrying,
        (Some(_), None) => CompositionState::Synthesizing,
        (Some(_), Some(_)) => CompositionState::Resynthesizing,
        (None, None) => CompositionState::Pending,
        (None, Some(Synthesis { reconciled: None, .. })) => CompositionState::Reconciling,
        (None, Some(Synthesis { ready: None, .. })) => CompositionState::NotReady,
        (None, Some(_)) => CompositionState::Ready,
    }
}

fn deleting(composition: &Composition) -> CompositionState {
    if is_finished(composition) {
        return CompositionState::Finished;
    }
    let blocked = composition.status.dependency_status.as_ref().filter(|status| status.blocked);
    if blocked.is_some_and(|status| status.reason == "WaitingOnDependents") {
        return CompositionState::WaitingOnDependents;
    }
    if composition.status.current_synthesis.is_none() {
        return CompositionState::Deleting;
    }
    match reconciled_deletion(composition) {
        Ok(()) => CompositionState::Deleted,
        Err(Undone::DeletionNotObserved) => CompositionState::DeletionRequested,
        Err(_) if orphans_resources(composition) => CompositionState::Orphaning,
        Err(Undone::NotReconciled | Undone::ResourcesLeft { .. } | Undone::StatusUnread) => CompositionState::Deleting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::DependencyStatus;
    use crate::fixtures::{ago, composition, delete, synthesis};

    fn with(change: impl FnOnce(&mut Composition)) -> CompositionState {
        let mut composition = composition("web");
        change(&mut composition);
        CompositionState::of(&composition)
    }

    fn going(change: impl FnOnce(&mut Composition)) -> CompositionState {
        with(|web| {
            delete(&mut web.metadata);
            let observed_composition_generation = web.metadata.generation;
            web.status.current_synthesis =
                Some(Synthesis { reconciled: None, observed_composition_generation, ..synthesis("s", &["a"]) });
            change(web);
        })
    }

    #[test]
    fn each_state_is_told_from_its_fields() {
        let current = |web: &mut Composition| web.status.current_synthesis.insert(synthesis("s", &["a"])).clone();
        let in_flight = |web: &mut Composition| web.status.in_flight_synthesis = Some(synthesis("t", &[]));
        let found = [
            with(|_| {}),
            with(in_flight),
            with(|web| {
                current(web);
                web.status.in_flight_synthesis = Some(Synthesis { canceled: Some(ago(1)), ..synthesis("t", &[]) });
            }),
            with(|web| {
                web.status.current_synthesis = Some(Synthesis { reconciled: None, ..synthesis("s", &["a"]) });
            }),
            with(|web| drop(current(web))),
            with(|web| {
                web.status.current_synthesis = Some(Synthesis { ready: Some(ago(1)), ..synthesis("s", &["a"]) });
            }),
            with(|web| {
                current(web);
                in_flight(web);
            }),
            going(|web| web.metadata.generation += 1),
            going(|web| {
                let reason = "WaitingOnDependents".into();
                web.status.dependency_status = Some(DependencyStatus { blocked: true, reason, blocked_by: vec![] });
            }),
            going(|_| {}),
            going(|web| {
                web.metadata.labels.insert(crate::names::SYMPHONY_DELETING.into(), "true".into());
            }),
            going(|web| {
                let current = web.status.current_synthesis.as_mut().unwrap();
                current.reconciled = Some(ago(1));
            }),
            going(|web| web.metadata.finalizers.clear()),
        ];
        assert_eq!(found, CompositionState::ALL);
    }
}
