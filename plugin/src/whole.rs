//! A slice with its manifests: for people who ask what it holds.

use eno_shared::api::{Kind, Metadata, ResourceSlice, SliceManifests};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::value::RawValue;

/// A slice as the rules see it, and what it holds.
#[derive(Debug, Clone)]
pub struct WholeSlice {
    /// What the rules see.
    pub slice: ResourceSlice,
    /// Its manifests.
    pub manifests: SliceManifests,
}

impl Kind for WholeSlice {
    const KIND: &'static str = ResourceSlice::KIND;
    const PLURAL: &'static str = ResourceSlice::PLURAL;
    const SINGULAR: &'static str = ResourceSlice::SINGULAR;
    fn metadata(&self) -> &Metadata {
        &self.slice.metadata
    }
}

impl<'de> Deserialize<'de> for WholeSlice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let slice = serde_json::from_str(text.get()).map_err(D::Error::custom)?;
        let manifests = serde_json::from_str(text.get()).map_err(D::Error::custom)?;
        Ok(WholeSlice { slice, manifests })
    }
}
