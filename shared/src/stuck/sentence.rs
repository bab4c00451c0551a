//! What a blocker says to people.

use std::fmt;

use super::{Blocker, live};

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
            Blocker::StaleDependents { dependents } => write!(
                f,
                "Eno waits for compositions that do not depend on it any more, and does not look again: {}",
                dependents.join(", ")
            ),
            Blocker::DependenciesNotReady { dependencies } => {
                write!(f, "compositions that it depends on are not ready: {}", dependencies.join(", "))
            }
            Blocker::SynthesizerMissing { synthesizer } => write!(f, "its synthesizer {synthesizer} does not exist"),
            Blocker::SelectorIgnored => {
                f.write_str("its synthesizer is chosen by a label selector only, which Eno does not read; give a name")
            }
            Blocker::NameTooLong { name } => write!(
                f,
                "{name} is longer than the {} characters of a label, so that Eno cannot make the synthesizer's pod",
                live::LABEL_LENGTH
            ),
            Blocker::InputsMissing => {
                f.write_str("inputs of its synthesizer are missing; no synthesis begins, not even one that is forced")
            }
            Blocker::SynthesisFailing { error } if error.is_empty() => {
                f.write_str("its synthesis was given up, and is tried again")
            }
            Blocker::SynthesisFailing { error } => {
                write!(f, "its synthesis was given up, and is tried again; Eno says: {error}")
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
            Blocker::SlicesUnowned { slices } => write!(
                f,
                "slices of its current synthesis have lost their owner, so that nothing wakes Eno for them: {}",
                slices.join(", ")
            ),
            Blocker::DuplicateResource { resource, slices } => {
                write!(f, "{resource} is in its synthesis twice ({}); one never gets a state", slices.join(", "))
            }
            Blocker::MalformedManifest { slice, index } => {
                write!(
                    f,
                    "resource {index} of slice {slice} is no object with apiVersion, kind and name; Eno fails on it"
                )
            }
            Blocker::ReadinessDeadlock { definition, resource } => write!(
                f,
                "{definition} is in a later readiness group than {resource}, which is of its kind: each waits for the other"
            ),
            Blocker::ForceDeleteIneffective => write!(
                f,
                "its annotation {} does nothing: no symphony owns it",
                crate::names::FORCE_DELETE_WHEN_SYMPHONY_GONE
            ),
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
            Blocker::Unreconciled { left, of } => write!(f, "{left} of {of} resources are not known to be reconciled"),
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
            Blocker::CompositionsLeft { compositions } => {
                write!(f, "compositions of it still exist: {}", compositions.join(", "))
            }
            Blocker::CompositionsUnreconciled { compositions } => {
                write!(f, "compositions of it are not reconciled: {}", compositions.join(", "))
            }
            Blocker::ObjectsLeft { symphonies, compositions, slices } => write!(
                f,
                "Eno's objects in it still exist: {symphonies} symphonies, {compositions} compositions, {slices} slices"
            ),
            Blocker::PodOverdue => {
                f.write_str("its time to end is over, and its node has not said that it ended; is the node alive?")
            }
            Blocker::NobodyActs => {
                f.write_str("nothing needs it any more, and nobody lets it go; is eno-controller running?")
            }
        }
    }
}
