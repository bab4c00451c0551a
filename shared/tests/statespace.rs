//! The promises of the rules, held against every subset of the named mutations of one situation.
//!
//! A test's name is the promise. What is true of a situation is told from the facts it was made of, never by the rules.

mod statespace {
    pub mod admission;
    pub mod composition;
    pub mod facts;
    pub mod mutations;
    pub mod objects;
    pub mod space;
    pub mod tables;
    pub mod truth;
}

use eno_shared::Verdict::{Collect, Hold, Keep, Release, Unknown, Wait};
use statespace::facts::{Content, Current, Facts, InFlight, Neighbour, Owner, Slice};
use statespace::space::{Blamed, CASES, Case, Said, assert_of_all, judged};

#[test]
fn every_subset_is_judged() {
    assert!(CASES.len() > 200_000, "only {} situations: a mutation was lost", CASES.len());
}

#[test]
fn verdict_suits_the_slice() {
    assert_of_all(|case| match case.judged.verdict {
        Keep | Collect | Wait => !case.facts.slice.is_deleting(),
        Hold | Release => case.facts.slice.is_deleting(),
        Unknown => true,
    });
}

#[test]
fn never_releases_what_deletion_needs() {
    assert_of_all(|Case { facts, judged, releasable, .. }| {
        let needed = facts.web_needs_it() || facts.neighbour_needs_it();
        let nothing_to_release = facts.slice.is_deleting() && !facts.has_eno_finalizer();
        !needed || (releasable.verdict != Release && (judged.verdict != Release || nothing_to_release))
    });
}

#[test]
fn never_releases_what_a_live_composition_lists() {
    assert_of_all(|case| !case.facts.live_current_lists() || case.releasable.verdict != Release);
}

#[test]
fn never_collects_what_any_composition_lists() {
    assert_of_all(|Case { facts, judged, .. }| {
        let own_end = facts.owner == Owner::Found && facts.web_is_finished();
        let web_lists = facts.web_lists() || (facts.web_exists() && facts.previous);
        judged.verdict != Collect || !(facts.neighbour_lists() || (web_lists && !own_end))
    });
}

#[test]
fn unknown_never_frees() {
    assert_of_all(|Case { facts, judged, releasable, .. }| {
        !facts.something_is_unknown()
            || (releasable.verdict != Release
                && judged.verdict != Collect
                && (judged.verdict != Release || judged.reason == "NoFinalizer"))
    });
}

#[test]
fn never_frees_what_may_be_in_flight() {
    assert_of_all(|Case { facts, judged, releasable, .. }| {
        !facts.may_be_in_flight()
            || facts.web_is_finished()
            || (judged.verdict != Collect && releasable.verdict != Release)
    });
}

#[test]
fn always_collects_garbage_of_an_older_synthesis() {
    assert_of_all(|Case { facts, judged, .. }| {
        let is_garbage = facts.owner == Owner::Found && facts.nothing_needs_it() && !facts.slice.is_deleting();
        !is_garbage || judged.verdict == if facts.slice == Slice::Seconds4 { waits_or_ends(facts) } else { Collect }
    });
}

/// A slice that is too new waits, unless its composition is finished: nothing can come to need it then.
fn waits_or_ends(facts: &Facts) -> eno_shared::Verdict {
    if facts.web_is_finished() { Collect } else { Wait }
}

#[test]
fn always_collects_slices_of_compositions_that_are_gone() {
    assert_of_all(|Case { facts, judged, .. }| {
        let is_gone = matches!(facts.owner, Owner::Missing | Owner::Replaced);
        let is_garbage = is_gone && facts.nothing_needs_it() && !facts.slice.is_deleting();
        !is_garbage || judged.verdict == if facts.slice == Slice::Seconds4 { Wait } else { Collect }
    });
}

#[test]
fn always_empties_a_finished_composition() {
    assert_of_all(|Case { facts, judged, .. }| {
        let is_over = facts.owner == Owner::Found
            && facts.web_is_finished()
            && !facts.neighbour_lists()
            && !facts.something_is_unknown();
        !is_over || judged.verdict == if facts.slice.is_deleting() { Release } else { Collect }
    });
}

#[test]
fn always_releases_what_nothing_needs() {
    assert_of_all(|Case { facts, releasable, .. }| !facts.nothing_needs_it() || releasable.verdict == Release);
}

#[test]
fn says_what_is_known_in_spite_of_what_is_not() {
    assert_of_all(|Case { facts, judged, releasable, .. }| {
        (judged.verdict != Unknown && releasable.verdict != Unknown) || facts.something_is_unknown()
    });
}

#[test]
fn every_hold_has_a_way_out() {
    assert_of_all(|case| case.judged.verdict != Hold || (ends(case, false) && ends(case, true)));
}

/// Do steps of Eno, or ours, lead to the release? What is in flight may be given up, or become current.
fn ends(case: &Case, becomes_current: bool) -> bool {
    let mut facts = case.facts;
    for _ in 0..6 {
        let (said, blamed) = judged(&facts);
        let by_neighbour = blamed == Blamed::Neighbour;
        match (said.verdict, said.reason) {
            (Release, _) => return true,
            (Hold, "InFlight") => {
                facts.in_flight = InFlight::No;
                if becomes_current {
                    (facts.current, facts.reconciled) = (Current::Lists, false);
                }
            }
            // Eno deletes the resources, and says so.
            (Hold, "NeededForDeletion") if by_neighbour => {
                (facts.neighbour, facts.content) = (Neighbour::Reconciled, Content::AllDeleted);
            }
            (Hold, "NeededForDeletion") => {
                (facts.observed, facts.reconciled, facts.content) = (true, true, Content::AllDeleted);
            }
            // A new synthesis takes its place.
            (Hold, "ReferencedByCurrent") if by_neighbour => facts.neighbour = Neighbour::Previous,
            (Hold, "ReferencedByCurrent") => (facts.current, facts.previous) = (Current::ListsAnother, true),
            // What could not be read can be read.
            (Unknown, _) => {
                facts.whole = true;
                if facts.neighbour == Neighbour::Unknown {
                    facts.neighbour = Neighbour::None;
                }
            }
            _ => return false,
        }
    }
    false
}

#[test]
fn every_wait_ends() {
    assert_of_all(|case| {
        case.judged.verdict != Wait || {
            let (later, _) = judged(&Facts { slice: Slice::Seconds5, ..case.facts });
            later.verdict == Collect
        }
    });
}

/// What the judge says of the same situation with spec and status read: of all that they might have said.
fn as_read(facts: Facts) -> impl Iterator<Item = (Said, Blamed)> {
    let uuids = match facts.in_flight {
        InFlight::After | InFlight::AfterSameUuid => vec![InFlight::After, InFlight::AfterSameUuid],
        other => vec![other],
    };
    uuids.into_iter().flat_map(move |in_flight| {
        [Content::OneLeft, Content::AllDeleted, Content::Short]
            .map(|content| judged(&Facts { in_flight, content, ..facts }))
    })
}

#[test]
fn content_that_was_not_read_frees_nothing_that_it_might_hold() {
    assert_of_all(|case| {
        case.facts.content != Content::Unread
            || !matches!(case.judged.verdict, Collect | Release)
            || as_read(case.facts).all(|(read, _)| read == case.judged)
    });
}

#[test]
fn wants_content_where_it_could_change_the_judgement_and_only_there() {
    assert_of_all(|case| {
        if case.facts.content != Content::Unread {
            return !case.wants_content;
        }
        let changes = as_read(case.facts).any(|read| read != (case.judged, case.blamed));
        case.wants_content == changes
    });
}
