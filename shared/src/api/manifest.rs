//! Which resource a manifest is of.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Manifest;
use super::decode::null_as_default;

/// A resource that Eno makes, of whatever kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRef {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Empty for what lives outside namespaces.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ResourceRef {
    /// The group of `apiVersion`; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// What tells resources apart: Eno takes two versions of a kind for one.
    #[must_use]
    pub fn identity(&self) -> (&str, &str, &str, &str) {
        (self.group(), &self.kind, &self.namespace, &self.name)
    }
}

/// As people read it: `apps/Deployment team-a/web`, `v1/Secret team-a/tls`.
impl fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.group().is_empty() { &self.api_version } else { self.group() };
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        write!(f, "{group}/{} {}{slash}{}", self.kind, self.namespace, self.name)
    }
}

impl Manifest {
    /// The resource. `None` where the manifest is no object with apiVersion, kind and name: Eno fails on it (S12).
    #[must_use]
    pub fn resource(&self) -> Option<ResourceRef> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Object {
            api_version: String,
            kind: String,
            metadata: Place,
        }
        #[derive(Deserialize)]
        struct Place {
            #[serde(default, deserialize_with = "null_as_default")]
            namespace: String,
            name: String,
        }
        let Object { api_version, kind, metadata: Place { namespace, name } } =
            serde_json::from_str(&self.manifest).ok()?;
        let named = !api_version.is_empty() && !kind.is_empty() && !name.is_empty();
        named.then_some(ResourceRef { api_version, kind, namespace, name })
    }
}
