//! `Composition`: what is to be synthesized, and which slices hold the result.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::decode::{Kind, is_set, null_as_default, object, object_or_default, object_or_none, objects_without_nulls};
use super::metadata::Metadata;

/// A `Composition` of `eno.azure.io/v1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Composition {
    /// Its metadata.
    #[serde(deserialize_with = "object")]
    pub metadata: Metadata,
    /// What the user asks for.
    #[serde(deserialize_with = "object_or_default")]
    pub spec: CompositionSpec,
    /// What Eno made of it.
    #[serde(deserialize_with = "object_or_default")]
    pub status: CompositionStatus,
}

impl Kind for Composition {
    const KIND: &'static str = "Composition";
    const PLURAL: &'static str = "compositions";
    const SINGULAR: &'static str = "composition";
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

/// `spec` of a composition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompositionSpec {
    /// What makes the resources.
    #[serde(deserialize_with = "object_or_default")]
    pub synthesizer: SynthesizerRef,
    /// Compositions that must be ready before this one, and that outlive it.
    #[serde(deserialize_with = "objects_without_nulls")]
    pub depends_on: Vec<CompositionRef>,
}

/// A reference to a synthesizer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SynthesizerRef {
    /// Its name; empty where a label selector chooses it.
    #[serde(deserialize_with = "null_as_default")]
    pub name: String,
    /// Is there a label selector? Eno's API takes one, and no controller of Eno's reads it (S16).
    #[serde(rename = "labelSelector", deserialize_with = "is_set")]
    pub has_selector: bool,
}

/// A reference to a composition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CompositionRef {
    /// Its name.
    pub name: String,
    /// Its namespace; empty means the referrer's own.
    #[serde(deserialize_with = "null_as_default")]
    pub namespace: String,
}

/// `status` of a composition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompositionStatus {
    /// The synthesis whose slices are in force.
    #[serde(deserialize_with = "object_or_none")]
    pub current_synthesis: Option<Synthesis>,
    /// The one before.
    #[serde(deserialize_with = "object_or_none")]
    pub previous_synthesis: Option<Synthesis>,
    /// The one that is being made.
    #[serde(deserialize_with = "object_or_none")]
    pub in_flight_synthesis: Option<Synthesis>,
    /// Set while other compositions block this one.
    #[serde(deserialize_with = "object_or_none")]
    pub dependency_status: Option<DependencyStatus>,
    /// Eno's summary for people. Eno does not refresh it while the composition is being deleted (S14).
    #[serde(deserialize_with = "object_or_default")]
    pub simplified: SimplifiedStatus,
}

/// `status.simplified` of a composition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SimplifiedStatus {
    /// A word: `Ready`, `MissingInputs`, `MissingSynthesizer` …
    #[serde(deserialize_with = "null_as_default")]
    pub status: String,
    /// What went wrong.
    #[serde(deserialize_with = "null_as_default")]
    pub error: String,
}

/// One run of the synthesizer and the slices it wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Synthesis {
    /// Random; a deletion gives the current synthesis a new one.
    #[serde(deserialize_with = "null_as_default")]
    pub uuid: String,
    /// When it was dispatched, by the clock of Eno's controller.
    pub initialized: Option<Timestamp>,
    /// When its slices were all written.
    pub synthesized: Option<Timestamp>,
    /// When all of its resources were reconciled (on deletion: deleted).
    pub reconciled: Option<Timestamp>,
    /// When all of its resources were ready.
    pub ready: Option<Timestamp>,
    /// When it was given up; a retry brings a new synthesis.
    pub canceled: Option<Timestamp>,
    /// Generation of the composition it was made from; on deletion, the generation that Eno has seen.
    #[serde(deserialize_with = "null_as_default")]
    pub observed_composition_generation: i64,
    /// Generation of the synthesizer it was made by.
    #[serde(deserialize_with = "null_as_default")]
    pub observed_synthesizer_generation: i64,
    /// The slices that hold its resources.
    #[serde(deserialize_with = "objects_without_nulls")]
    pub resource_slices: Vec<SliceRef>,
}

/// A reference to a slice of the composition's namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SliceRef {
    /// Its name; shared with those who index it.
    #[serde(deserialize_with = "null_as_default")]
    pub name: Arc<str>,
}

/// `status.dependencyStatus` of a composition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DependencyStatus {
    /// Can the composition not go on?
    #[serde(deserialize_with = "null_as_default")]
    pub blocked: bool,
    /// `WaitingOnDependents` on deletion; `WaitingOnDependencies` and others before.
    #[serde(deserialize_with = "null_as_default")]
    pub reason: String,
    /// The compositions that block it.
    #[serde(deserialize_with = "objects_without_nulls")]
    pub blocked_by: Vec<BlockedBy>,
}

/// A composition that blocks another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct BlockedBy {
    /// Its name.
    #[serde(deserialize_with = "null_as_default")]
    pub name: String,
    /// Its namespace.
    #[serde(deserialize_with = "null_as_default")]
    pub namespace: String,
}
