//! What a command wants to know of a cluster or a dump.

use eno_shared::api::{Composition, Metadata, ResourceSlice};
use eno_shared::owner::composition_owner;
use eno_shared::usage::lists;
use eno_shared::{Compositions, judge};
use jiff::Timestamp;

/// How much of the slices is read. On a cluster they are up to a megabyte each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Metadata; spec and status only where a verdict or a blocker rests on them.
    #[default]
    Rules,
    /// As [`Depth::Rules`], with spec and status of what compositions that are at work rest on.
    Undone,
    /// Spec and status of all.
    Content,
    /// As [`Depth::Rules`], with the manifests of what is read.
    Manifests,
    /// All slices whole, with their manifests.
    Everything,
}

/// What a command wants to know.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The namespace, `None` for all.
    pub namespace: Option<String>,
    /// These slices and no other, where there are any.
    pub names: Vec<String>,
    /// Label selector.
    pub labels: Option<String>,
    /// Field selector.
    pub fields: Option<String>,
    /// Only slices of this composition: owned by it, or listed in its syntheses.
    pub composition: Option<String>,
    /// Only slices that are being deleted.
    pub deleting: bool,
    /// How much of them.
    pub depth: Depth,
    /// Does the command still make sense without slices? Then a refused list of slices is a warning.
    pub slices_may_fail: bool,
}

impl Query {
    /// Is the slice asked for?
    pub fn wants(&self, metadata: &Metadata, compositions: &Compositions) -> bool {
        (!self.deleting || metadata.is_deleting())
            && (self.names.is_empty() || self.names.contains(&metadata.name))
            && self.composition.as_deref().is_none_or(|name| belongs(metadata, name, compositions))
    }

    /// Must the slice be read whole? `slice` is its metadata alone.
    pub fn needs_whole(&self, slice: &ResourceSlice, compositions: &Compositions, now: Timestamp) -> bool {
        slice.metadata.is_deleting()
            || self.wants_content(slice, compositions)
            || judge(slice, compositions, now).wants_content
    }

    /// Must the slice be read whole, whatever the rules say?
    fn wants_content(&self, slice: &ResourceSlice, compositions: &Compositions) -> bool {
        match self.depth {
            Depth::Rules => false,
            Depth::Undone => compositions.current_referrers(&slice.metadata.name).any(is_at_work),
            Depth::Content | Depth::Everything => true,
            // What a composition's deletion waits for is in the slices of its current synthesis.
            Depth::Manifests => compositions.current_referrers(&slice.metadata.name).next().is_some(),
        }
    }
}

/// Are its resources still being made, or deleted?
fn is_at_work(composition: &Composition) -> bool {
    let current = composition.status.current_synthesis.as_ref();
    composition.metadata.is_deleting() || current.is_some_and(|current| current.reconciled.is_none())
}

/// Does a slice belong to the composition of that name, or is it listed by it?
pub fn belongs(slice: &Metadata, composition: &str, compositions: &Compositions) -> bool {
    composition_owner(slice).is_some_and(|owner| owner.name == composition)
        || compositions.get(composition).found().is_some_and(|composition| refers(composition, &slice.name))
}

fn refers(composition: &Composition, slice: &str) -> bool {
    let status = &composition.status;
    [&status.current_synthesis, &status.previous_synthesis, &status.in_flight_synthesis]
        .into_iter()
        .flatten()
        .any(|synthesis| lists(synthesis, slice))
}
