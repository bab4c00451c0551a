//! What holds a deletion up: which blockers each state shows, and that each code is shown by some state.

mod stuck {
    pub mod deletions;
    pub mod live;
    pub mod manifests;
    pub mod slices;
    pub mod surroundings;
}

use std::collections::BTreeSet;
use std::sync::Arc;

use eno_shared::api::{
    BlockedBy, Composition, CompositionRef, Content, DependencyStatus, Manifest, ResourceSlice, SliceManifests,
    Symphony,
};
use eno_shared::fixtures::{ago, content, delete, now, synthesis};
use eno_shared::names::{DELETION_STRATEGY, FORCE_DELETE_WHEN_SYMPHONY_GONE, IGNORE_SIDE_EFFECTS};
use eno_shared::stuck::{
    Blocker, EnoObjects, composition_blockers, manifest_blockers, namespace_blockers, pod_blockers, slice_blockers,
    symphony_blockers,
};
use eno_shared::{Compositions, Lookup, fixtures, judge};

/// A composition that is being deleted, which Eno has seen; its resources are not gone.
fn going() -> Composition {
    let mut web = fixtures::composition("web");
    delete(&mut web.metadata);
    let mut current = synthesis("s1", &["web-a", "web-b"]);
    current.observed_composition_generation = web.metadata.generation;
    current.reconciled = None;
    web.status.current_synthesis = Some(current);
    web
}

/// A slice of it that is being deleted too.
fn slice(name: &str, content: Content) -> ResourceSlice {
    let mut slice = ResourceSlice { content, ..fixtures::slice(name, &going()) };
    delete(&mut slice.metadata);
    slice
}

fn among(compositions: &[Composition]) -> Compositions {
    let found =
        |composition: &Composition| (composition.metadata.name.clone(), Lookup::Found(Arc::new(composition.clone())));
    Compositions::whole(compositions.iter().map(found))
}

fn of_composition(composition: &Composition, slices: &[(&str, Lookup<&ResourceSlice>)]) -> Vec<Blocker> {
    let slices: Vec<_> = slices.iter().map(|(name, slice)| ((*name).to_owned(), slice.clone())).collect();
    composition_blockers(composition, &slices, &among(std::slice::from_ref(composition)), Some(true))
}

fn of_slice(slice: &ResourceSlice, compositions: &[Composition], terminating: Option<bool>) -> Vec<Blocker> {
    let compositions = among(compositions);
    slice_blockers(slice, &judge(slice, &compositions, now()), &compositions, terminating)
}

fn in_flight(mut composition: Composition) -> Composition {
    composition.status.in_flight_synthesis = Some(synthesis("s2", &["web-a"]));
    composition
}

/// A live composition that needs the slice.
fn staying() -> Composition {
    let mut web = fixtures::composition("web");
    web.status.current_synthesis = Some(synthesis("s1", &["web-a"]));
    web
}

fn erring() -> ResourceSlice {
    let mut slice = slice("web-a", content(2, 0));
    if let Content::Read { states, .. } = &mut slice.content {
        states[1].reconciliation_error = "forbidden".into();
    }
    slice
}

fn stateless(resources: usize) -> Content {
    Content::Read { synthesis_uuid: String::new(), resources, states: vec![] }
}

fn depending(on: &str, namespace: &str) -> Vec<CompositionRef> {
    vec![CompositionRef { name: on.into(), namespace: namespace.into() }]
}

/// A state, and the codes that it must show.
struct State {
    name: &'static str,
    blockers: Vec<Blocker>,
    codes: &'static [&'static str],
}

fn states_of_compositions() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let left = slice("web-a", content(2, 1));
    let a = |slice| [("web-a", Lookup::Found(slice)), ("web-b", Lookup::Missing)];
    let live = fixtures::composition("web");
    let mut unseen = going();
    unseen.metadata.generation += 1;
    let mut dependents = going();
    dependents.status.dependency_status = Some(DependencyStatus {
        blocked: true,
        reason: "WaitingOnDependents".into(),
        blocked_by: vec![BlockedBy { name: "api".into(), namespace: "elsewhere".into() }],
    });
    let mut own_circle = going();
    own_circle.spec.depends_on = depending("web", "");
    let mut orphaning = going();
    orphaning.metadata.annotations.insert(DELETION_STRATEGY.into(), "orphan".into());
    let mut finished = going();
    finished.metadata.finalizers = vec!["foregroundDeletion".into()];
    let done = slice("web-a", content(1, 1));
    vec![
        state("live", of_composition(&live, &[]), &[]),
        state("deletion not seen", of_composition(&unseen, &a(&left)), &["DeletionNotObserved"]),
        state(
            "dependents",
            of_composition(&dependents, &[("web-a", Lookup::Found(&left))]),
            &["DependentsExist", "ResourcesLeft"],
        ),
        state("depends on itself", of_composition(&own_circle, &[]), &["CircularDependency"]),
        state("in flight", of_composition(&in_flight(going()), &[]), &["SynthesisInFlight"]),
        state(
            "one slice missing, namespace going",
            of_composition(&going(), &a(&left)),
            &["MissingSlice", "ResourcesLeft", "NamespaceTerminating"],
        ),
        state(
            "errors",
            of_composition(&going(), &[("web-a", Lookup::Found(&erring()))]),
            &["ReconcileError", "ResourcesLeft"],
        ),
        state("orphaning", of_composition(&orphaning, &a(&left)), &["NobodyActs"]),
        state("finished, foreground", of_composition(&finished, &[]), &["ForeignFinalizer"]),
        state("all deleted", of_composition(&going(), &[("web-a", Lookup::Found(&done))]), &["NobodyActs"]),
    ]
}

fn all_states() -> impl Iterator<Item = State> {
    states_of_compositions()
        .into_iter()
        .chain(stuck::live::states_of_live_compositions())
        .chain(stuck::deletions::states_of_deletions())
        .chain(stuck::manifests::states_of_manifests())
        .chain(stuck::surroundings::states_of_surroundings())
        .chain(stuck::slices::states_of_slices())
}

#[test]
fn each_state_shows_its_blockers() {
    for State { name, blockers, codes } in all_states() {
        let shown: Vec<_> = blockers.iter().map(Blocker::code).collect();
        assert_eq!(shown, codes, "{name}");
    }
}

#[test]
fn each_code_is_shown_by_some_state() {
    let shown: BTreeSet<_> = all_states().flat_map(|state| state.blockers).map(|blocker| blocker.code()).collect();
    let closed_list = [
        "CircularDependency",
        "CompositionsLeft",
        "CompositionsUnreconciled",
        "DeletionNotObserved",
        "DependenciesNotReady",
        "DependentsExist",
        "DuplicateResource",
        "ForceDeleteIneffective",
        "ForeignFinalizer",
        "InputsMissing",
        "MalformedManifest",
        "MissingSlice",
        "NameTooLong",
        "NamespaceTerminating",
        "NoOwner",
        "NoReconcilerSeen",
        "NobodyActs",
        "NotReconciled",
        "ObjectsLeft",
        "PodOverdue",
        "ReadinessDeadlock",
        "ReconcileError",
        "ResourcesLeft",
        "ResynthesisNeeded",
        "SelectorIgnored",
        "SideEffectsIgnored",
        "SlicesUnowned",
        "StaleDependents",
        "StatusMismatch",
        "SynthesisFailing",
        "SynthesisInFlight",
        "SynthesizerMissing",
        "Unreconciled",
    ];
    assert_eq!(shown.into_iter().collect::<Vec<_>>(), closed_list);
}

#[test]
fn circle_names_every_composition_of_it() {
    let names = ["web", "api", "db"];
    let mut compositions = names.map(|name| Composition { metadata: fixtures::composition(name).metadata, ..going() });
    for (index, composition) in compositions.iter_mut().enumerate() {
        delete(&mut composition.metadata);
        composition.spec.depends_on = depending(names[(index + 1) % 3], "ns");
    }
    let blockers = composition_blockers(&compositions[0], &[], &among(&compositions), None);
    let circle = ["ns/web", "ns/api", "ns/db", "ns/web"].map(str::to_owned).to_vec();
    assert!(blockers.contains(&Blocker::CircularDependency { circle }), "{blockers:?}");
    compositions[2].spec.depends_on = depending("web", "elsewhere");
    let blockers = composition_blockers(&compositions[0], &[], &among(&compositions), None);
    assert!(!blockers.iter().any(|blocker| blocker.code() == "CircularDependency"), "{blockers:?}");
}

#[test]
fn resources_of_all_slices_are_counted_together() {
    let (one, two) = (slice("web-a", content(3, 1)), slice("web-b", content(4, 4)));
    let slices = [("web-a", Lookup::Found(&one)), ("web-b", Lookup::Found(&two))];
    assert_eq!(of_composition(&going(), &slices), [Blocker::ResourcesLeft { left: 2, of: 3 }]);
    let two = slice("web-b", content(4, 3));
    let slices = [("web-a", Lookup::Found(&one)), ("web-b", Lookup::Found(&two))];
    assert_eq!(of_composition(&going(), &slices), [Blocker::ResourcesLeft { left: 3, of: 7 }]);
}

#[test]
fn errors_of_all_resources_are_counted_and_the_first_is_told() {
    let (mut one, two) = (erring(), erring());
    if let Content::Read { states, .. } = &mut one.content {
        states[0].reconciliation_error = "first".into();
    }
    let slices = [("web-a", Lookup::Found(&one)), ("web-b", Lookup::Found(&two))];
    let expected = Blocker::ReconcileError { error: "first".into(), resources: 3 };
    assert_eq!(of_composition(&going(), &slices)[0], expected);
}

#[test]
fn composition_with_all_slices_missing_waits_for_none() {
    let slices = [("web-a", Lookup::Missing), ("web-b", Lookup::Missing)];
    assert_eq!(of_composition(&going(), &slices), [Blocker::NobodyActs]);
}

#[test]
fn each_blocker_is_told_in_a_sentence_of_its_own() {
    let mut seen = BTreeSet::new();
    for blocker in all_states().flat_map(|state| state.blockers) {
        let sentence = blocker.to_string();
        assert!(sentence.len() > 20 && !sentence.ends_with('.'), "{}: {sentence:?}", blocker.code());
        seen.insert(sentence);
    }
    assert!(seen.len() >= 33);
}

#[test]
fn the_page_of_codes_lists_each_code_once() {
    let page = include_str!("../../docs/codes.md");
    let blockers = page.split("## Blockers").nth(1).and_then(|rest| rest.split("## Dangers").next()).unwrap();
    let rows = blockers.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| code"));
    let listed: Vec<&str> = rows.filter_map(|row| row.split('|').nth(1)).map(str::trim).collect();
    let shown: BTreeSet<_> = all_states().flat_map(|state| state.blockers).map(|blocker| blocker.code()).collect();
    assert_eq!(listed, shown.into_iter().collect::<Vec<_>>());
}
