//! Objects as the API server sends them.

use serde_json::{Value, json};

pub const FINALIZER: &str = "eno.azure.io/cleanup";

/// A live composition of namespace `ns` whose current synthesis lists these slices.
pub fn composition(name: &str, slices: &[&str]) -> Value {
    let slices: Vec<_> = slices.iter().map(|name| json!({"name": name})).collect();
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Composition",
        "metadata": {
            "namespace": "ns", "name": name, "uid": format!("uid-{name}"), "resourceVersion": "1", "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z", "finalizers": [FINALIZER]
        },
        "spec": {"synthesizer": {"name": "any"}},
        "status": {"currentSynthesis": {
            "uuid": "a", "observedCompositionGeneration": 1, "reconciled": "2026-01-01T00:00:10Z", "resourceSlices": slices
        }}
    })
}

/// An old slice of that composition, with one resource.
pub fn slice(name: &str, composition: &str) -> Value {
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
        "metadata": {
            "namespace": "ns", "name": name, "uid": format!("uid-{name}"), "resourceVersion": "1",
            "creationTimestamp": "2026-01-01T00:00:05Z", "finalizers": [FINALIZER],
            "ownerReferences": [{
                "apiVersion": "eno.azure.io/v1", "kind": "Composition", "name": composition,
                "uid": format!("uid-{composition}"), "controller": true
            }]
        },
        "spec": {"synthesisUUID": "a", "resources": [{"manifest": "{}"}]},
        "status": {"resources": [{"reconciled": true}]}
    })
}

pub fn symphony(name: &str) -> Value {
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Symphony",
        "metadata": {"namespace": "ns", "name": name, "uid": format!("uid-{name}")}
    })
}

/// The CustomResourceDefinition of a plural of Eno's.
pub fn definition(name: &str) -> Value {
    let (plural, group) = name.split_once('.').unwrap();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "uid": format!("uid-{name}")},
        "spec": {
            "group": group, "names": {"plural": plural, "kind": "Any"}, "scope": "Namespaced",
            "versions": [{"name": "v0", "served": false, "storage": false}, {"name": "v1", "served": true, "storage": true}]
        }
    })
}

/// Being deleted: a deletion counts as a change of the spec.
pub fn deleting(mut object: Value) -> Value {
    object["metadata"]["deletionTimestamp"] = json!("2026-01-02T00:00:00Z");
    if object["metadata"]["generation"].is_number() {
        object["metadata"]["generation"] = json!(2);
    }
    object
}

/// A deleting composition whose deletion Eno has reconciled.
pub fn finished(composition: Value) -> Value {
    let mut composition = deleting(composition);
    composition["status"]["currentSynthesis"]["observedCompositionGeneration"] = json!(2);
    composition
}

/// All resources of the slice are deleted.
pub fn emptied(mut slice: Value) -> Value {
    slice["status"] = json!({"resources": [{"deleted": true}]});
    slice
}

pub fn without(mut object: Value, field: &str) -> Value {
    object["metadata"].as_object_mut().unwrap().remove(field);
    object
}

pub fn annotated(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["annotations"][key] = json!(value);
    object
}
