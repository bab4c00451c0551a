//! The promises of the rules, held against arbitrary objects: what the named mutations of the state space do not reach.

mod random {
    pub mod json;
    pub mod objects;
}

use eno_shared::Verdict::{self, Collect, Hold, Keep, Release, Unknown, Wait};
use eno_shared::admission::Outcome;
use eno_shared::admission::slice::{Dropped, delete, update};
use eno_shared::api::{Composition, Content, ResourceSlice, Symphony, Synthesis, decode};
use eno_shared::judge::{keepers, releasable};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_shared::{Judgement, Lookup, Reason, fixtures, judge};
use proptest::prelude::*;
use random::json::{json, object_of};
use random::objects::{Namespace, composition_name, namespace, slice, time};

fn quickly() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) }
}

/// Does the verdict let the slice go, though Eno's finalizer was to hold it?
fn frees(judgement: &Judgement) -> bool {
    match judgement.verdict {
        Collect => true,
        Release => judgement.reason != Reason::NoFinalizer,
        Keep | Wait | Hold | Unknown => false,
    }
}

fn lists(synthesis: Option<&Synthesis>, slice: &ResourceSlice) -> bool {
    synthesis.is_some_and(|synthesis| synthesis.resource_slices.iter().any(|found| *found.name == *slice.metadata.name))
}

/// Compositions that need the slice: those that stay, and those that Eno must still delete by it.
fn needs(composition: &Composition, slice: &ResourceSlice) -> bool {
    let Some(current) = composition.status.current_synthesis.as_ref().filter(|current| lists(Some(current), slice))
    else {
        return false;
    };
    let metadata = &composition.metadata;
    if metadata.deletion_timestamp.is_none() {
        return true;
    }
    let is_finished = !metadata.finalizers.iter().any(|finalizer| finalizer == CLEANUP_FINALIZER);
    let is_over = current.reconciled.is_some() && current.observed_composition_generation >= metadata.generation;
    let all_deleted = match &slice.content {
        Content::Unread => false,
        Content::Read { resources, states, .. } => {
            states.len() == *resources && states.iter().all(|state| state.deleted)
        }
    };
    let orphans = metadata.annotations.get("eno.azure.io/deletion-strategy").is_some_and(|value| value == "orphan")
        || metadata.labels.get("eno.azure.io/symphony-deleting").is_some_and(|value| value == "true");
    !is_finished && !(is_over && (all_deleted || orphans))
}

fn strip(slice: &ResourceSlice, namespace: &Namespace) -> Outcome {
    update(slice, Dropped { finalizer: true, owner: false }, &namespace.compositions(), false).outcome
}

proptest! {
    #![proptest_config(quickly())]

    #[test]
    fn never_frees_what_a_composition_needs(slice in slice(), namespace in namespace()) {
        let compositions = namespace.compositions();
        if namespace.found().any(|composition| needs(composition, &slice)) {
            prop_assert_ne!(releasable(&slice, &compositions).verdict, Release);
            prop_assert!(!frees(&judge(&slice, &compositions, fixtures::now())));
            prop_assert_ne!(strip(&slice, &namespace), Outcome::Allow);
            if slice.metadata.deletion_timestamp.is_none() {
                prop_assert_ne!(delete(&slice, &compositions, fixtures::now()).outcome, Outcome::Allow);
            }
        }
    }

    #[test]
    fn unknown_never_frees(slice in slice(), namespace in namespace()) {
        if !namespace.is_known() {
            prop_assert!(!frees(&judge(&slice, &namespace.compositions(), fixtures::now())));
            prop_assert_ne!(strip(&slice, &namespace), Outcome::Allow);
        }
    }

    #[test]
    fn one_more_unknown_composition_never_frees(
        slice in slice(), namespace in namespace(), name in composition_name(),
    ) {
        let mut less = namespace.clone();
        less.read.insert(name, Lookup::Unknown("timeout".into()));
        prop_assert!(!frees(&judge(&slice, &less.compositions(), fixtures::now())));
    }

    #[test]
    fn what_is_held_or_kept_in_ignorance_is_so_in_knowledge(slice in slice(), namespace in namespace()) {
        let part = judge(&slice, &Namespace { whole: false, ..namespace.clone() }.compositions(), fixtures::now());
        let whole = judge(&slice, &Namespace { whole: true, ..namespace }.compositions(), fixtures::now());
        // A finished composition is emptied only once all others are known.
        let emptied = matches!(whole.reason, Reason::CompositionFinished { .. });
        if matches!(part.verdict, Keep | Hold) && !emptied {
            prop_assert_eq!(part, whole);
        }
    }

    #[test]
    fn what_is_garbage_stays_garbage(slice in slice(), namespace in namespace(), later in time()) {
        let compositions = namespace.compositions();
        let is_garbage = |now| judge(&slice, &compositions, now).verdict == Collect;
        if is_garbage(fixtures::now()) && later > fixtures::now() && slice.metadata.creation_timestamp.is_some() {
            prop_assert!(is_garbage(later));
        }
    }

    #[test]
    fn time_changes_nothing_but_waits(slice in slice(), namespace in namespace(), one in time(), other in time()) {
        let compositions = namespace.compositions();
        let (one, other) = (judge(&slice, &compositions, one), judge(&slice, &compositions, other));
        let waits = [&one, &other].iter().any(|judgement| judgement.verdict == Wait);
        prop_assert!(waits || one == other);
    }

    #[test]
    fn verdict_suits_the_slice(slice in slice(), namespace in namespace()) {
        let verdict = judge(&slice, &namespace.compositions(), fixtures::now()).verdict;
        let suits: &[Verdict] = match slice.metadata.deletion_timestamp {
            Some(_) => &[Hold, Release, Unknown],
            None => &[Keep, Collect, Wait, Unknown],
        };
        prop_assert!(suits.contains(&verdict));
    }

    #[test]
    fn whoever_keeps_a_slice_is_among_its_keepers(slice in slice(), namespace in namespace()) {
        let compositions = namespace.compositions();
        let judgement = judge(&slice, &compositions, fixtures::now());
        let keepers = keepers(&slice, &compositions);
        if let (Keep, Some(keeper)) = (judgement.verdict, judgement.reason.composition()) {
            prop_assert!(keepers.iter().any(|found| found.metadata.name == keeper), "{judgement}: {keepers:?}");
        }
    }

    #[test]
    fn strip_passes_exactly_where_part_b_releases(slice in slice(), namespace in namespace()) {
        let releases = releasable(&slice, &namespace.compositions()).verdict == Release;
        prop_assert_eq!(strip(&slice, &namespace) == Outcome::Allow, releases);
    }

    #[test]
    fn reading_the_content_never_frees_what_is_not_wanted_read(slice in slice(), namespace in namespace()) {
        let unread = ResourceSlice { content: Content::Unread, ..slice.clone() };
        let compositions = namespace.compositions();
        let blind = judge(&unread, &compositions, fixtures::now());
        if !blind.wants_content {
            prop_assert_eq!(blind.verdict, judge(&slice, &compositions, fixtures::now()).verdict);
        }
    }

    #[test]
    fn decoding_never_panics(
        bytes in any::<Vec<u8>>(), json in json(), composition in object_of("Composition"),
        slice in object_of("ResourceSlice"), symphony in object_of("Symphony"),
    ) {
        for text in [bytes, json.to_string().into(), composition.to_string().into(), slice.to_string().into(),
            symphony.to_string().into()] {
            let _ = decode::<Composition>(&text);
            let _ = decode::<ResourceSlice>(&text);
            let _ = decode::<Symphony>(&text);
        }
    }
}
