//! The answers of part C: outcome, ground, and what the message tells the person who is refused.

mod admission {
    mod compositions;
    mod slices;
}

use std::sync::Arc;

use eno_shared::admission::{Answer, Ground, Outcome, carries_override, definition};
use eno_shared::api::{Composition, Metadata, ResourceSlice};
use eno_shared::fixtures::{content, delete, synthesis};
use eno_shared::names::FORCE_ANNOTATION;
use eno_shared::{Compositions, Lookup, fixtures};

/// A live composition whose current synthesis lists `web-a`, and that slice.
fn live() -> (Composition, ResourceSlice) {
    let mut web = fixtures::composition("web");
    web.status.current_synthesis = Some(synthesis("s1", &["web-a"]));
    let mut slice = fixtures::slice("web-a", &web);
    slice.content = content(2, 1);
    (web, slice)
}

/// The same composition, being deleted; Eno has seen it, and says that all is done.
fn reconciled() -> (Composition, ResourceSlice) {
    let (mut web, slice) = live();
    delete(&mut web.metadata);
    web.status.current_synthesis.as_mut().unwrap().observed_composition_generation = web.metadata.generation;
    (web, slice)
}

fn among(compositions: &[&Composition]) -> Compositions {
    let found = |composition: &&Composition| {
        (composition.metadata.name.clone(), Lookup::Found(Arc::new((*composition).clone())))
    };
    Compositions::whole(compositions.iter().map(found))
}

#[track_caller]
fn assert_answer(answer: &Answer, outcome: Outcome, ground: &str, parts: &[&str]) {
    assert_eq!((answer.outcome, answer.ground.as_str()), (outcome, ground), "{answer:?}");
    for part in parts {
        assert!(answer.message.contains(part), "{part:?} is not in {:?}", answer.message);
    }
}

#[test]
fn override_holds_for_its_own_object_only() {
    let mut metadata = Metadata { uid: "u-1".into(), ..Metadata::default() };
    assert!(!carries_override(&metadata));
    for (value, carries) in [("u-1", true), ("u-2", false), ("true", false), ("", false)] {
        metadata.annotations.insert(FORCE_ANNOTATION.into(), value.into());
        assert_eq!(carries_override(&metadata), carries, "{value:?}");
    }
    metadata.uid.clear();
    assert!(!carries_override(&metadata), "an object without a uid is not overridden by an empty annotation");
}

#[test]
fn definitions_of_eno_go_only_when_they_are_empty() {
    let slices = "resourceslices.eno.azure.io";
    let instance = || Lookup::Found("ns/web-a".to_owned());
    let unknown = || Lookup::Unknown("403".to_owned());
    let parts = ["customresourcedefinition resourceslices.eno.azure.io", "ns/web-a exists", "kubectl get"];
    assert_answer(&definition::delete(slices, &instance()), Outcome::Deny, "ObjectsExist", &parts);
    assert_answer(&definition::delete(slices, &Lookup::Missing), Outcome::Allow, "NoObjects", &[slices]);
    assert_answer(&definition::delete(slices, &unknown()), Outcome::Retry, "EvidenceUnknown", &["403"]);
    for other in ["resourceslices.resource.k8s.io", "resourceslices.fake.eno.azure.io", "eno.azure.io", ""] {
        assert_answer(&definition::delete(other, &instance()), Outcome::Allow, "NotGuarded", &[]);
    }
}

#[test]
fn words_of_outcomes_are_fixed() {
    let words = [Outcome::Allow, Outcome::Deny, Outcome::Retry].map(Outcome::as_str);
    assert_eq!(words, ["allow", "deny", "retry"]);
    assert_eq!(Ground::OwnerExists.to_string(), "OwnerExists");
}
