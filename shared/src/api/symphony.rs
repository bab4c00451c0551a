//! `Symphony`, which makes compositions and owns them, and `Synthesizer`, which makes resources: their metadata.

use serde::Deserialize;

use super::decode::{Kind, object};
use super::metadata::Metadata;

/// A `Symphony` of `eno.azure.io/v1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Symphony {
    /// Its metadata.
    #[serde(deserialize_with = "object")]
    pub metadata: Metadata,
}

impl Kind for Symphony {
    const KIND: &'static str = "Symphony";
    const PLURAL: &'static str = "symphonies";
    const SINGULAR: &'static str = "symphony";
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

/// A `Synthesizer` of `eno.azure.io/v1`; it lives outside namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Synthesizer {
    /// Its metadata.
    #[serde(deserialize_with = "object")]
    pub metadata: Metadata,
}

impl Kind for Synthesizer {
    const KIND: &'static str = "Synthesizer";
    const PLURAL: &'static str = "synthesizers";
    const SINGULAR: &'static str = "synthesizer";
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}
