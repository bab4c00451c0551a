//! The metadata that rules read; `managedFields` and the rest are skipped while parsing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::decode::{null_as_default, objects};
use crate::names::CLEANUP_FINALIZER;

/// `metadata` of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// The namespace; empty in a dump that leaves it out.
    #[serde(deserialize_with = "null_as_default")]
    pub namespace: String,
    /// The name; empty where the API server has yet to make it from `generateName`.
    #[serde(deserialize_with = "null_as_default")]
    pub name: String,
    /// The uid; empty before the object is created.
    #[serde(deserialize_with = "null_as_default")]
    pub uid: String,
    /// Opaque version of the stored object.
    #[serde(deserialize_with = "null_as_default")]
    pub resource_version: String,
    /// Counts changes of the spec; a deletion counts as one.
    #[serde(deserialize_with = "null_as_default")]
    pub generation: i64,
    /// When the API server stored the object.
    pub creation_timestamp: Option<Timestamp>,
    /// Set once the object is being deleted.
    pub deletion_timestamp: Option<Timestamp>,
    /// Who must let go before the object disappears.
    #[serde(deserialize_with = "null_as_default")]
    pub finalizers: Vec<String>,
    /// The objects it belongs to.
    #[serde(deserialize_with = "objects")]
    pub owner_references: Vec<OwnerReference>,
    /// Labels.
    #[serde(deserialize_with = "null_as_default")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(deserialize_with = "null_as_default")]
    pub annotations: BTreeMap<String, String>,
}

/// One entry of `metadata.ownerReferences`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// Group and version of the owner.
    pub api_version: String,
    /// Kind of the owner.
    pub kind: String,
    /// Name of the owner, in the same namespace.
    pub name: String,
    /// Uid of the owner: a namesake that was created later has another.
    pub uid: String,
    /// True on the one owner that manages the object.
    #[serde(deserialize_with = "null_as_default")]
    pub controller: bool,
}

impl OwnerReference {
    /// The group of `apiVersion`; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl Metadata {
    /// Is the object being deleted?
    #[must_use]
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// Is Eno's finalizer on it?
    #[must_use]
    pub fn has_cleanup_finalizer(&self) -> bool {
        self.finalizers.iter().any(|finalizer| finalizer == CLEANUP_FINALIZER)
    }

    /// The owner that manages the object, of whatever kind.
    #[must_use]
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller)
    }

    /// The annotation's value, where it is set.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }

    /// The label's value, where it is set.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
    }
}
