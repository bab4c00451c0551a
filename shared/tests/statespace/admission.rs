//! C1, C2 and C7: admission allows what parts A and B free, and nothing else.

use eno_shared::Verdict::{Collect, Keep, Release, Wait};
use eno_shared::admission::Outcome::{Allow, Deny, Retry};

use super::facts::{Facts, Neighbour, Owner};
use super::space::{Case, assert_of_all};
use super::tables::{release_of, verdict_on};

/// Every composition because of which part A keeps the slice is being deleted.
fn keepers_are_deleting(facts: &Facts) -> bool {
    let web_keeps = facts.web_lists() || (facts.web_exists() && facts.previous) || facts.may_be_in_flight();
    let live_neighbour = matches!(facts.neighbour, Neighbour::Live | Neighbour::Previous);
    !live_neighbour && (!web_keeps || facts.deleting)
}

#[test]
fn allows_a_delete_exactly_where_the_rules_free_the_slice() {
    assert_of_all(|Case { facts, delete, .. }| {
        let says = verdict_on(facts);
        let allowed = facts.slice.is_deleting()
            || matches!(says.verdict, Collect | Wait)
            || (says.reason == "Unowned" && !facts.something_is_unknown())
            || (says.verdict == Keep
                && says.reason != "Unowned"
                && keepers_are_deleting(facts)
                && release_of(facts).verdict == Release);
        (*delete == Allow) == allowed
    });
}

#[test]
fn refuses_a_delete_of_what_deletion_needs() {
    assert_of_all(|Case { facts, delete, .. }| {
        let needed = facts.web_needs_it() || facts.neighbour_needs_it() || facts.live_current_lists();
        facts.slice.is_deleting() || !needed || *delete != Allow
    });
}

#[test]
fn allows_a_strip_exactly_where_part_b_releases() {
    assert_of_all(|Case { facts, strip, .. }| (*strip == Allow) == (release_of(facts).verdict == Release));
}

#[test]
fn keeps_the_owner_on_the_slices_of_a_composition_that_exists_while_cleanup_runs() {
    assert_of_all(|case| {
        let expected = if case.facts.owner == Owner::Found { Deny } else { case.strip };
        case.disown == expected && case.disown_without_cleanup == case.strip
    });
}

#[test]
fn asks_to_retry_only_where_something_is_unknown() {
    assert_of_all(|case| {
        let retried = [case.delete, case.strip, case.disown, case.disown_without_cleanup].contains(&Retry);
        !retried || case.facts.something_is_unknown()
    });
}

#[test]
fn unknown_allows_nothing() {
    assert_of_all(|Case { facts, delete, strip, disown, .. }| {
        !facts.something_is_unknown()
            || ((*delete != Allow || facts.slice.is_deleting()) && *strip != Allow && *disown != Allow)
    });
}
