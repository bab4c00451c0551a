//! How a composition uses a slice: may it be of the synthesis in flight, and is the composition done with it?

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use crate::api::{Composition, Content, ResourceSlice, Synthesis};
use crate::names::{DELETION_STRATEGY, DELETION_STRATEGY_ORPHAN, SYMPHONY_DELETING};

/// How far the clocks of Eno's controller and of the API server may be apart. The first sets `initialized`, the second
/// `creationTimestamp`; the margin only delays garbage.
pub const CLOCK_MARGIN: SignedDuration = SignedDuration::from_secs(30);

/// May a slice belong to the synthesis in flight?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlight {
    /// It may.
    MayBelong,
    /// It may, for all that was read: only `spec.synthesisUUID`, which was not, can rule it out or in.
    Unread,
    /// It does not.
    No,
}

impl InFlight {
    /// Anything but a clear no counts as yes.
    #[must_use]
    pub fn may_belong(self) -> bool {
        match self {
            InFlight::MayBelong | InFlight::Unread => true,
            InFlight::No => false,
        }
    }
}

/// May the slice belong to the composition's synthesis in flight?
///
/// Eno stamps a new slice with the uuid of the *current* synthesis, so equality of uuids alone protects nothing that is
/// being written (L1); what does is the time of its creation. A canceled synthesis still counts: the next attempt brings a
/// new `initialized`, and then older slices are free.
#[must_use]
pub fn in_flight(composition: &Composition, slice: &ResourceSlice) -> InFlight {
    let Some(synthesis) = &composition.status.in_flight_synthesis else { return InFlight::No };
    if lists(synthesis, &slice.metadata.name) || !created_before(slice.metadata.creation_timestamp, synthesis) {
        return InFlight::MayBelong;
    }
    match &slice.content {
        Content::Read { synthesis_uuid, .. } if *synthesis_uuid == synthesis.uuid => InFlight::MayBelong,
        Content::Read { .. } => InFlight::No,
        Content::Unread => InFlight::Unread,
    }
}

/// Surely before the synthesis began? What has no time might be of any.
fn created_before(created: Option<Timestamp>, synthesis: &Synthesis) -> bool {
    match (created, synthesis.initialized) {
        (Some(created), Some(initialized)) => {
            created < initialized.saturating_sub(CLOCK_MARGIN).unwrap_or(Timestamp::MIN)
        }
        (None, _) | (_, None) => false,
    }
}

/// Does the synthesis list the slice?
#[must_use]
pub fn lists(synthesis: &Synthesis, slice: &str) -> bool {
    synthesis.resource_slices.iter().any(|reference| *reference.name == *slice)
}

/// Does the composition's current synthesis list the slice?
#[must_use]
pub fn current_lists(composition: &Composition, slice: &str) -> bool {
    composition.status.current_synthesis.as_ref().is_some_and(|synthesis| lists(synthesis, slice))
}

/// Has Eno finished with a composition: it is deleting, and its own cleanup finalizer is gone?
#[must_use]
pub fn is_finished(composition: &Composition) -> bool {
    composition.metadata.is_deleting() && !composition.metadata.has_cleanup_finalizer()
}

/// Are the composition's resources left behind on purpose when it is deleted?
#[must_use]
pub fn orphans_resources(composition: &Composition) -> bool {
    let metadata = &composition.metadata;
    metadata.annotation(DELETION_STRATEGY) == Some(DELETION_STRATEGY_ORPHAN)
        || metadata.label(SYMPHONY_DELETING) == Some("true")
}

/// Would a deletion take the composition away at once, without Eno? Eno has not put its finalizer on it, and what it has made of
/// it by then is orphaned.
#[must_use]
pub fn goes_without_eno(composition: &Composition) -> bool {
    let metadata = &composition.metadata;
    !metadata.is_deleting() && !metadata.has_cleanup_finalizer() && !orphans_resources(composition)
}

/// Why a deleting composition still needs a slice of its current synthesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undone {
    /// `reconciled` is not set.
    NotReconciled,
    /// `reconciled` dates from before the deletion: Eno has yet to see it (L2).
    DeletionNotObserved,
    /// Eno calls it reconciled, from a cache that may lack this slice; the slice's own status says otherwise.
    ResourcesLeft {
        /// Resources not known to be deleted.
        left: usize,
        /// Resources in the slice.
        of: usize,
    },
    /// The slice's status was not read.
    StatusUnread,
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undone::NotReconciled => f.write_str("its resources are not all deleted"),
            Undone::DeletionNotObserved => f.write_str("Eno has not seen the deletion yet"),
            Undone::ResourcesLeft { left: 0, .. } => f.write_str("this slice's status does not match its resources"),
            Undone::ResourcesLeft { left, of } => {
                write!(f, "{left} of the {of} resources in this slice are not known to be deleted")
            }
            Undone::StatusUnread => f.write_str("the slice's status was not read"),
        }
    }
}

/// Is a deleting composition done with its current synthesis, as far as its own status tells?
///
/// # Errors
/// [`Undone::NotReconciled`] or [`Undone::DeletionNotObserved`].
pub fn reconciled_deletion(composition: &Composition) -> Result<(), Undone> {
    let current = composition.status.current_synthesis.as_ref();
    // A deletion bumps the generation; until Eno has seen that, `reconciled` is of what was before.
    match current {
        Some(current) if current.observed_composition_generation < composition.metadata.generation => {
            Err(Undone::DeletionNotObserved)
        }
        Some(current) if current.reconciled.is_some() => Ok(()),
        Some(_) | None => Err(Undone::NotReconciled),
    }
}

/// Is a deleting composition done with a slice of its current synthesis: may the slice go without a loss?
///
/// # Errors
/// What is undone.
pub fn done_with(composition: &Composition, slice: &ResourceSlice) -> Result<(), Undone> {
    reconciled_deletion(composition)?;
    if orphans_resources(composition) {
        return Ok(());
    }
    match &slice.content {
        Content::Unread => Err(Undone::StatusUnread),
        Content::Read { resources, states, .. } => {
            let deleted = states.iter().filter(|state| state.deleted).count();
            if states.len() == *resources && deleted == *resources {
                Ok(())
            } else {
                Err(Undone::ResourcesLeft { left: resources.saturating_sub(deleted), of: *resources })
            }
        }
    }
}
