//! The words: what may happen to a slice, and why. JSON, tables, logs, labels, events and denials show them as here.

use std::fmt;

use jiff::Timestamp;

use crate::usage::Undone;

/// What may happen to a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Not deleting: it is needed, or nothing says that it is not.
    Keep,
    /// Not deleting: nothing needs it; delete it.
    Collect,
    /// Not deleting: too young to tell; look again.
    Wait,
    /// Deleting: Eno's finalizer must stay.
    Hold,
    /// Deleting: Eno's finalizer may come off.
    Release,
    /// Something could not be read. Nothing is done.
    Unknown,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 6] =
        [Verdict::Keep, Verdict::Collect, Verdict::Wait, Verdict::Hold, Verdict::Release, Verdict::Unknown];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Keep => "Keep",
            Verdict::Collect => "Collect",
            Verdict::Wait => "Wait",
            Verdict::Hold => "Hold",
            Verdict::Release => "Release",
            Verdict::Unknown => "Unknown",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why. The variants are the reasons of parts A and B; each says what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The current synthesis of a composition lists the slice.
    ReferencedByCurrent {
        /// The composition.
        composition: String,
    },
    /// The previous synthesis of a composition lists the slice.
    ReferencedByPrevious {
        /// The composition.
        composition: String,
    },
    /// The owner is being synthesized, and the slice may be part of the result.
    InFlight {
        /// The owner.
        composition: String,
    },
    /// A deleting composition needs the slice to know what to delete.
    NeededForDeletion {
        /// The composition.
        composition: String,
        /// What is not done.
        undone: Undone,
    },
    /// The slice has no composition as its controller owner.
    Unowned,
    /// The owner could not be read.
    OwnerUnknown {
        /// What could not be read, and why.
        why: String,
    },
    /// Other compositions, which might refer to the slice, could not be read.
    ReferencesUnknown {
        /// What could not be read, and why.
        why: String,
    },
    /// The slice is younger than five seconds.
    TooNew {
        /// When it can be judged.
        until: Timestamp,
    },
    /// The owner does not exist any more.
    OwnerGone {
        /// Its name.
        composition: String,
    },
    /// The owner was replaced by another of its name.
    OwnerReplaced {
        /// The name.
        composition: String,
    },
    /// Eno has finished deleting the owner.
    CompositionFinished {
        /// The owner.
        composition: String,
    },
    /// The owner is being deleted, and is done with this slice.
    CompositionReconciled {
        /// The owner.
        composition: String,
    },
    /// No synthesis of the owner needs it.
    Unreferenced {
        /// The owner.
        composition: String,
    },
    /// Eno's finalizer is not on the slice.
    NoFinalizer,
}

impl Reason {
    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Reason::ReferencedByCurrent { .. } => "ReferencedByCurrent",
            Reason::ReferencedByPrevious { .. } => "ReferencedByPrevious",
            Reason::InFlight { .. } => "InFlight",
            Reason::NeededForDeletion { .. } => "NeededForDeletion",
            Reason::Unowned => "Unowned",
            Reason::OwnerUnknown { .. } => "OwnerUnknown",
            Reason::ReferencesUnknown { .. } => "ReferencesUnknown",
            Reason::TooNew { .. } => "TooNew",
            Reason::OwnerGone { .. } => "OwnerGone",
            Reason::OwnerReplaced { .. } => "OwnerReplaced",
            Reason::CompositionFinished { .. } => "CompositionFinished",
            Reason::CompositionReconciled { .. } => "CompositionReconciled",
            Reason::Unreferenced { .. } => "Unreferenced",
            Reason::NoFinalizer => "NoFinalizer",
        }
    }

    /// The composition it rests on.
    #[must_use]
    pub fn composition(&self) -> Option<&str> {
        match self {
            Reason::ReferencedByCurrent { composition }
            | Reason::ReferencedByPrevious { composition }
            | Reason::InFlight { composition }
            | Reason::NeededForDeletion { composition, .. }
            | Reason::OwnerGone { composition }
            | Reason::OwnerReplaced { composition }
            | Reason::CompositionFinished { composition }
            | Reason::CompositionReconciled { composition }
            | Reason::Unreferenced { composition } => Some(composition),
            Reason::Unowned
            | Reason::OwnerUnknown { .. }
            | Reason::ReferencesUnknown { .. }
            | Reason::TooNew { .. }
            | Reason::NoFinalizer => None,
        }
    }
}

/// The sentence for people. It goes on from "because".
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::ReferencedByCurrent { composition } => {
                write!(f, "the current synthesis of composition {composition} lists it")
            }
            Reason::ReferencedByPrevious { composition } => {
                write!(f, "the previous synthesis of composition {composition} lists it")
            }
            Reason::InFlight { composition } => {
                write!(f, "composition {composition} is being synthesized, and it may be part of the result")
            }
            Reason::NeededForDeletion { composition, undone } => {
                write!(f, "composition {composition} is being deleted and still needs it: {undone}")
            }
            Reason::Unowned => f.write_str("it has no composition as controller owner"),
            Reason::OwnerUnknown { why } => write!(f, "its composition could not be read: {why}"),
            Reason::ReferencesUnknown { why } => {
                write!(f, "compositions that may refer to it could not be read: {why}")
            }
            Reason::TooNew { until } => write!(f, "it is too new to judge before {until:.0}"),
            Reason::OwnerGone { composition } => write!(f, "its composition {composition} does not exist any more"),
            Reason::OwnerReplaced { composition } => {
                write!(f, "its composition was replaced by another one named {composition}")
            }
            Reason::CompositionFinished { composition } => {
                write!(f, "Eno has finished deleting its composition {composition}")
            }
            Reason::CompositionReconciled { composition } => {
                write!(f, "its composition {composition} is being deleted and is done with it")
            }
            Reason::Unreferenced { composition } => {
                write!(f, "its composition {composition} exists, and no synthesis needs it")
            }
            Reason::NoFinalizer => f.write_str("Eno's finalizer is not on it"),
        }
    }
}

/// A verdict with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What may happen.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// The slice was read without spec and status, and they could change the verdict: read it whole and judge again.
    pub wants_content: bool,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.verdict, self.reason)
    }
}
