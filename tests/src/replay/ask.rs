//! What is asked about a slice.

use eno_shared::names::CLEANUP_FINALIZER;
use kube::api::DynamicObject;
use serde_json::{Value, json};

/// A request about a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// C1: delete it.
    Delete,
    /// C2: take Eno's finalizer off.
    DropFinalizer,
    /// C2: take its composition away.
    DropOwner,
    /// C2: put another uid in the place of its composition's.
    ReplaceOwner,
}

/// What it does to the slice.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It deletes it.
    Deletion,
    /// It changes it, by this merge patch.
    Patch(Value),
}

impl Ask {
    /// All of them.
    pub const ALL: [Ask; 4] = [Ask::Delete, Ask::DropFinalizer, Ask::DropOwner, Ask::ReplaceOwner];

    /// What it does to this slice; `None` where the slice has not what it takes away.
    pub fn change(self, slice: &DynamicObject) -> Option<Change> {
        let metadata = &slice.metadata;
        let finalizers = metadata.finalizers.clone().unwrap_or_default();
        let owners = metadata.owner_references.clone().unwrap_or_default();
        let is_composition = |kind: &str, controller: Option<bool>| kind == "Composition" && controller == Some(true);
        let has_owner = owners.iter().any(|owner| is_composition(&owner.kind, owner.controller));
        let patch = match self {
            Ask::Delete => return Some(Change::Deletion),
            Ask::DropFinalizer if finalizers.iter().any(|finalizer| finalizer == CLEANUP_FINALIZER) => {
                let left: Vec<_> = finalizers.into_iter().filter(|finalizer| finalizer != CLEANUP_FINALIZER).collect();
                json!({"metadata": {"finalizers": left}})
            }
            Ask::DropOwner if has_owner => {
                let left: Vec<_> =
                    owners.into_iter().filter(|owner| !is_composition(&owner.kind, owner.controller)).collect();
                json!({"metadata": {"ownerReferences": left}})
            }
            Ask::ReplaceOwner if has_owner => {
                let mut owners = owners;
                for owner in owners.iter_mut().filter(|owner| is_composition(&owner.kind, owner.controller)) {
                    owner.uid = "00000000-0000-4000-8000-00000000aaaa".into();
                }
                json!({"metadata": {"ownerReferences": owners}})
            }
            Ask::DropFinalizer | Ask::DropOwner | Ask::ReplaceOwner => return None,
        };
        Some(Change::Patch(patch))
    }
}
