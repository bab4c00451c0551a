//! What is read of the API server's objects, what is passed over, and what is refused.

use std::time::Duration;

use eno_shared::api::{
    Composition, Content, DecodeError, Kind, ResourceSlice, ResourceState, SliceManifests, Symphony, decode,
};
use serde_json::{Value, json};

fn decoded<K: Kind>(object: &Value) -> Result<K, DecodeError> {
    decode(object.to_string().as_bytes())
}

fn slice(spec: Value, status: Value) -> Value {
    json!({
        "apiVersion": "eno.azure.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "web-a", "namespace": "ns", "uid": "u"},
        "spec": spec,
        "status": status,
    })
}

#[test]
fn kinds_are_spelled_as_eno_spells_them() {
    assert_eq!((Composition::KIND, Composition::PLURAL), ("Composition", "compositions"));
    assert_eq!((ResourceSlice::KIND, ResourceSlice::PLURAL), ("ResourceSlice", "resourceslices"));
    assert_eq!((Symphony::KIND, Symphony::PLURAL), ("Symphony", "symphonies"));
    assert_eq!(ResourceSlice::path(Some("team-a")), "/apis/eno.azure.io/v1/namespaces/team-a/resourceslices");
    assert_eq!(Composition::path(None), "/apis/eno.azure.io/v1/compositions");
    let slice: ResourceSlice = decoded(&slice(json!({}), json!({}))).unwrap();
    assert_eq!(slice.resource_name(), "resourceslice.eno.azure.io/web-a");
}

#[test]
fn namesakes_are_refused() {
    for (api_version, kind) in [
        ("resource.k8s.io/v1", "ResourceSlice"),
        ("eno.azure.io/v1", "ResourceSliceList"),
        ("eno.azure.io/v1", "Composition"),
        ("eno.azure.io/v2", "ResourceSlice"),
        ("", ""),
    ] {
        let namesake = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "gpu"}, "spec": {}});
        let error = decoded::<ResourceSlice>(&namesake).unwrap_err();
        assert_eq!(error.to_string(), format!("expected eno.azure.io/v1 ResourceSlice, found {api_version} {kind}"));
    }
}

#[test]
fn fields_of_the_wrong_type_are_refused() {
    let object = |path: &str, value: Value| {
        let mut composition = json!({
            "apiVersion": "eno.azure.io/v1", "kind": "Composition",
            "metadata": {"name": "web"}, "status": {"currentSynthesis": {}},
        });
        match path.split_once('.') {
            Some((outer, field)) => composition["status"][outer][field] = value,
            None => composition["metadata"][path] = value,
        }
        composition
    };
    for (path, value) in [
        ("deletionTimestamp", json!("yesterday")),
        ("deletionTimestamp", json!(1)),
        ("generation", json!("2")),
        ("finalizers", json!("eno.azure.io/cleanup")),
        ("finalizers", json!([1])),
        ("ownerReferences", json!({})),
        ("currentSynthesis.reconciled", json!(true)),
        ("currentSynthesis.resourceSlices", json!(["web-a"])),
        ("currentSynthesis.observedCompositionGeneration", json!(1.5)),
    ] {
        let outcome = decoded::<Composition>(&object(path, value.clone()));
        assert!(matches!(outcome, Err(DecodeError::Malformed(_))), "{path} = {value}: {outcome:?}");
    }
    for text in ["", "{", "[]", "null", "7", "\u{0}"] {
        assert!(decode::<Composition>(text.as_bytes()).is_err(), "{text:?}");
    }
}

#[test]
fn nulls_are_what_go_prints_for_nothing() {
    let composition: Composition = decoded(&json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Composition",
        "metadata": {
            "name": "web", "namespace": null, "uid": null, "resourceVersion": null, "generation": null,
            "creationTimestamp": null, "deletionTimestamp": null, "finalizers": null, "ownerReferences": null,
            "labels": null, "annotations": null,
        },
        "spec": null,
        "status": {
            "currentSynthesis": {"uuid": null, "reconciled": null, "resourceSlices": [null, {"name": "a"}, {"name": null}]},
            "previousSynthesis": {"resourceSlices": null, "observedCompositionGeneration": null},
            "inFlightSynthesis": null, "dependencyStatus": {"blocked": null, "reason": null, "blockedBy": [null]},
        },
    }))
    .unwrap();
    let current = composition.status.current_synthesis.unwrap();
    let names: Vec<_> = current.resource_slices.iter().map(|slice| &*slice.name).collect();
    assert_eq!(names, ["a", ""]);
    assert_eq!(composition.status.previous_synthesis, Some(Default::default()));
    assert_eq!(composition.status.in_flight_synthesis, None);
    let slice: ResourceSlice = decoded(&slice(json!({"resources": null}), json!({"resources": null}))).unwrap();
    assert_eq!(slice.content, Content::Read { synthesis_uuid: String::new(), resources: 0, states: vec![] });
}

/// serde takes a list for a struct, field by field: an empty one would be a composition that refers to nothing.
#[test]
fn lists_are_no_objects() {
    let composition = |pointer: &str, value: Value| {
        let mut object = json!({
            "apiVersion": "eno.azure.io/v1", "kind": "Composition",
            "metadata": {"name": "web", "ownerReferences": [{}]}, "spec": {"synthesizer": {}},
            "status": {"currentSynthesis": {"resourceSlices": [{}]}, "previousSynthesis": {}, "inFlightSynthesis": {}},
        });
        *object.pointer_mut(pointer).unwrap() = value;
        decoded::<Composition>(&object).map(|_| ())
    };
    for pointer in [
        "/metadata",
        "/metadata/ownerReferences/0",
        "/spec",
        "/spec/synthesizer",
        "/status",
        "/status/currentSynthesis",
        "/status/currentSynthesis/resourceSlices/0",
        "/status/previousSynthesis",
        "/status/inFlightSynthesis",
    ] {
        assert!(composition(pointer, json!({})).is_ok(), "{pointer}");
        let error = composition(pointer, json!([])).unwrap_err().to_string();
        assert!(error.contains("invalid type: sequence, expected an object"), "{pointer}: {error}");
    }
    for (spec, status) in
        [(json!([]), json!({})), (json!({}), json!([])), (json!({}), json!({"resources": [[true, true]]}))]
    {
        let error = decoded::<ResourceSlice>(&slice(spec, status)).unwrap_err().to_string();
        assert!(error.contains("expected an object"), "{error}");
    }
}

/// Eno always writes a spec. A slice without one is not a slice of nothing, of which nothing is left to delete.
#[test]
fn a_slice_without_a_spec_counts_as_unread() {
    let mut bare = slice(json!(null), json!({}));
    assert_eq!(decoded::<ResourceSlice>(&bare).unwrap().content, Content::Unread);
    bare.as_object_mut().unwrap().remove("spec");
    assert_eq!(decoded::<ResourceSlice>(&bare).unwrap().content, Content::Unread);
}

#[test]
fn unknown_fields_are_passed_over() {
    let composition: Composition = decoded(&json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Composition", "extra": [1, {"deep": [null]}],
        "metadata": {
            "name": "web", "selfLink": 7, "generateName": "x",
            "managedFields": [{"manager": "eno", "fieldsV1": {"f:status": {"f:finalizers": {}}}}],
        },
        "spec": {"synthesizer": {"name": "s"}, "bindings": [{"key": 1}]},
        "status": {"simplified": {"status": "Ready"}, "inputRevisions": [{}], "currentSynthesis": {"results": [{}]}},
    }))
    .unwrap();
    assert_eq!(composition.metadata.name, "web");
    assert!(composition.status.current_synthesis.is_some());
}

#[test]
fn states_keep_their_place_when_one_is_null() {
    let spec = json!({"synthesisUUID": "s", "resources": [{}, null, {}]});
    let slice: ResourceSlice =
        decoded(&slice(spec, json!({"resources": [null, {"deleted": true, "ready": "x"}, {}]}))).unwrap();
    let deleted = ResourceState { deleted: true, ..ResourceState::default() };
    let states = vec![ResourceState::default(), deleted, ResourceState::default()];
    assert_eq!(slice.content, Content::Read { synthesis_uuid: "s".into(), resources: 3, states });
}

#[test]
fn manifests_are_counted_and_not_built() {
    let manifest = json!({"manifest": "x".repeat(1024), "deleted": false});
    let spec = json!({"synthesisUUID": "s", "resources": vec![manifest; 1000]});
    let text = slice(spec, json!({})).to_string();
    assert!(text.len() > 1_000_000);
    let begun = std::time::Instant::now();
    let slice: ResourceSlice = decode(text.as_bytes()).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "a megabyte took {:?}", begun.elapsed());
    assert_eq!(slice.content, Content::Read { synthesis_uuid: "s".into(), resources: 1000, states: vec![] });
    // What is kept of it has no room for a manifest.
    assert!(format!("{slice:?}").len() < 1000);
}

#[test]
fn manifests_are_read_where_a_person_asks_for_them() {
    let spec = json!({"resources": [{"manifest": "{}"}, null, {"manifest": null, "deleted": true}]});
    let SliceManifests(manifests) = serde_json::from_value(slice(spec, json!(null))).unwrap();
    let seen: Vec<_> = manifests.iter().map(|one| (one.manifest.as_str(), one.deleted)).collect();
    assert_eq!(seen, [("{}", false), ("", false), ("", true)]);
}

#[test]
fn metadata_alone_leaves_the_content_unread() {
    let ResourceSlice { metadata, .. } = decoded(&slice(json!({}), json!({}))).unwrap();
    assert_eq!(ResourceSlice::of_metadata(metadata).content, Content::Unread);
}
