//! The one function that says of a slice: keep, collect, wait, hold or release. All callers ask it.
//!
//! The rows are those of the specification: A1 to A11 for a slice that is not being deleted, B1 to B12 for one that is.
//! The first row that matches wins, so the code reads top to bottom as the tables do.
//!
//! # Guarantees
//! - What cannot be told frees nothing: an unknown owner, or an unknown composition that may refer to the slice, never ends
//!   in [`Verdict::Collect`] or [`Verdict::Release`] (but for a slice that Eno's finalizer is not on: there is nothing to
//!   release).
//! - A slice that a synthesis in flight may still make current is neither collected nor released.
//! - A slice from which a deleting composition must learn what to delete is not released.
//! - Every Hold ends: when Eno has deleted the resources, when a newer synthesis replaces the slice, or when its
//!   composition is gone.
//!
//! # Assumptions
//! - [`Compositions`] says missing only of what a live read did not find.
//! - The clocks of Eno's controller and of the API server are less than [`CLOCK_MARGIN`](crate::usage::CLOCK_MARGIN) apart.
//!
//! # Caveats
//! - A composition may begin to refer to a slice between the verdict and the write that follows from it. The write's
//!   preconditions cover the slice, not the composition.
//! - Eno can write `deleted: true` of a resource that it re-creates afterwards. Nothing in the objects shows that.

use jiff::{SignedDuration, Timestamp};

use crate::api::{Composition, OwnerReference, ResourceSlice};
use crate::compositions::Compositions;
use crate::lookup::Lookup;
use crate::owner::composition_owner;
use crate::usage::{InFlight, Undone, current_lists, done_with, in_flight, is_finished, lists};
use crate::verdict::{Judgement, Reason, Verdict};

/// Slices younger than this are not judged garbage.
pub const MIN_AGE: SignedDuration = SignedDuration::from_secs(5);

/// Says what may happen to a slice, given the compositions of its namespace and the time.
#[must_use]
pub fn judge(slice: &ResourceSlice, compositions: &Compositions, now: Timestamp) -> Judgement {
    if slice.metadata.is_deleting() { deleting(slice, compositions) } else { live(slice, compositions, now) }
}

/// Part A: is a slice without deletionTimestamp garbage?
fn live(slice: &ResourceSlice, compositions: &Compositions, now: Timestamp) -> Judgement {
    let name = slice.metadata.name.as_str();
    let owner = Owner::of(slice, compositions);
    if let Owner::Found(composition) = owner // A1
        && is_finished(composition)
        && compositions.incomplete().is_none()
        && compositions.current_referrers(name).all(|other| other.metadata.uid == composition.metadata.uid)
    {
        return collect(Reason::CompositionFinished { composition: name_of(composition) });
    }
    if let Some(composition) = compositions.current_referrers(name).next() {
        return keep(Reason::ReferencedByCurrent { composition: name_of(composition) }); // A2
    }
    if let Some(composition) = compositions.previous_referrers(name).next() {
        return keep(Reason::ReferencedByPrevious { composition: name_of(composition) }); // A3
    }
    let garbage = match owner {
        Owner::None => return keep(Reason::Unowned),                         // A4
        Owner::Unknown(why) => return unknown(Reason::OwnerUnknown { why }), // A5
        Owner::Found(composition) => {
            let in_flight = in_flight(composition, slice);
            if in_flight.may_belong() {
                let wants_content = in_flight == InFlight::Unread;
                let reason = Reason::InFlight { composition: name_of(composition) };
                return Judgement { wants_content, ..keep(reason) }; // A6
            }
            Reason::Unreferenced { composition: name_of(composition) } // A11
        }
        Owner::Gone(owner) => Reason::OwnerGone { composition: owner.name.clone() }, // A9
        Owner::Replaced(owner) => Reason::OwnerReplaced { composition: owner.name.clone() }, // A10
    };
    if let Some(why) = compositions.incomplete() {
        return unknown(Reason::ReferencesUnknown { why: why.to_owned() }); // A7
    }
    // What has no creation time counts as created now.
    let created = slice.metadata.creation_timestamp.unwrap_or(now);
    let until = created.saturating_add(MIN_AGE).unwrap_or(Timestamp::MAX);
    if now < until {
        return judgement(Verdict::Wait, Reason::TooNew { until }); // A8
    }
    collect(garbage)
}

/// Part B: may Eno's finalizer come off a slice with deletionTimestamp?
fn deleting(slice: &ResourceSlice, compositions: &Compositions) -> Judgement {
    if !slice.metadata.has_cleanup_finalizer() {
        return release(Reason::NoFinalizer); // B1
    }
    releasable(slice, compositions)
}

/// Rows B2 to B12: asked as if the slice were being deleted with Eno's finalizer on, whatever it is now.
#[must_use]
pub fn releasable(slice: &ResourceSlice, compositions: &Compositions) -> Judgement {
    let owner = match Owner::of(slice, compositions) {
        Owner::Unknown(why) => return unknown(Reason::OwnerUnknown { why }), // B2
        known @ (Owner::None | Owner::Found(_) | Owner::Gone(_) | Owner::Replaced(_)) => known,
    };
    if let Some(held) = held(slice, &owner, compositions) {
        return held; // B3, B4, B5
    }
    if let Some(why) = compositions.incomplete() {
        return unknown(Reason::ReferencesUnknown { why: why.to_owned() }); // B6
    }
    release(match owner {
        Owner::None => Reason::Unowned, // B7
        Owner::Unknown(why) => return unknown(Reason::OwnerUnknown { why }),
        Owner::Gone(owner) => Reason::OwnerGone { composition: owner.name.clone() }, // B8
        Owner::Replaced(owner) => Reason::OwnerReplaced { composition: owner.name.clone() }, // B9
        Owner::Found(owner) => {
            let composition = name_of(owner);
            if is_finished(owner) {
                Reason::CompositionFinished { composition } // B10
            } else if owner.metadata.is_deleting() && current_lists(owner, &slice.metadata.name) {
                Reason::CompositionReconciled { composition } // B11
            } else {
                Reason::Unreferenced { composition } // B12
            }
        }
    })
}

/// Rows B3 to B5: the first reason of any composition to hold the slice.
fn held(slice: &ResourceSlice, owner: &Owner<'_, '_>, compositions: &Compositions) -> Option<Judgement> {
    if let Owner::Found(composition) = *owner
        && !is_finished(composition)
    {
        let in_flight = in_flight(composition, slice);
        if in_flight.may_belong() {
            let wants_content = in_flight == InFlight::Unread;
            let reason = Reason::InFlight { composition: name_of(composition) };
            return Some(Judgement { wants_content, ..judgement(Verdict::Hold, reason) }); // B3
        }
    }
    let referrers =
        || compositions.current_referrers(&slice.metadata.name).filter(|composition| !is_finished(composition));
    let needed = referrers().filter(|composition| composition.metadata.is_deleting()).find_map(|composition| {
        let undone = done_with(composition, slice).err()?;
        let reason = Reason::NeededForDeletion { composition: name_of(composition), undone };
        Some(Judgement { wants_content: undone == Undone::StatusUnread, ..judgement(Verdict::Hold, reason) }) // B4
    });
    needed.or_else(|| {
        let composition = referrers().find(|composition| !composition.metadata.is_deleting())?;
        Some(judgement(Verdict::Hold, Reason::ReferencedByCurrent { composition: name_of(composition) })) // B5
    })
}

/// The compositions because of which [`judge`] keeps a live slice.
pub fn keepers<'a>(slice: &ResourceSlice, compositions: &'a Compositions) -> Vec<&'a Composition> {
    let name = slice.metadata.name.as_str();
    let mut keepers: Vec<_> =
        compositions.current_referrers(name).chain(compositions.previous_referrers(name)).collect();
    if let Owner::Found(owner) = Owner::of(slice, compositions)
        && in_flight(owner, slice).may_belong()
    {
        keepers.push(owner);
    }
    keepers
}

/// May a person say of this slice that it is garbage? [`judge`] keeps what has no composition as its owner (A4); a person
/// may know better, where nothing refers to it: no composition of the namespace lists it, not even in flight, all of them
/// are known, and it is old enough.
#[must_use]
pub fn unowned_and_unreferred(slice: &ResourceSlice, compositions: &Compositions, now: Timestamp) -> bool {
    let name = slice.metadata.name.as_str();
    let in_flight = |composition: &Composition| {
        composition.status.in_flight_synthesis.as_ref().is_some_and(|synthesis| lists(synthesis, name))
    };
    let old_enough = slice.metadata.creation_timestamp.is_some_and(|created| now.duration_since(created) >= MIN_AGE);
    let kept = judge(slice, compositions, now);
    kept.verdict == Verdict::Keep
        && kept.reason == Reason::Unowned
        && compositions.incomplete().is_none()
        && !compositions.found().any(in_flight)
        && old_enough
}

/// What became of a slice's owner.
enum Owner<'s, 'c> {
    /// There is no composition as controller owner.
    None,
    /// It exists, with the uid that the slice names.
    Found(&'c Composition),
    /// It does not exist.
    Gone(&'s OwnerReference),
    /// Another one has its name.
    Replaced(&'s OwnerReference),
    /// It could not be read.
    Unknown(String),
}

impl<'s, 'c> Owner<'s, 'c> {
    fn of(slice: &'s ResourceSlice, compositions: &'c Compositions) -> Self {
        let Some(owner) = composition_owner(&slice.metadata) else { return Owner::None };
        match compositions.get(&owner.name) {
            Lookup::Found(composition) if composition.metadata.uid == owner.uid => Owner::Found(composition),
            Lookup::Found(_) => Owner::Replaced(owner),
            Lookup::Missing => Owner::Gone(owner),
            Lookup::Unknown(why) => Owner::Unknown(why),
        }
    }
}

fn name_of(composition: &Composition) -> String {
    composition.metadata.name.clone()
}

fn judgement(verdict: Verdict, reason: Reason) -> Judgement {
    Judgement { verdict, reason, wants_content: false }
}

fn keep(reason: Reason) -> Judgement {
    judgement(Verdict::Keep, reason)
}

fn collect(reason: Reason) -> Judgement {
    judgement(Verdict::Collect, reason)
}

fn release(reason: Reason) -> Judgement {
    judgement(Verdict::Release, reason)
}

fn unknown(reason: Reason) -> Judgement {
    judgement(Verdict::Unknown, reason)
}
