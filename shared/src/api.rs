//! Eno's objects as the API server sends them: only the fields that are read, tolerant of all others.
//!
//! None of these types can be serialized. What is read in part must never be written back whole, so the types make that
//! impossible: changes are [patches](crate::patch).
//!
//! An object of the wrong kind, or with a field of the wrong type, does not decode. To the rules that is
//! [`Lookup::Unknown`](crate::lookup::Lookup), never an object that is missing.

mod composition;
mod decode;
mod manifest;
mod metadata;
mod resource_slice;
mod symphony;

pub use composition::{
    BlockedBy, Composition, CompositionRef, CompositionSpec, CompositionStatus, DependencyStatus, SimplifiedStatus,
    SliceRef, Synthesis, SynthesizerRef,
};
pub use decode::{DecodeError, Kind, decode, decode_value};
pub use manifest::ResourceRef;
pub use metadata::{Metadata, OwnerReference};
pub use resource_slice::{Content, Manifest, ResourceSlice, ResourceState, SliceManifests};
pub use symphony::{Symphony, SymphonySpec, SymphonyStatus, Synthesizer, Variation};
