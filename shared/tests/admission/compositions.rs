//! C4 and C5: requests on compositions and symphonies.

use eno_shared::Lookup;
use eno_shared::admission::Outcome;
use eno_shared::admission::composition::{self, Evidence, Propagation};
use eno_shared::api::{OwnerReference, ResourceSlice, Symphony};
use eno_shared::fixtures::{content, delete, synthesis};
use eno_shared::names::FORCE_DELETE_WHEN_SYMPHONY_GONE;

use crate::{assert_answer, live, reconciled};

fn found(slice: &ResourceSlice) -> Evidence {
    Evidence { symphony: None, slices: vec![(slice.metadata.name.clone(), Lookup::Found(slice.clone()))] }
}

#[test]
fn live_composition_keeps_its_finalizer() {
    let (web, slice) = live();
    let parts =
        ["composition ns/web must keep its finalizer (CompositionLive)", "kubectl eno why composition/web -n ns"];
    assert_answer(&composition::update(&web, &found(&slice)), Outcome::Deny, "CompositionLive", &parts);
}

#[test]
fn composition_that_was_never_synthesized_may_end() {
    let (mut web, _) = reconciled();
    web.status.current_synthesis = None;
    let answer = composition::update(&web, &Evidence::default());
    assert_answer(&answer, Outcome::Allow, "NoCurrentSynthesis", &["composition ns/web"]);
}

#[test]
fn composition_ends_when_its_resources_are_gone() {
    let (web, mut slice) = reconciled();
    let parts =
        ["composition ns/web must keep its finalizer (NeededForDeletion)", "1 of the 2 resources", "slice web-a"];
    assert_answer(&composition::update(&web, &found(&slice)), Outcome::Deny, "NeededForDeletion", &parts);
    slice.content = content(2, 2);
    assert_answer(&composition::update(&web, &found(&slice)), Outcome::Allow, "CompositionReconciled", &[]);
}

#[test]
fn composition_whose_deletion_is_not_seen_keeps_its_finalizer() {
    let (mut web, mut slice) = live();
    delete(&mut web.metadata);
    slice.content = content(2, 2);
    let answer = composition::update(&web, &found(&slice));
    assert_answer(&answer, Outcome::Deny, "NeededForDeletion", &["Eno has not seen the deletion yet"]);
    assert_eq!(composition::wanted(&web), composition::Wanted::default(), "no slice can change that");
}

#[test]
fn composition_with_missing_slices_ends_with_a_warning_that_names_some() {
    let (mut web, _) = reconciled();
    let names = ["a", "b", "c", "d", "e"];
    let current = web.status.current_synthesis.as_mut().unwrap();
    current.resource_slices = synthesis("", &names).resource_slices;
    assert_eq!(composition::wanted(&web).slices, names);
    let slices = names.map(|name| (name.to_owned(), Lookup::Missing)).into();
    let answer = composition::update(&web, &Evidence { symphony: None, slices });
    assert_answer(&answer, Outcome::Allow, "ResourcesMayBeOrphaned", &["5 of its slices", "a, b, c and 2 more"]);
    assert_eq!(answer.warnings, std::slice::from_ref(&answer.message));
}

#[test]
fn composition_goes_with_its_symphony_only_where_it_asks_to_and_that_is_missing() {
    let (mut web, slice) = live();
    delete(&mut web.metadata);
    web.metadata.owner_references = vec![OwnerReference {
        api_version: "eno.azure.io/v1".into(),
        kind: "Symphony".into(),
        name: "shop".into(),
        uid: "u".into(),
        controller: true,
    }];
    assert_eq!(composition::wanted(&web).symphony, None, "the annotation is not there");
    web.metadata.annotations.insert(FORCE_DELETE_WHEN_SYMPHONY_GONE.into(), "false".into());
    assert_eq!(composition::wanted(&web).symphony, None, "the annotation says no");
    web.metadata.annotations.insert(FORCE_DELETE_WHEN_SYMPHONY_GONE.into(), "true".into());
    assert_eq!(composition::wanted(&web).symphony.as_deref(), Some("shop"));
    for (symphony, outcome, ground) in [
        (Lookup::Missing, Outcome::Allow, "SymphonyGone"),
        (Lookup::Found(Symphony::default()), Outcome::Deny, "NeededForDeletion"),
        (Lookup::Unknown("503".to_owned()), Outcome::Retry, "EvidenceUnknown"),
    ] {
        let answer = composition::update(&web, &Evidence { symphony: Some(symphony), ..found(&slice) });
        assert_answer(&answer, outcome, ground, &["composition ns/web"]);
    }
}

#[test]
fn composition_with_an_unread_slice_is_refused_for_now() {
    let (web, _) = reconciled();
    let slices = vec![("web-a".to_owned(), Lookup::Unknown("connection reset".to_owned()))];
    let answer = composition::update(&web, &Evidence { symphony: None, slices });
    assert_answer(&answer, Outcome::Retry, "EvidenceUnknown", &["slice web-a", "connection reset", "try again"]);
}

#[test]
fn deletion_of_composition_passes_and_says_what_will_happen() {
    let (mut web, _) = live();
    web.status.in_flight_synthesis = Some(synthesis("s2", &[]));
    let answer = composition::delete(&web, Propagation::Foreground, &["ns/api".to_owned()]);
    assert_eq!(answer.outcome, Outcome::Allow);
    for part in ["its 1 slice(s)", "dependents are gone: ns/api", "synthesis is in flight", "--cascade=foreground"] {
        assert!(answer.warnings.iter().any(|warning| warning.contains(part)), "{part:?} in {:?}", answer.warnings);
    }
    let answer = composition::delete(&web, Propagation::Orphan, &[]);
    assert!(answer.warnings.iter().any(|warning| warning.contains("--cascade=orphan")), "{:?}", answer.warnings);
    delete(&mut web.metadata);
    assert_eq!(composition::delete(&web, Propagation::Foreground, &[]).warnings, Vec::<String>::new());
}

#[test]
fn deletion_of_composition_that_orphans_says_so() {
    let (mut web, _) = live();
    web.metadata.annotations.insert("eno.azure.io/deletion-strategy".into(), "orphan".into());
    let answer = composition::delete(&web, Propagation::Background, &[]);
    assert_eq!(answer.warnings.len(), 1);
    assert!(answer.warnings[0].contains("left behind"), "{:?}", answer.warnings);
}

#[test]
fn deletion_of_composition_before_eno_holds_it_says_what_is_orphaned() {
    let (mut web, _) = live();
    web.metadata.finalizers.clear();
    let answer = composition::delete(&web, Propagation::Background, &[]);
    assert_eq!((answer.outcome, answer.warnings.len()), (Outcome::Allow, 1));
    let warning = &answer.warnings[0];
    assert!(warning.contains("lacks eno.azure.io/cleanup") && warning.contains("are orphaned"), "{warning}");
    assert!(warning.len() <= 256, "the API server would cut it: {warning}");
}

#[test]
fn deletion_of_symphony_passes_and_says_what_is_left_behind() {
    let mut symphony = Symphony::default();
    let answer = composition::delete_symphony(&symphony, Propagation::Background);
    assert_eq!((answer.outcome, answer.warnings.len()), (Outcome::Allow, 1));
    assert!(answer.warnings[0].contains("leaves the resources"), "{:?}", answer.warnings);
    assert_eq!(composition::delete_symphony(&symphony, Propagation::Foreground).warnings.len(), 2);
    delete(&mut symphony.metadata);
    assert_eq!(composition::delete_symphony(&symphony, Propagation::Foreground).warnings, Vec::<String>::new());
}
