//! What Eno's slice cleanup does, told from the facts of a situation: the oracle that our rules are held against.

use crate::facts::{Current, Facts, InFlight, Owner, Slice};

/// What a controller does with a slice when it looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Nothing,
    /// It looks again in so many seconds.
    LookAgain(i64),
    /// It cannot read what it needs, and tries again.
    TryAgain,
    /// It follows an owner reference that is not there, and fails.
    Panic,
    Delete,
    /// It takes its own finalizer off.
    RemoveOwnFinalizer,
    /// It takes all finalizers off, whoever's they are, and there are others.
    RemoveAllFinalizers,
}

/// One pass of the cleanup controller, with a cache that is up to date.
pub fn cleans_up(facts: &Facts) -> Action {
    if facts.slice.is_deleting() {
        return removes_finalizer(facts);
    }
    let age = facts.slice.age_in_seconds();
    if age < 5 {
        return Action::LookAgain(age);
    }
    deletes(facts)
}

/// `shouldDelete`: gone by name, or in neither synthesis and not stamped with the uuid in flight.
fn deletes(facts: &Facts) -> Action {
    match facts.owner {
        Owner::None => Action::Panic,
        Owner::Unknown => Action::TryAgain,
        Owner::Missing => Action::Delete,
        Owner::Found | Owner::Replaced => {
            let is_active = facts.in_flight == InFlight::AfterSameUuid;
            let is_listed = facts.current == Current::Lists || facts.previous;
            if is_active || is_listed { Action::Nothing } else { Action::Delete }
        }
    }
}

/// `removeFinalizer`: unless an unreconciled current synthesis lists the slice.
fn removes_finalizer(facts: &Facts) -> Action {
    match facts.owner {
        Owner::None => return Action::Panic,
        Owner::Unknown => return Action::TryAgain,
        Owner::Found | Owner::Replaced if facts.current == Current::Lists && !facts.reconciled => {
            return Action::Nothing;
        }
        Owner::Missing | Owner::Found | Owner::Replaced => {}
    }
    match facts.slice {
        Slice::DeletingWithForeign | Slice::DeletingForeignOnly => Action::RemoveAllFinalizers,
        Slice::Live | Slice::Seconds4 | Slice::Seconds5 | Slice::Bare | Slice::Deleting => Action::RemoveOwnFinalizer,
    }
}
