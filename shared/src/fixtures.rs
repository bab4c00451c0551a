//! Builders of compositions and slices for tests. Everything happens around one moment, [`now`].

pub mod mutation;

use jiff::{SignedDuration, Timestamp};

use crate::api::{Composition, Content, Metadata, OwnerReference, ResourceSlice, ResourceState, SliceRef, Synthesis};
use crate::names::{CLEANUP_FINALIZER, ENO_API_VERSION};

/// The moment at which tests judge.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::from_second(1_772_366_400).expect("a valid time") // 2026-03-01T12:00:00Z
}

/// So many seconds before [`now`]; after it, where negative.
#[must_use]
pub fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

/// A live composition of namespace `ns` with uid `uid-NAME`, Eno's finalizer and generation 1; no synthesis.
#[must_use]
pub fn composition(name: &str) -> Composition {
    Composition { metadata: metadata(name), ..Composition::default() }
}

/// A slice of that composition, an hour old, with Eno's finalizer, holding nothing.
#[must_use]
pub fn slice(name: &str, owner: &Composition) -> ResourceSlice {
    let owner = OwnerReference {
        api_version: ENO_API_VERSION.into(),
        kind: "Composition".into(),
        name: owner.metadata.name.clone(),
        uid: owner.metadata.uid.clone(),
        controller: true,
    };
    ResourceSlice {
        metadata: Metadata { owner_references: vec![owner], ..metadata(name) },
        content: Content::Read { synthesis_uuid: String::new(), resources: 0, states: vec![] },
    }
}

/// A reconciled synthesis of generation 1, begun half an hour ago.
#[must_use]
pub fn synthesis(uuid: &str, slices: &[&str]) -> Synthesis {
    Synthesis {
        uuid: uuid.into(),
        initialized: Some(ago(1800)),
        synthesized: Some(ago(1790)),
        reconciled: Some(ago(1780)),
        observed_composition_generation: 1,
        resource_slices: slices.iter().map(|name| SliceRef { name: (*name).into() }).collect(),
        ..Synthesis::default()
    }
}

/// Content of so many resources, of which so many are deleted.
#[must_use]
pub fn content(resources: usize, deleted: usize) -> Content {
    let state = |index| ResourceState { reconciled: true, deleted: index < deleted, ..ResourceState::default() };
    Content::Read { synthesis_uuid: String::new(), resources, states: (0..resources).map(state).collect() }
}

/// Marks an object as being deleted, a minute ago. A deletion counts as a change of the spec.
pub fn delete(metadata: &mut Metadata) {
    metadata.deletion_timestamp = Some(ago(60));
    metadata.generation += 1;
}

fn metadata(name: &str) -> Metadata {
    Metadata {
        namespace: "ns".into(),
        name: name.into(),
        uid: format!("uid-{name}"),
        resource_version: "1".into(),
        generation: 1,
        creation_timestamp: Some(ago(3600)),
        finalizers: vec![CLEANUP_FINALIZER.into()],
        ..Metadata::default()
    }
}
