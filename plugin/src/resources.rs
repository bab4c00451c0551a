//! What slices hold: the resources that Eno makes, with the state that the slices show.

use eno_shared::api::{Content, ResourceRef, ResourceState, SliceManifests};

use crate::snapshot::Seen;

/// A resource of a slice.
#[derive(Debug, Clone)]
pub struct Held {
    /// Which one.
    pub resource: ResourceRef,
    /// Is it to be deleted?
    pub tombstone: bool,
    /// The state that the slice shows; `None` where it shows none.
    pub state: Option<ResourceState>,
}

impl Held {
    /// Is it known not to exist any more?
    pub fn is_deleted(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.deleted)
    }

    /// The state, in a word.
    pub fn word(&self) -> &'static str {
        match &self.state {
            None => "Pending",
            Some(state) if state.deleted => "Deleted",
            Some(state) if !state.reconciliation_error.is_empty() => "Failing",
            Some(_) if self.tombstone => "Deleting",
            Some(state) if state.reconciled => "Reconciled",
            Some(_) => "Pending",
        }
    }
}

/// The resources of a slice. `None` where its manifests were not read.
pub fn held(seen: &Seen) -> Option<Vec<Held>> {
    let SliceManifests(manifests) = seen.manifests.as_ref()?;
    let states: &[ResourceState] = match &seen.slice.content {
        Content::Read { states, .. } => states,
        Content::Unread => &[],
    };
    let held = manifests.iter().enumerate().map(|(index, manifest)| Held {
        resource: manifest.resource().unwrap_or_else(unreadable),
        tombstone: manifest.deleted,
        state: states.get(index).cloned(),
    });
    Some(held.collect())
}

/// The resources of a slice that are not known to be deleted.
pub fn left(seen: &Seen) -> Vec<ResourceRef> {
    let held = held(seen).unwrap_or_default();
    held.into_iter().filter(|held| !held.is_deleted()).map(|held| held.resource).collect()
}

/// Kind and name of a resource whose manifest cannot be understood.
pub const UNKNOWN: &str = "<unknown>";

/// It counts, though nobody can say what it is.
fn unreadable() -> ResourceRef {
    let unknown = || UNKNOWN.to_owned();
    ResourceRef { api_version: unknown(), kind: unknown(), name: unknown(), ..ResourceRef::default() }
}
