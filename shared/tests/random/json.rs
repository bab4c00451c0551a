//! Arbitrary JSON that looks like our objects, more or less.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

pub fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec!["", "eno.azure.io/v1", "Composition", "2026-03-01T12:00:00Z", "2026-99-01T12:00:00Z", "\u{0}"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((field(), inner), 0..8).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
            }),
        ]
    })
}

/// An object that passes for the kind, with anything in it.
pub fn object_of(kind: &'static str) -> impl Strategy<Value = Value> {
    (json(), json(), json()).prop_map(move |(metadata, spec, status)| {
        json!({
            "apiVersion": "eno.azure.io/v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status,
        })
    })
}

fn field() -> impl Strategy<Value = &'static str> {
    select(vec![
        "apiVersion",
        "kind",
        "metadata",
        "spec",
        "status",
        "name",
        "uid",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "finalizers",
        "ownerReferences",
        "controller",
        "annotations",
        "managedFields",
        "synthesisUUID",
        "resources",
        "currentSynthesis",
        "inFlightSynthesis",
        "resourceSlices",
        "observedCompositionGeneration",
        "reconciled",
        "deleted",
    ])
}
