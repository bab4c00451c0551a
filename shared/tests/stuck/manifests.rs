//! What the manifests of a synthesis show.

use crate::*;

fn manifests(manifests: &[&str]) -> SliceManifests {
    let manifest = |text: &&str| Manifest { manifest: (*text).into(), deleted: false };
    SliceManifests(manifests.iter().map(manifest).collect())
}

pub fn states_of_manifests() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let object = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"x"}}"#;
    let version = r#"{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"name":"web","namespace":"x"}}"#;
    let other = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}"#;
    let crd = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.b",
        "annotations":{"eno.azure.io/readiness-group":"2"}},"spec":{"group":"b","names":{"kind":"A"}}}"#;
    let of_kind = |group: &str| {
        format!(
            r#"{{"apiVersion":"b/v1","kind":"A","metadata":{{"name":"a","annotations":{{"eno.azure.io/readiness-group":"{group}"}}}}}}"#
        )
    };
    let (early, late) = (of_kind("1"), of_kind("3"));
    let blockers = |slices: &[SliceManifests], deleting| {
        let named: Vec<_> = slices.iter().map(|slice| ("web-a", slice)).collect();
        manifest_blockers(&named, deleting)
    };
    vec![
        state("two resources", blockers(&[manifests(&[object, other])], false), &[]),
        state(
            "same in two slices",
            blockers(&[manifests(&[object]), manifests(&[version])], true),
            &["DuplicateResource"],
        ),
        state("same in one slice", blockers(&[manifests(&[object, object])], false), &["DuplicateResource"]),
        state("no object", blockers(&[manifests(&["{}"])], false), &["MalformedManifest"]),
        state("definition after object", blockers(&[manifests(&[&early, crd])], false), &["ReadinessDeadlock"]),
        state("definition before object", blockers(&[manifests(&[&late, crd])], false), &[]),
        state("deletion knows no readiness", blockers(&[manifests(&[&early, crd])], true), &[]),
    ]
}
