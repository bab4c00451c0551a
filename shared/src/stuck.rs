//! Who holds a deletion up, as far as the objects show it.
//!
//! A slice or composition is *stuck* when it has a blocker and has waited longer than the asker's patience. A blocker alone
//! says only what is being waited for. The codes are a closed list, apart from verdicts; `S…` are the rows of the research
//! into Eno's bugs, which say why the state does not end by itself.

use std::fmt;

mod composition;
mod slice;

pub use composition::composition_blockers;
pub use slice::slice_blockers;

/// What a deletion waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocker {
    /// Compositions that depend on this one still exist.
    DependentsExist {
        /// `namespace/name` of each.
        dependents: Vec<String>,
    },
    /// Compositions depend on each other in a circle: each waits for the next (S4).
    CircularDependency {
        /// The circle, `namespace/name` of each.
        circle: Vec<String>,
    },
    /// Eno's controller has not seen the deletion: it is slow, or not running.
    DeletionNotObserved,
    /// A synthesis is in flight, and may still make slices.
    SynthesisInFlight {
        /// Its uuid.
        uuid: String,
    },
    /// Some slices of the current synthesis do not exist: Eno's reconciler waits for them for ever (S1).
    MissingSlice {
        /// Their names.
        slices: Vec<String>,
    },
    /// No reconciler has ever written a state into the slice (S8).
    NoReconcilerSeen,
    /// Resources cannot be reconciled.
    ReconcileError {
        /// The first error.
        error: String,
        /// How many resources have one.
        resources: usize,
    },
    /// Resources of the slice are not deleted yet.
    ResourcesLeft {
        /// Resources not known to be deleted.
        left: usize,
        /// Resources in all.
        of: usize,
    },
    /// The slice's own resources are deleted, and Eno has yet to call the composition reconciled: others of its slices are
    /// left, or the wake-up was lost (S2).
    NotReconciled {
        /// The composition.
        composition: String,
    },
    /// The slice's status does not match its resources; Eno's executor fails on it (S23).
    StatusMismatch {
        /// States in the status.
        states: usize,
        /// Resources in the spec.
        resources: usize,
    },
    /// The slice is being deleted though a live composition needs it; only a new synthesis frees it (L7).
    ResynthesisNeeded {
        /// The composition.
        composition: String,
    },
    /// As before, and the composition forbids automatic syntheses (S9).
    SideEffectsIgnored {
        /// The composition.
        composition: String,
    },
    /// The slice has no composition as controller owner: Eno's cleanup fails on it for ever (S3).
    NoOwner,
    /// Finalizers that are not Eno's.
    ForeignFinalizer {
        /// Their names.
        finalizers: Vec<String>,
    },
    /// The namespace is being deleted: what is missing there cannot be made again (S19).
    NamespaceTerminating,
    /// Nothing holds it any more, and yet it is there: nobody releases or collects it.
    NobodyActs,
}

impl Blocker {
    /// The code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Blocker::DependentsExist { .. } => "DependentsExist",
            Blocker::CircularDependency { .. } => "CircularDependency",
            Blocker::DeletionNotObserved => "DeletionNotObserved",
            Blocker::SynthesisInFlight { .. } => "SynthesisInFlight",
            Blocker::MissingSlice { .. } => "MissingSlice",
            Blocker::NoReconcilerSeen => "NoReconcilerSeen",
            Blocker::ReconcileError { .. } => "ReconcileError",
            Blocker::ResourcesLeft { .. } => "ResourcesLeft",
            Blocker::NotReconciled { .. } => "NotReconciled",
            Blocker::StatusMismatch { .. } => "StatusMismatch",
            Blocker::ResynthesisNeeded { .. } => "ResynthesisNeeded",
            Blocker::SideEffectsIgnored { .. } => "SideEffectsIgnored",
            Blocker::NoOwner => "NoOwner",
            Blocker::ForeignFinalizer { .. } => "ForeignFinalizer",
            Blocker::NamespaceTerminating => "NamespaceTerminating",
            Blocker::NobodyActs => "NobodyActs",
        }
    }
}

/// The sentence for people.
impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocker::DependentsExist { dependents } => {
                write!(f, "compositions that depend on it still exist: {}", dependents.join(", "))
            }
            Blocker::CircularDependency { circle } => {
                write!(f, "compositions depend on each other in a circle: {}", circle.join(" -> "))
            }
            Blocker::DeletionNotObserved => {
                f.write_str("eno-controller has not seen the deletion; it is slow, or not running")
            }
            Blocker::SynthesisInFlight { uuid } => {
                write!(f, "synthesis {uuid} is in flight and may still write slices")
            }
            Blocker::MissingSlice { slices } => {
                write!(f, "slices of its current synthesis do not exist, and Eno waits for them: {}", slices.join(", "))
            }
            Blocker::NoReconcilerSeen => {
                f.write_str("no state was ever written into the slice; no eno-reconciler seems to handle it")
            }
            Blocker::ReconcileError { error, resources } => {
                let what = if *resources == 1 { "resource" } else { "resources" };
                write!(f, "{resources} {what} cannot be reconciled; the first says: {error}")
            }
            Blocker::ResourcesLeft { left, of } => {
                write!(f, "{left} of {of} resources are not known to be deleted")
            }
            Blocker::NotReconciled { composition } => {
                write!(
                    f,
                    "its own resources are deleted; composition {composition} has others, or Eno has yet to notice"
                )
            }
            Blocker::StatusMismatch { states, resources } => {
                write!(f, "its status has {states} states for {resources} resources; Eno fails on that")
            }
            Blocker::ResynthesisNeeded { composition } => {
                write!(f, "live composition {composition} needs it; a new synthesis of that sets it free")
            }
            Blocker::SideEffectsIgnored { composition } => write!(
                f,
                "live composition {composition} needs it, and its annotation {} forbids the new synthesis that sets it free",
                crate::names::IGNORE_SIDE_EFFECTS
            ),
            Blocker::NoOwner => f.write_str(
                "it has no composition as controller owner; Eno's cleanup fails on that and never releases it",
            ),
            Blocker::ForeignFinalizer { finalizers } => {
                write!(f, "finalizers of others hold it: {}", finalizers.join(", "))
            }
            Blocker::NamespaceTerminating => {
                f.write_str("its namespace is being deleted, so that nothing that is missing can be made again")
            }
            Blocker::NobodyActs => {
                f.write_str("nothing needs it any more, and nobody lets it go; is eno-controller running?")
            }
        }
    }
}
