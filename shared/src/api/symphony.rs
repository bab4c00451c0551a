//! `Symphony`, which makes compositions and owns them, and `Synthesizer`, which makes resources.

use jiff::Timestamp;
use serde::Deserialize;

use super::composition::SynthesizerRef;
use super::decode::{Kind, null_as_default, object, object_or_default, objects};
use super::metadata::Metadata;

/// A `Symphony` of `eno.azure.io/v1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Symphony {
    /// Its metadata.
    #[serde(deserialize_with = "object")]
    pub metadata: Metadata,
    /// What the user asks for.
    #[serde(deserialize_with = "object_or_default")]
    pub spec: SymphonySpec,
    /// What Eno made of it.
    #[serde(deserialize_with = "object_or_default")]
    pub status: SymphonyStatus,
}

/// `spec` of a symphony.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SymphonySpec {
    /// Each becomes a composition.
    #[serde(deserialize_with = "objects")]
    pub variations: Vec<Variation>,
}

/// One composition that a symphony asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Variation {
    /// What makes its resources; no other variation has the same.
    #[serde(deserialize_with = "object_or_default")]
    pub synthesizer: SynthesizerRef,
}

/// `status` of a symphony.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SymphonyStatus {
    /// The generation that Eno has seen.
    #[serde(deserialize_with = "null_as_default")]
    pub observed_generation: i64,
    /// When all of its compositions were synthesized.
    pub synthesized: Option<Timestamp>,
    /// When all of them were reconciled.
    pub reconciled: Option<Timestamp>,
    /// When all of them were ready.
    pub ready: Option<Timestamp>,
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
