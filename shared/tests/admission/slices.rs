//! C1 to C3: requests on slices.

use eno_shared::admission::Outcome;
use eno_shared::admission::slice::{self, Dropped};
use eno_shared::api::Metadata;
use eno_shared::fixtures::{ago, content, delete, now};
use eno_shared::patch::add_cleanup_finalizer;
use eno_shared::{Compositions, Lookup};

use crate::{among, assert_answer, live, reconciled};

const FINALIZER: Dropped = Dropped { finalizer: true, owner: false };
const OWNER: Dropped = Dropped { finalizer: false, owner: true };

#[test]
fn delete_of_slice_in_use_names_object_composition_reason_and_next_command() {
    let (web, slice) = live();
    let answer = slice::delete(&slice, &among(&[&web]), now());
    let parts = [
        "resourceslice ns/web-a",
        "(ReferencedByCurrent)",
        "the current synthesis of composition web lists it",
        "Next: kubectl eno why resourceslice/web-a -n ns",
    ];
    assert_answer(&answer, Outcome::Deny, "ReferencedByCurrent", &parts);
    assert_eq!(answer.composition.as_deref(), Some("web"));
}

#[test]
fn delete_of_garbage_passes_with_its_reason() {
    let (mut web, slice) = live();
    web.status.current_synthesis = None;
    let answer = slice::delete(&slice, &among(&[&web]), now());
    assert_answer(&answer, Outcome::Allow, "Unreferenced", &["resourceslice ns/web-a", "no synthesis needs it"]);
}

#[test]
fn delete_of_young_slice_that_nobody_lists_passes() {
    let (mut web, mut slice) = live();
    web.status.current_synthesis = None;
    slice.metadata.creation_timestamp = Some(ago(1));
    assert_answer(&slice::delete(&slice, &among(&[&web]), now()), Outcome::Allow, "TooNew", &["too new"]);
}

#[test]
fn second_delete_passes() {
    let (web, mut slice) = live();
    delete(&mut slice.metadata);
    assert_answer(&slice::delete(&slice, &among(&[&web]), now()), Outcome::Allow, "AlreadyDeleting", &["already"]);
}

#[test]
fn delete_under_a_deleting_composition_passes_only_when_it_is_done_with_the_slice() {
    let (web, mut slice) = reconciled();
    let answer = slice::delete(&slice, &among(&[&web]), now());
    assert_answer(&answer, Outcome::Deny, "ReferencedByCurrent", &["composition web", "must stay"]);
    slice.content = content(2, 2);
    let answer = slice::delete(&slice, &among(&[&web]), now());
    assert_answer(&answer, Outcome::Allow, "CompositionReconciled", &["is done with it"]);
}

#[test]
fn delete_of_ownerless_slice_passes_with_a_warning() {
    let (_, mut slice) = live();
    slice.metadata.owner_references.clear();
    let answer = slice::delete(&slice, &among(&[]), now());
    assert_answer(&answer, Outcome::Allow, "Unowned", &["resourceslice ns/web-a"]);
    assert!(answer.warnings[0].contains("nothing deletes them"), "{:?}", answer.warnings);
}

#[test]
fn delete_of_ownerless_slice_is_retried_while_a_composition_is_unread() {
    let (_, mut slice) = live();
    slice.metadata.owner_references.clear();
    let unread = Compositions::whole([("api".to_owned(), Lookup::Unknown("api: 403 Forbidden".to_owned()))]);
    let answer = slice::delete(&slice, &unread, now());
    assert_answer(&answer, Outcome::Retry, "ReferencesUnknown", &["api: 403 Forbidden"]);
    assert_eq!(answer.warnings, Vec::<String>::new());
}

#[test]
fn what_cannot_be_read_is_refused_for_now() {
    let (_, slice) = live();
    let unread = Compositions::whole([("web".to_owned(), Lookup::Unknown("web: timeout".to_owned()))]);
    let parts = ["resourceslice ns/web-a", "web: timeout", "try again", "logs of eno-webhook"];
    assert_answer(&slice::delete(&slice, &unread, now()), Outcome::Retry, "OwnerUnknown", &parts);
    assert_answer(&slice::update(&slice, FINALIZER, &unread, true), Outcome::Retry, "OwnerUnknown", &parts);
}

#[test]
fn update_that_drops_nothing_passes_unread() {
    let (_, slice) = live();
    let unread = Compositions::partial([], "not read");
    let answer = slice::update(&slice, Dropped::between(&slice, &slice), &unread, true);
    assert_answer(&answer, Outcome::Allow, "NothingDropped", &["keeps its finalizer and its owner"]);
}

#[test]
fn finalizer_strip_says_what_deletion_needs() {
    let (web, slice) = reconciled();
    let answer = slice::update(&slice, FINALIZER, &among(&[&web]), true);
    let parts = [
        "resourceslice ns/web-a must keep its finalizer",
        "(NeededForDeletion)",
        "composition web is being deleted and still needs it",
        "1 of the 2 resources",
        "Next: kubectl eno why resourceslice/web-a -n ns",
    ];
    assert_answer(&answer, Outcome::Deny, "NeededForDeletion", &parts);
    assert_eq!(answer.composition.as_deref(), Some("web"));
}

#[test]
fn owner_strip_is_refused_while_cleanup_needs_the_owner() {
    let (mut web, slice) = live();
    web.status.current_synthesis = None;
    let compositions = among(&[&web]);
    let answer = slice::update(&slice, OWNER, &compositions, true);
    let parts = ["resourceslice ns/web-a must keep its owner", "composition web exists", "Next: kubectl eno why"];
    assert_answer(&answer, Outcome::Deny, "OwnerExists", &parts);
    assert_eq!(answer.composition.as_deref(), Some("web"));
    // Nobody else empties the composition: then part B alone decides.
    assert_answer(&slice::update(&slice, OWNER, &compositions, false), Outcome::Allow, "Unreferenced", &[]);
}

#[test]
fn owner_strip_of_slice_in_use_is_refused_without_cleanup_too() {
    let (web, slice) = live();
    let answer = slice::update(&slice, OWNER, &among(&[&web]), false);
    assert_answer(&answer, Outcome::Deny, "ReferencedByCurrent", &["must keep its owner (ReferencedByCurrent)"]);
}

#[test]
fn owner_of_another_uid_may_be_stripped() {
    let (mut web, slice) = live();
    web.metadata.uid = "another".into();
    web.status.current_synthesis = None;
    assert_answer(&slice::update(&slice, OWNER, &among(&[&web]), true), Outcome::Allow, "OwnerReplaced", &[]);
}

#[test]
fn dropped_is_what_is_guarded_and_no_more() {
    let (_, old) = live();
    let changed = |change: fn(&mut Metadata)| {
        let mut new = old.clone();
        change(&mut new.metadata);
        Dropped::between(&old, &new)
    };
    let nothing = Dropped { finalizer: false, owner: false };
    assert_eq!(changed(|_| {}), nothing);
    assert_eq!(changed(|metadata| metadata.labels = [("a".into(), "b".into())].into()), nothing);
    assert_eq!(changed(|metadata| metadata.finalizers.push("a/b".into())), nothing);
    assert_eq!(changed(|metadata| metadata.finalizers.clear()), FINALIZER);
    assert_eq!(changed(|metadata| metadata.owner_references.clear()), OWNER);
    assert_eq!(changed(|metadata| metadata.owner_references[0].uid = "x".into()), OWNER);
    assert_eq!(changed(|metadata| metadata.owner_references[0].name = "x".into()), OWNER);
    assert_eq!(changed(|metadata| metadata.owner_references[0].controller = false), OWNER);
    assert!(changed(|metadata| metadata.owner_references[0].kind = "Pod".into()).any());
}

#[test]
fn adopting_an_ownerless_slice_drops_nothing() {
    let (_, new) = live();
    let mut old = new.clone();
    old.metadata.owner_references.clear();
    old.metadata.finalizers.clear();
    assert!(!Dropped::between(&old, &new).any());
}

#[test]
fn new_slice_gets_the_finalizer_and_is_never_refused() {
    let (_, mut slice) = live();
    let answer = slice::created(&slice);
    assert_answer(&answer, Outcome::Allow, "NotGuarded", &["finalizer"]);
    assert_eq!(answer.warnings, Vec::<String>::new());
    assert_eq!(add_cleanup_finalizer(&slice.metadata), None);
    slice.metadata.owner_references.clear();
    slice.metadata.finalizers.clear();
    let answer = slice::created(&slice);
    assert_eq!(answer.outcome, Outcome::Allow);
    assert!(answer.warnings[0].contains("no composition as controller owner"), "{:?}", answer.warnings);
    assert!(add_cleanup_finalizer(&slice.metadata).is_some());
}
