//! What holds a deletion up: which blockers each state shows, and that each code is shown by some state.

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

fn states_of_live_compositions() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let with = |change: &dyn Fn(&mut Composition)| {
        let mut web = staying();
        change(&mut web);
        web
    };
    let slice = slice("web-a", content(2, 0));
    let a = [("web-a", Lookup::Found(&slice))];
    let blocked = |web: &mut Composition, by: &str| {
        let blocked_by = vec![BlockedBy { name: by.into(), namespace: "ns".into() }];
        let reason = "WaitingOnDependencies".into();
        web.status.dependency_status = Some(DependencyStatus { blocked: true, reason, blocked_by });
        web.spec.depends_on = depending(by, "");
    };
    let simplified = |status: &str| with(&|web| web.status.simplified.status = status.into());
    let unreconciled = with(&|web| web.status.current_synthesis.as_mut().unwrap().reconciled = None);
    let ignoring = with(&|web| drop(web.metadata.annotations.insert(IGNORE_SIDE_EFFECTS.into(), "true".into())));
    let selecting = with(&|web| web.spec.synthesizer.has_selector = true);
    let long = with(&|web| {
        web.metadata.name = "x".repeat(64);
        *web = in_flight(web.clone());
    });
    let failing = with(&|web| {
        let canceled = Some(ago(5));
        web.status.in_flight_synthesis = Some(eno_shared::api::Synthesis { canceled, ..synthesis("s2", &[]) });
    });
    let mut pending = slice.clone();
    if let Content::Read { states, .. } = &mut pending.content {
        states[0].reconciled = false;
    }
    vec![
        state("reconciled", of_composition(&staying(), &a), &[]),
        state("in flight", of_composition(&in_flight(staying()), &a), &["SynthesisInFlight"]),
        state("given up", of_composition(&failing, &a), &["SynthesisFailing"]),
        state("name too long", of_composition(&long, &a), &["NameTooLong"]),
        state("label selector only", of_composition(&selecting, &a), &["SelectorIgnored"]),
        state("no synthesizer", of_composition(&simplified("MissingSynthesizer"), &a), &["SynthesizerMissing"]),
        state("no inputs", of_composition(&simplified("MissingInputs"), &a), &["InputsMissing"]),
        state("dependency", of_composition(&with(&|web| blocked(web, "db")), &a), &["DependenciesNotReady"]),
        state("depends on itself", of_composition(&with(&|web| blocked(web, "web")), &a), &["CircularDependency"]),
        state("all at work", of_composition(&unreconciled, &[("web-a", Lookup::Found(&pending))]), &["Unreconciled"]),
        state(
            "slice missing, new syntheses forbidden",
            of_composition(&ignoring, &[("web-a", Lookup::Missing)]),
            &["MissingSlice", "SideEffectsIgnored"],
        ),
        state("slice missing, Eno heals it", of_composition(&staying(), &[("web-a", Lookup::Missing)]), &[]),
    ]
}

fn states_of_deletions() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let mut unowned = slice("web-a", content(2, 1));
    unowned.metadata.owner_references.clear();
    let mut forced = going();
    forced.metadata.annotations.insert(FORCE_DELETE_WHEN_SYMPHONY_GONE.into(), "true".into());
    let mut waiting = going();
    waiting.status.dependency_status = Some(DependencyStatus {
        blocked: true,
        reason: "WaitingOnDependents".into(),
        blocked_by: vec![BlockedBy { name: "api".into(), namespace: "ns".into() }],
    });
    let mut dependent = fixtures::composition("api");
    let edited = composition_blockers(&waiting, &[], &among(&[waiting.clone(), dependent.clone()]), None);
    dependent.spec.depends_on = depending("web", "ns");
    let depends = composition_blockers(&waiting, &[], &among(&[waiting.clone(), dependent]), None);
    let unknown = composition_blockers(&waiting, &[], &Compositions::partial([], "403"), None);
    vec![
        state(
            "orphan cascade",
            of_composition(&going(), &[("web-a", Lookup::Found(&unowned))]),
            &["SlicesUnowned", "ResourcesLeft"],
        ),
        state(
            "forced without a symphony",
            of_composition(&forced, &[("web-a", Lookup::Found(&slice("web-a", content(1, 0))))]),
            &["ResourcesLeft", "ForceDeleteIneffective"],
        ),
        state("dependent was edited", edited, &["StaleDependents"]),
        state("dependent is gone", of_composition(&waiting, &[]), &["StaleDependents"]),
        state("dependent depends", depends, &["DependentsExist"]),
        state("dependent unknown", unknown, &["DependentsExist"]),
    ]
}

fn manifests(manifests: &[&str]) -> SliceManifests {
    let manifest = |text: &&str| Manifest { manifest: (*text).into(), deleted: false };
    SliceManifests(manifests.iter().map(manifest).collect())
}

fn states_of_manifests() -> Vec<State> {
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

fn states_of_surroundings() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let live = Symphony { metadata: fixtures::composition("all").metadata, ..Symphony::default() };
    let mut leaving = live.clone();
    delete(&mut leaving.metadata);
    let mut held = leaving.clone();
    held.metadata.finalizers = vec!["a/b".into()];
    let (reconciled, web) = (staying(), fixtures::composition("web"));
    let some = EnoObjects { compositions: 1, ..EnoObjects::default() };
    let mut pod = fixtures::composition("pod").metadata;
    pod.finalizers.clear();
    let alive = pod_blockers(&pod, now());
    delete(&mut pod);
    let overdue = pod_blockers(&pod, now());
    let in_time = pod_blockers(&pod, ago(90));
    pod.finalizers.push("a/b".into());
    vec![
        state("symphony", symphony_blockers(&live, &[&reconciled]), &[]),
        state("symphony at work", symphony_blockers(&live, &[&reconciled, &web]), &["CompositionsUnreconciled"]),
        state("symphony going", symphony_blockers(&leaving, &[&web]), &["CompositionsLeft"]),
        state("symphony that nobody releases", symphony_blockers(&leaving, &[]), &["NobodyActs"]),
        state("symphony held by others", symphony_blockers(&held, &[]), &["ForeignFinalizer"]),
        state("namespace", namespace_blockers(false, some), &[]),
        state("namespace going", namespace_blockers(true, some), &["ObjectsLeft"]),
        state("empty namespace going", namespace_blockers(true, EnoObjects::default()), &[]),
        state("pod", alive, &[]),
        state("pod going", in_time, &[]),
        state("pod overdue", overdue, &["PodOverdue"]),
        state("pod held", pod_blockers(&pod, ago(90)), &["ForeignFinalizer"]),
    ]
}

fn all_states() -> impl Iterator<Item = State> {
    states_of_compositions()
        .into_iter()
        .chain(states_of_live_compositions())
        .chain(states_of_deletions())
        .chain(states_of_manifests())
        .chain(states_of_surroundings())
        .chain(states_of_slices())
}

fn states_of_slices() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let held = slice("web-a", content(2, 1));
    let with = |content| slice("web-a", content);
    let mut unseen = going();
    unseen.metadata.generation += 1;
    let mut ignoring = staying();
    ignoring.metadata.annotations.insert(IGNORE_SIDE_EFFECTS.into(), "true".into());
    let mut unowned = held.clone();
    unowned.metadata.owner_references.clear();
    let mut foreign = held.clone();
    foreign.metadata.finalizers = vec!["a/b".into()];
    let mut garbage = held.clone();
    garbage.metadata.deletion_timestamp = None;
    let mut kept = garbage.clone();
    kept.metadata.name = "web-b".into();
    vec![
        state("kept", of_slice(&kept, &[going()], None), &[]),
        state("garbage", of_slice(&garbage, &[], None), &["NobodyActs"]),
        state("owner gone", of_slice(&held, &[], None), &["NobodyActs"]),
        state("owner unknown", slice_blockers_unknown(&held), &[]),
        state("resources left", of_slice(&held, &[going()], None), &["ResourcesLeft"]),
        state("no state", of_slice(&with(stateless(2)), &[going()], None), &["NoReconcilerSeen"]),
        state(
            "all deleted, the composition at work",
            of_slice(&with(content(3, 3)), &[going()], None),
            &["NotReconciled"],
        ),
        state("states do not match", of_slice(&mismatched(), &[going()], None), &["StatusMismatch"]),
        state("deletion not seen", of_slice(&held, &[unseen], None), &["DeletionNotObserved"]),
        state("in flight", of_slice(&held, &[in_flight(staying())], None), &["SynthesisInFlight"]),
        state("live owner", of_slice(&held, &[staying()], Some(false)), &["ResynthesisNeeded"]),
        state(
            "live owner, namespace going",
            of_slice(&held, &[staying()], Some(true)),
            &["ResynthesisNeeded", "NamespaceTerminating"],
        ),
        state("live owner that ignores", of_slice(&held, &[ignoring], None), &["SideEffectsIgnored"]),
        state("no owner", of_slice(&unowned, &[], None), &["NoOwner"]),
        state("finalizer of others", of_slice(&foreign, &[], None), &["ForeignFinalizer"]),
    ]
}

fn mismatched() -> ResourceSlice {
    let mut slice = slice("web-a", content(1, 1));
    if let Content::Read { resources, .. } = &mut slice.content {
        *resources = 2;
    }
    slice
}

fn slice_blockers_unknown(slice: &ResourceSlice) -> Vec<Blocker> {
    let unknown = Compositions::partial([], "403");
    slice_blockers(slice, &judge(slice, &unknown, now()), &unknown, None)
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
