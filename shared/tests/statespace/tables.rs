//! The rows of the specification as data, and that the judge says what they say.

use std::collections::BTreeSet;

use eno_shared::Verdict::{self, Collect, Hold, Keep, Release, Unknown, Wait};

use super::facts::{Facts, Neighbour, Owner, Slice};
use super::space::{CASES, Said, assert_of_all};

pub struct Row {
    name: &'static str,
    when: fn(&Facts) -> bool,
    says: Said,
}

const fn row(name: &'static str, when: fn(&Facts) -> bool, verdict: Verdict, reason: &'static str) -> Row {
    Row { name, when, says: Said { verdict, reason } }
}

fn references_unknown(facts: &Facts) -> bool {
    !facts.whole || facts.neighbour == Neighbour::Unknown || facts.owner == Owner::Unknown
}

const LIVE: &[Row] = &[
    row(
        "A1",
        |f| f.owner == Owner::Found && f.web_is_finished() && !references_unknown(f) && !f.neighbour_lists(),
        Collect,
        "CompositionFinished",
    ),
    row("A2", |f| f.web_lists() || f.neighbour_lists(), Keep, "ReferencedByCurrent"),
    row("A3", Facts::previous_lists, Keep, "ReferencedByPrevious"),
    row("A4", |f| f.owner == Owner::None, Keep, "Unowned"),
    row("A5", |f| f.owner == Owner::Unknown, Unknown, "OwnerUnknown"),
    row("A6", Facts::may_be_in_flight, Keep, "InFlight"),
    row("A7", references_unknown, Unknown, "ReferencesUnknown"),
    row("A8", |f| f.slice == Slice::Seconds4, Wait, "TooNew"),
    row("A9", |f| f.owner == Owner::Missing, Collect, "OwnerGone"),
    row("A10", |f| f.owner == Owner::Replaced, Collect, "OwnerReplaced"),
    row("A11", |_| true, Collect, "Unreferenced"),
];

const DELETING: &[Row] = &[
    row("B1", |f| f.slice == Slice::DeletingForeignOnly, Release, "NoFinalizer"),
    row("B2", |f| f.owner == Owner::Unknown, Unknown, "OwnerUnknown"),
    row("B3", |f| f.may_be_in_flight() && !f.web_is_finished(), Hold, "InFlight"),
    row("B4", |f| f.web_needs_it() || f.neighbour_needs_it(), Hold, "NeededForDeletion"),
    row("B5", Facts::live_current_lists, Hold, "ReferencedByCurrent"),
    row("B6", references_unknown, Unknown, "ReferencesUnknown"),
    row("B7", |f| f.owner == Owner::None, Release, "Unowned"),
    row("B8", |f| f.owner == Owner::Missing, Release, "OwnerGone"),
    row("B9", |f| f.owner == Owner::Replaced, Release, "OwnerReplaced"),
    row("B10", Facts::web_is_finished, Release, "CompositionFinished"),
    row("B11", |f| f.deleting && f.web_lists(), Release, "CompositionReconciled"),
    row("B12", |_| true, Release, "Unreferenced"),
];

/// The first row of the table that is true of the situation.
fn first(table: &'static [Row], facts: &Facts) -> &'static Row {
    table.iter().find(|row| (row.when)(facts)).expect("the last row is always true")
}

/// What the tables say of the slice as it is.
pub fn verdict_on(facts: &Facts) -> Said {
    first(if facts.slice.is_deleting() { DELETING } else { LIVE }, facts).says
}

/// What part B says, asked as if the slice were being deleted with Eno's finalizer on.
pub fn release_of(facts: &Facts) -> Said {
    first(&DELETING[1..], facts).says
}

#[test]
fn judge_says_what_the_tables_say() {
    assert_of_all(|case| case.judged == verdict_on(&case.facts));
}

#[test]
fn releasable_says_what_part_b_says_of_every_slice() {
    assert_of_all(|case| case.releasable == release_of(&case.facts));
}

#[test]
fn every_row_is_reached() {
    let table = |facts: &Facts| if facts.slice.is_deleting() { DELETING } else { LIVE };
    let reached: BTreeSet<_> = CASES.iter().map(|case| first(table(&case.facts), &case.facts).name).collect();
    let missed: Vec<_> = LIVE.iter().chain(DELETING).map(|row| row.name).filter(|row| !reached.contains(row)).collect();
    assert!(missed.is_empty(), "no subset of mutations reaches {missed:?}");
}
