//! `ResourceSlice`: the record of what Eno made and must one day delete.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::decode::{Kind, Object, null_as_default, object, object_or_default, object_or_none};
use super::metadata::Metadata;

/// A `ResourceSlice` of `eno.azure.io/v1`.
///
/// A slice may hold a megabyte of manifests. They are counted while parsing, and never built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceSlice {
    /// Its metadata.
    pub metadata: Metadata,
    /// Spec and status, where the read carried them.
    pub content: Content,
}

/// What lies below the metadata of a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Content {
    /// The read was of metadata only, or what was read has no spec: nothing is known.
    #[default]
    Unread,
    /// Spec and status as read.
    Read {
        /// `spec.synthesisUUID`: the uuid of the synthesis that was *current* while this slice was written (L1).
        synthesis_uuid: String,
        /// How many resources `spec.resources` holds, tombstones included.
        resources: usize,
        /// `status.resources`, by index the state of `spec.resources`.
        states: Vec<ResourceState>,
    },
}

/// State of one resource of a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceState {
    /// Eno has brought it to its desired state.
    #[serde(deserialize_with = "null_as_default")]
    pub reconciled: bool,
    /// Eno has seen that it does not exist any more.
    #[serde(deserialize_with = "null_as_default")]
    pub deleted: bool,
    /// Why reconciling it fails.
    #[serde(deserialize_with = "null_as_default")]
    pub reconciliation_error: String,
}

impl Kind for ResourceSlice {
    const KIND: &'static str = "ResourceSlice";
    const PLURAL: &'static str = "resourceslices";
    const SINGULAR: &'static str = "resourceslice";
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

impl ResourceSlice {
    /// A slice of which only the metadata was read.
    #[must_use]
    pub fn of_metadata(metadata: Metadata) -> Self {
        ResourceSlice { metadata, content: Content::Unread }
    }
}

impl<'de> Deserialize<'de> for ResourceSlice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Whole {
            #[serde(deserialize_with = "object")]
            metadata: Metadata,
            #[serde(deserialize_with = "object_or_none")]
            spec: Option<Spec>,
            #[serde(deserialize_with = "object_or_default")]
            status: Status,
        }
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct Spec {
            #[serde(rename = "synthesisUUID", deserialize_with = "null_as_default")]
            synthesis_uuid: String,
            resources: Count,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Status {
            // A null element is a resource without a state: dropping it would shift the indexes of the others.
            #[serde(deserialize_with = "null_as_default")]
            resources: Vec<Option<Object<ResourceState>>>,
        }
        let Whole { metadata, spec, status } = Whole::deserialize(deserializer)?;
        let state = |state: Option<Object<ResourceState>>| state.map_or_else(Default::default, |Object(state)| state);
        // Eno always writes a spec. Where it was cut off, nobody knows what the slice holds, and none is not nothing.
        let content = spec.map_or(Content::Unread, |Spec { synthesis_uuid, resources: Count(resources) }| {
            Content::Read { synthesis_uuid, resources, states: status.resources.into_iter().map(state).collect() }
        });
        Ok(ResourceSlice { metadata, content })
    }
}

/// The length of a list whose elements are skipped.
#[derive(Default)]
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;
        impl<'de> Visitor<'de> for Elements {
            type Value = Count;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of resources")
            }
            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count(0))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Count, A::Error> {
                let mut count = 0;
                while elements.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Count(count))
            }
        }
        deserializer.deserialize_any(Elements)
    }
}

/// The manifests of a slice: for people who ask what it holds, never for a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SliceManifests(pub Vec<Manifest>);

/// One entry of `spec.resources`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The resource, as JSON text.
    #[serde(deserialize_with = "null_as_default")]
    pub manifest: String,
    /// True for a tombstone: the resource is to be deleted.
    #[serde(deserialize_with = "null_as_default")]
    pub deleted: bool,
}

impl<'de> Deserialize<'de> for SliceManifests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Whole {
            #[serde(deserialize_with = "null_as_default")]
            spec: Spec,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Spec {
            // Indexes are those of the states: a null element stays, as an empty manifest.
            #[serde(deserialize_with = "null_as_default")]
            resources: Vec<Option<Manifest>>,
        }
        let whole = Whole::deserialize(deserializer)?;
        Ok(SliceManifests(whole.spec.resources.into_iter().map(Option::unwrap_or_default).collect()))
    }
}
