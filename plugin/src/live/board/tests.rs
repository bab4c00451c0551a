use std::collections::BTreeMap;
use std::sync::Arc;

use eno_shared::Lookup;
use eno_shared::api::{Composition, Metadata, OwnerReference};

use super::*;
use crate::outbox::Outbox;
use crate::snapshot::{Namespaces, Read, Seen};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// A slice of composition `web`, which lists nothing, made at zero; `now` is so many seconds later.
fn snapshot(now: i64, deleting: bool) -> Snapshot {
    let at = |seconds| Timestamp::from_second(1_000_000 + seconds).unwrap();
    let owner = OwnerReference {
        api_version: "eno.azure.io/v1".to_owned(),
        kind: "Composition".to_owned(),
        name: "web".to_owned(),
        uid: "web".to_owned(),
        controller: true,
    };
    let slice = Metadata {
        namespace: "a".to_owned(),
        name: "web-0".to_owned(),
        uid: "web-0".to_owned(),
        creation_timestamp: Some(at(0)),
        deletion_timestamp: deleting.then(|| at(0)),
        finalizers: vec!["eno.azure.io/cleanup".to_owned()],
        owner_references: vec![owner],
        ..Metadata::default()
    };
    let web = Metadata { name: "web".to_owned(), uid: "web".to_owned(), ..Metadata::default() };
    let web = Lookup::Found(Arc::new(Composition { metadata: web, ..Composition::default() }));
    let compositions = vec![("a".to_owned(), "web".to_owned(), web)];
    Snapshot {
        now: at(now),
        slices: vec![Seen::of_metadata(slice)],
        slices_incomplete: None,
        missing: vec![],
        namespaces: Namespaces::new(Read { compositions, ..Read::default() }, BTreeMap::new()),
        pods: BTreeMap::new(),
        outbox: Outbox::default(),
    }
}

fn touched() -> Change {
    Change { slices: BTreeSet::from([place()]), ..Change::default() }
}

fn place() -> Place {
    ("a".to_owned(), "web-0".to_owned())
}

#[test]
fn time_alone_makes_a_slice_old_enough() {
    let mut board = Board::<Item>::new(MINUTE);
    board.fill(&snapshot(1, false));
    assert!(board.get(&place()).unwrap().is(eno_shared::Verdict::Wait));
    assert_eq!(board.due(), Some(snapshot(5, false).now));
    assert_eq!(board.update(&snapshot(4, false), &Change::default()), []);
    let turns = board.update(&snapshot(5, false), &Change::default());
    assert!(matches!(turns[..], [Turn::Modified(..)]), "{turns:?}");
    assert!(board.get(&place()).unwrap().is(eno_shared::Verdict::Collect));
}

#[test]
fn time_alone_makes_what_waits_stuck() {
    let mut board = Board::<Item>::new(MINUTE);
    board.fill(&snapshot(10, true));
    assert_eq!(board.get(&place()).unwrap().urgency(), Urgency::Going);
    assert_eq!(board.due(), Some(snapshot(60, true).now));
    let turns = board.update(&snapshot(60, true), &Change::default());
    assert!(matches!(turns[..], [Turn::Modified(..)]), "{turns:?}");
    assert!(matches!(board.get(&place()).unwrap().urgency(), Urgency::Stuck(Some(_))));
    assert_eq!(board.due(), None);
}

#[test]
fn what_is_judged_as_before_has_not_turned() {
    let mut board = Board::<Item>::new(MINUTE);
    assert_eq!(board.update(&snapshot(10, false), &touched()), [Turn::Added(place())]);
    assert_eq!(board.update(&snapshot(20, false), &touched()), []);
}

#[test]
fn what_is_gone_is_deleted_and_what_is_not_selected_has_left() {
    let live = |_: &Snapshot, item: &Item| !item.is_deleting();
    let mut board = Board::of(MINUTE, Selected { keeps: Box::new(live), older_than: None });
    board.fill(&snapshot(10, false));
    assert!(matches!(board.update(&snapshot(10, true), &touched())[..], [Turn::Left(..)]));
    board.fill(&snapshot(10, false));
    let none = Snapshot { slices: vec![], ..snapshot(10, false) };
    assert!(matches!(board.update(&none, &touched())[..], [Turn::Deleted(..)]));
    assert_eq!(board.items().count(), 0);
}

#[test]
fn grows_older_than_what_is_asked_for() {
    let selected = Selected { older_than: Some(Duration::from_secs(30)), ..Selected::default() };
    let mut board = Board::<Item>::of(MINUTE, selected);
    board.fill(&snapshot(10, false));
    assert_eq!(board.items().count(), 0);
    assert_eq!(board.due(), Some(snapshot(30, false).now));
    assert_eq!(board.update(&snapshot(30, false), &Change::default()), [Turn::Added(place())]);
}
