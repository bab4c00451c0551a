//! What the store must not forget, and what it must.

use super::*;
use eno_shared::fixtures::{composition, slice, synthesis};

fn store() -> Store {
    let mut store = Store::new(&scopes(&[]));
    store.slices_listed(&None);
    store.compositions_listed(&None);
    store
}

fn see(store: &mut Store, name: &str, owner: &Composition) -> Key {
    store.slice_seen(slice(name, owner).metadata)
}

fn names(mut keys: Vec<Key>) -> Vec<String> {
    keys.sort();
    keys.into_iter().map(|key| key.name.to_string()).collect()
}

#[test]
fn says_nothing_before_both_lists_were_read_whole() {
    let mut store = Store::new(&scopes(&[]));
    let key = see(&mut store, "a", &composition("web"));
    store.slices_listed(&None);
    assert!(!store.synced() && store.compositions(&key.namespace).is_none(), "an unread composition is not missing");
    store.compositions_listed(&None);
    assert!(store.synced() && store.compositions(&key.namespace).is_some());
}

#[test]
fn gives_back_what_rules_need() {
    let (mut store, owner) = (store(), composition("web"));
    let key = see(&mut store, "a", &owner);
    let mut expected = slice("a", &owner).metadata;
    expected.generation = 0;
    assert_eq!(store.slice(&key).unwrap(), ResourceSlice::of_metadata(expected));
}

#[test]
fn a_composition_concerns_what_it_owns_refers_to_and_referred_to() {
    let (mut store, mut web) = (store(), composition("web"));
    for name in ["owned", "unrelated"] {
        see(&mut store, name, &composition(if name == "owned" { "web" } else { "api" }));
    }
    for name in ["old", "new", "flying"] {
        see(&mut store, name, &composition("gone"));
    }
    web.status.current_synthesis = Some(synthesis("1", &["old"]));
    let place = Key::new("ns", "web");
    store.composition_seen(place.clone(), Lookup::Found(Arc::new(web.clone())));
    web.status.current_synthesis = Some(synthesis("2", &["new", "not-there"]));
    web.status.in_flight_synthesis = Some(synthesis("3", &["flying"]));
    let concerned = store.composition_seen(place.clone(), Lookup::Found(Arc::new(web)));
    assert_eq!(names(concerned), ["flying", "new", "old", "owned"]);
    assert_eq!(names(store.concerned(&place)), ["flying", "new", "owned"]);
    assert_eq!(store.concerned(&Key::new("elsewhere", "web")), []);
    assert_eq!(names(store.composition_gone(&place)), ["flying", "new", "owned"]);
}

#[test]
fn finds_what_was_deleted_while_nobody_watched() {
    let (mut store, web) = (store(), composition("web"));
    see(&mut store, "a", &web);
    see(&mut store, "b", &web);
    store.composition_seen(Key::new("ns", "web"), Lookup::Found(Arc::new(web.clone())));
    store.slices_relist(&None);
    store.compositions_relist(&None);
    assert!(!store.synced());
    see(&mut store, "b", &web);
    store.slices_listed(&None);
    assert_eq!(names(store.keys().collect()), ["b"]);
    assert_eq!(names(store.compositions_listed(&None)), ["b"], "its composition went in the gap");
    assert_eq!(store.compositions("ns").unwrap().get("web"), Lookup::Missing);
}

#[test]
fn a_list_that_is_begun_again_before_its_end_counts_from_its_last_beginning() {
    let (mut store, web) = (store(), composition("web"));
    for name in ["a", "b", "c"] {
        see(&mut store, name, &web);
    }
    store.slices_relist(&None);
    see(&mut store, "a", &web);
    see(&mut store, "new", &web);
    store.slices_relist(&None);
    assert!(!store.synced(), "the first list has no end");
    see(&mut store, "b", &web);
    let gone = store.slices_listed(&None);
    assert_eq!(names(gone.into_iter().collect()), ["a", "c", "new"], "only the second list has seen all");
    assert_eq!(names(store.keys().collect()), ["b"]);
}

#[test]
fn a_relist_of_one_namespace_leaves_the_others() {
    let (one, two) = (Some(Arc::from("one")), Some(Arc::from("two")));
    let mut store = Store::new(&[one.clone(), two.clone()]);
    for namespace in ["one", "two"] {
        let metadata = Metadata { namespace: namespace.into(), ..slice("a", &composition("web")).metadata };
        store.slice_seen(metadata);
    }
    store.slices_listed(&one);
    store.slices_relist(&one);
    store.slices_listed(&one);
    assert_eq!(store.keys().map(|key| key.namespace.to_string()).collect::<Vec<_>>(), ["two"]);
    assert!(!store.synced(), "namespace two was not listed yet");
}

#[test]
fn keeps_nothing_of_what_is_gone() {
    let (mut store, web) = (store(), composition("web"));
    let key = see(&mut store, "a", &web);
    store.judged(&key, Verdict::Keep, "ReferencedByCurrent");
    store.composition_seen(Key::new("ns", "web"), Lookup::Found(Arc::new(web)));
    store.slice_gone(&key);
    store.composition_gone(&Key::new("ns", "web"));
    assert!(store.namespaces.is_empty() && store.is_empty());
    assert_eq!(store.verdicts()[&(Verdict::Keep, "ReferencedByCurrent")], 0);
}
