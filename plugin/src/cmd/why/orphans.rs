//! What nobody would delete, if a slice were forced out of the way.

use eno_shared::api::{Content, ResourceState, SliceManifests};
use serde::{Deserialize, Serialize};

use crate::snapshot::Seen;

/// A resource that a slice holds.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Resource {
    pub api_version: String,
    pub kind: String,
    /// Empty for cluster-scoped ones.
    pub namespace: String,
    pub name: String,
}

impl Resource {
    /// As people read it: `apps/Deployment team-a/web`.
    pub(super) fn shown(&self) -> String {
        let group = self.api_version.split_once('/').map_or(self.api_version.as_str(), |(group, _)| group);
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        format!("{group}/{} {}{slash}{}", self.kind, self.namespace, self.name)
    }
}

/// The resources of a slice that are not known to be deleted.
pub(super) fn left(seen: &Seen) -> Vec<Resource> {
    let states: &[ResourceState] = match &seen.slice.content {
        Content::Read { states, .. } => states,
        Content::Unread => &[],
    };
    let Some(SliceManifests(manifests)) = &seen.manifests else { return vec![] };
    let deleted = |index: usize| states.get(index).is_some_and(|state| state.deleted);
    let left = manifests.iter().enumerate().filter(|(index, _)| !deleted(*index));
    left.map(|(_, manifest)| resource(&manifest.manifest)).collect()
}

fn resource(manifest: &str) -> Resource {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Manifest {
        api_version: String,
        kind: String,
        metadata: Place,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Place {
        namespace: String,
        name: String,
    }
    match serde_json::from_str(manifest) {
        Ok(Manifest { api_version, kind, metadata: Place { namespace, name } }) => {
            Resource { api_version, kind, namespace, name }
        }
        // It counts, though nobody can say what it is.
        Err(_) => Resource {
            api_version: "<unknown>".to_owned(),
            kind: "<unknown>".to_owned(),
            name: "<unknown>".to_owned(),
            ..Resource::default()
        },
    }
}
