use serde_json::json;

use super::*;
use crate::query::Depth;

fn slice(name: &str, version: u32, owner: &str) -> Value {
    json!({"metadata": {"namespace": "a", "name": name, "uid": name, "resourceVersion": version.to_string(),
        "creationTimestamp": "2026-03-01T09:00:00Z", "finalizers": ["eno.azure.io/cleanup"],
        "ownerReferences": [{"apiVersion": "eno.azure.io/v1", "kind": "Composition", "name": owner, "uid": owner,
            "controller": true}]}})
}

fn deleting(name: &str, version: u32, owner: &str) -> Value {
    let mut slice = slice(name, version, owner);
    slice["metadata"]["deletionTimestamp"] = "2026-03-01T10:00:00Z".into();
    slice
}

fn composition(name: &str, version: u32, current: &[&str]) -> Value {
    let slices: Vec<Value> = current.iter().map(|name| json!({"name": name})).collect();
    json!({"apiVersion": "eno.azure.io/v1", "kind": "Composition",
        "metadata": {"namespace": "a", "name": name, "uid": name, "resourceVersion": version.to_string()},
        "status": {"currentSynthesis": {"uuid": "u", "resourceSlices": slices}}})
}

/// A slice as it is when it was read whole.
fn whole(metadata: &Value) -> Seen {
    let content = Content::Read { synthesis_uuid: "u".to_owned(), resources: 0, states: vec![] };
    let seen = super::slice(metadata.clone());
    Seen { slice: ResourceSlice { content, ..seen.slice }, ..Seen::default() }
}

/// Compositions `web`, which lists and owns `web-0`, and `api`, which lists and owns `api-0`: all told.
fn settled() -> Facts {
    let mut facts = Facts::new(Query { depth: Depth::Rules, ..Query::default() }, Warnings::held());
    facts.all_slices(vec![slice("web-0", 1, "web"), slice("api-0", 1, "api")]);
    facts.all_compositions(vec![composition("web", 1, &["web-0"]), composition("api", 1, &["api-0"])]);
    let (change, wanted) = settle(&mut facts);
    assert_eq!((change.slices.len(), change.compositions.len()), (2, 2));
    assert_eq!(wanted, [] as [Place; 0]);
    facts
}

fn settle(facts: &mut Facts) -> (Change, Vec<Place>) {
    let mut change = Change::default();
    let wanted = facts.settle(&mut change);
    (change, wanted)
}

/// What must be read whole.
fn reads(facts: &mut Facts) -> Vec<String> {
    settle(facts).1.into_iter().map(|(_, name)| name).collect()
}

fn names(places: &BTreeSet<Place>) -> Vec<&str> {
    places.iter().map(|(_, name)| name.as_str()).collect()
}

#[test]
fn a_list_that_says_nothing_new_changes_nothing() {
    let mut facts = settled();
    facts.all_slices(vec![slice("api-0", 1, "api"), slice("web-0", 1, "web")]);
    facts.all_compositions(vec![composition("api", 1, &["api-0"]), composition("web", 1, &["web-0"])]);
    facts.slice_exists(slice("web-0", 1, "web"));
    assert!(!facts.is_unsettled());
}

#[test]
fn a_list_tells_what_went_while_nobody_listened() {
    let mut facts = settled();
    facts.all_slices(vec![slice("web-0", 1, "web")]);
    facts.all_compositions(vec![composition("web", 1, &["web-0"])]);
    let (change, _) = settle(&mut facts);
    assert_eq!(names(&change.slices), ["api-0"]);
    assert!(names(&change.compositions).contains(&"api"));
    assert!(facts.snapshot.seen("a", "api-0").is_none());
    assert_eq!(facts.snapshot.namespaces.compositions("a").get("api"), Lookup::Missing);
}

#[test]
fn a_slice_touches_the_compositions_that_wait_for_it() {
    let mut facts = settled();
    facts.slice_gone(slice("web-0", 2, "web"));
    let (change, _) = settle(&mut facts);
    assert_eq!(names(&change.slices), ["web-0"]);
    assert_eq!(names(&change.compositions), ["web"]);
}

#[test]
fn a_composition_touches_slices_that_it_owns_lists_or_has_listed() {
    let mut facts = settled();
    facts.slice_exists(slice("new", 1, "web"));
    settle(&mut facts);
    // It refers to the slice of another one now, and to its own no more.
    facts.composition_exists(composition("web", 2, &["api-0"]));
    assert_eq!(names(&settle(&mut facts).0.slices), ["api-0", "new", "web-0"]);
}

#[test]
fn a_composition_that_cannot_be_read_touches_all_slices() {
    let mut facts = settled();
    let mut odd = composition("odd", 1, &[]);
    odd["status"]["currentSynthesis"] = "odd".into();
    facts.composition_exists(odd);
    assert_eq!(names(&settle(&mut facts).0.slices), ["api-0", "web-0"]);
}

#[test]
fn a_namespace_that_is_deleted_touches_all_in_it() {
    let mut facts = settled();
    facts.all_namespaces(vec![json!({"metadata": {"name": "a"}})]);
    assert!(!facts.is_unsettled(), "nobody deletes it");
    facts.namespace_exists(json!({"metadata": {"name": "a", "deletionTimestamp": "2026-03-01T10:00:00Z"}}));
    let (change, _) = settle(&mut facts);
    assert_eq!((names(&change.slices), names(&change.compositions)), (vec!["api-0", "web-0"], vec!["api", "web"]));
    assert_eq!(facts.snapshot.namespaces.terminating("a"), Some(true));
}

#[test]
fn reads_what_is_being_deleted_once_for_each_version() {
    let mut facts = settled();
    let place = ("a".to_owned(), "web-0".to_owned());
    facts.slice_exists(deleting("web-0", 2, "web"));
    assert_eq!(reads(&mut facts), ["web-0"]);
    facts.slice_read(&place, Ok(whole(&deleting("web-0", 2, "web"))));
    let (change, wanted) = settle(&mut facts);
    assert_eq!((names(&change.slices), wanted), (vec!["web-0"], vec![]));
    // Its status has changed: metadata tells no more than that.
    facts.slice_exists(deleting("web-0", 3, "web"));
    assert_eq!(reads(&mut facts), ["web-0"]);
    let seen = facts.snapshot.seen("a", "web-0").unwrap();
    assert!(matches!(seen.slice.content, Content::Read { .. }), "what was read stays until it is read again");
}

#[test]
fn content_that_nothing_asks_for_is_dropped() {
    let mut facts = settled();
    facts.query.depth = Depth::Undone;
    let place = ("a".to_owned(), "web-0".to_owned());
    facts.composition_exists(composition("web", 2, &["web-0"]));
    assert_eq!(reads(&mut facts), ["web-0"], "it is at work");
    facts.slice_read(&place, Ok(whole(&slice("web-0", 1, "web"))));
    settle(&mut facts);
    let mut done = composition("web", 3, &["web-0"]);
    done["status"]["currentSynthesis"]["reconciled"] = "2026-03-01T10:00:00Z".into();
    facts.composition_exists(done);
    facts.slice_exists(slice("web-0", 2, "web"));
    settle(&mut facts);
    assert_eq!(facts.snapshot.seen("a", "web-0").unwrap().slice.content, Content::Unread);
}

#[test]
fn what_could_not_be_read_is_read_when_the_server_answers_again() {
    let mut facts = settled();
    let place = ("a".to_owned(), "web-0".to_owned());
    facts.slice_exists(deleting("web-0", 2, "web"));
    settle(&mut facts);
    facts.slice_not_read(place);
    facts.composition_exists(composition("web", 2, &["web-0"]));
    assert_eq!(reads(&mut facts), [""; 0], "not again and again");
    facts.retry();
    assert_eq!(reads(&mut facts), ["web-0"]);
}
