//! Arbitrary compositions and slices. Names, uids and uuids are few, so that they often meet.

use std::collections::BTreeMap;
use std::sync::Arc;

use eno_shared::api::{
    Composition, Content, Metadata, OwnerReference, ResourceSlice, ResourceState, SliceRef, Synthesis,
};
use eno_shared::names::{CLEANUP_FINALIZER, DELETION_STRATEGY, SYMPHONY_DELETING};
use eno_shared::{Compositions, Lookup, fixtures};
use jiff::Timestamp;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

/// What was read of a namespace, and whether that is all.
#[derive(Debug, Clone)]
pub struct Namespace {
    pub read: BTreeMap<String, Lookup<Arc<Composition>>>,
    pub whole: bool,
}

impl Namespace {
    pub fn compositions(&self) -> Compositions {
        let read = self.read.clone();
        if self.whole { Compositions::whole(read) } else { Compositions::partial(read, "not all were read") }
    }

    pub fn found(&self) -> impl Iterator<Item = &Composition> {
        self.read.values().filter_map(|lookup| lookup.found().map(Arc::as_ref))
    }

    pub fn is_known(&self) -> bool {
        self.whole && !self.read.values().any(|lookup| matches!(lookup, Lookup::Unknown(_)))
    }
}

pub fn namespace() -> impl Strategy<Value = Namespace> {
    let lookup = prop_oneof![
        6 => composition().prop_map(|composition| Lookup::Found(Arc::new(composition))),
        1 => Just(Lookup::Missing),
        1 => Just(Lookup::Unknown("403".to_owned())),
    ];
    (btree_map(composition_name(), lookup, 0..4), prop::bool::weighted(0.8)).prop_map(|(mut read, whole)| {
        for (name, lookup) in &mut read {
            if let Lookup::Found(composition) = lookup {
                Arc::make_mut(composition).metadata.name.clone_from(name);
            }
        }
        Namespace { read, whole }
    })
}

pub fn composition() -> impl Strategy<Value = Composition> {
    (metadata(), of(synthesis()), of(synthesis()), of(synthesis())).prop_map(
        |(metadata, current, previous, in_flight)| {
            let mut composition = Composition { metadata, ..Composition::default() };
            composition.status.current_synthesis = current;
            composition.status.previous_synthesis = previous;
            composition.status.in_flight_synthesis = in_flight;
            composition
        },
    )
}

pub fn slice() -> impl Strategy<Value = ResourceSlice> {
    (slice_name(), metadata(), vec(owner(), 0..3), content()).prop_map(|(name, metadata, owners, content)| {
        ResourceSlice { metadata: Metadata { name, owner_references: owners, ..metadata }, content }
    })
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let finalizers = select(vec![vec![], vec![CLEANUP_FINALIZER], vec!["a/b"], vec!["a/b", CLEANUP_FINALIZER]]);
    let strategy = of(select(vec!["orphan", "foreground"]));
    let symphony = of(select(vec!["true", "false"]));
    (uid(), 0..4_i64, of(time()), of(time()), finalizers, strategy, symphony).prop_map(
        |(uid, generation, creation_timestamp, deletion_timestamp, finalizers, strategy, symphony)| {
            let one = |key: &str, value: Option<&str>| value.map(|value| (key.to_owned(), value.to_owned()));
            Metadata {
                uid,
                generation,
                creation_timestamp,
                deletion_timestamp,
                finalizers: finalizers.into_iter().map(str::to_owned).collect(),
                annotations: one(DELETION_STRATEGY, strategy).into_iter().collect(),
                labels: one(SYMPHONY_DELETING, symphony).into_iter().collect(),
                ..Metadata::default()
            }
        },
    )
}

fn owner() -> impl Strategy<Value = OwnerReference> {
    let api_version = select(vec!["eno.azure.io/v1", "eno.azure.io/v1", "resource.k8s.io/v1", "v1", ""]);
    let kind = select(vec!["Composition", "Composition", "Composition", "Symphony"]);
    (api_version, kind, composition_name(), uid(), any::<bool>()).prop_map(
        |(api_version, kind, name, uid, controller)| OwnerReference {
            api_version: api_version.into(),
            kind: kind.into(),
            name,
            uid,
            controller,
        },
    )
}

fn synthesis() -> impl Strategy<Value = Synthesis> {
    (uuid(), of(time()), of(time()), of(time()), 0..4_i64, vec(slice_name(), 0..3)).prop_map(
        |(uuid, initialized, reconciled, canceled, observed, slices)| Synthesis {
            uuid,
            initialized,
            reconciled,
            canceled,
            observed_composition_generation: observed,
            resource_slices: slices.into_iter().map(|name| SliceRef { name: name.into() }).collect(),
            ..Synthesis::default()
        },
    )
}

fn content() -> impl Strategy<Value = Content> {
    let state = any::<bool>().prop_map(|deleted| ResourceState { deleted, ..ResourceState::default() });
    let read = (uuid(), 0..3_usize, vec(state, 0..3)).prop_map(|(synthesis_uuid, resources, states)| Content::Read {
        synthesis_uuid,
        resources,
        states,
    });
    prop_oneof![1 => Just(Content::Unread), 4 => read]
}

/// Around now; sometimes as far away as a time can be.
pub fn time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        20 => (-120..120_i64).prop_map(fixtures::ago),
        1 => Just(Timestamp::MIN),
        1 => Just(Timestamp::MAX),
    ]
}

pub fn composition_name() -> impl Strategy<Value = String> {
    select(vec!["web", "api", "db"]).prop_map(str::to_owned)
}

fn slice_name() -> impl Strategy<Value = String> {
    select(vec!["one", "two"]).prop_map(str::to_owned)
}

fn uid() -> impl Strategy<Value = String> {
    select(vec!["u1", "u2", ""]).prop_map(str::to_owned)
}

fn uuid() -> impl Strategy<Value = String> {
    select(vec!["s1", "s2", ""]).prop_map(str::to_owned)
}
