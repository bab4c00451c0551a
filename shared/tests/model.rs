//! The real rules against every order of events: Eno's controllers, the garbage collector, users and accidents are modelled;
//! what may be deleted, stripped, released and collected is asked of [`eno_shared`].
//!
//! Nothing may be lost and nothing may be stuck, but for the limits that the specification states. That the exploration
//! can find a loss is shown by taking rules away.

mod model {
    pub mod actors;
    pub mod explore;
    pub mod rules;
    pub mod scenarios;
    pub mod start;
    pub mod state;
}

use model::explore::{Exploration, explore};
use model::rules::{Rules, Without};
use model::scenarios::{SAFE, STALE_DELETED, Scenario, UNOWNED, WEBHOOK_DOWN, named};
use model::state::Violation::{self, MadeCurrentThoughGone, NeededSliceGone, ResourceLeft, SliceStuck};

fn run(scenario: &Scenario, without: Without) -> Exploration {
    explore(scenario, &Rules::without(without))
}

#[test]
fn loses_nothing_and_gets_stuck_nowhere() {
    let mut states = 0;
    for scenario in SAFE {
        let explored = run(scenario, Without::Nothing);
        assert!(explored.violations.is_empty(), "scenario {}: {}", scenario.name, explored.report());
        states += explored.states;
    }
    assert!(states > 150_000, "only {states} states: an actor does not act any more");
}

#[test]
fn loses_only_what_the_limits_say() {
    for (scenario, limit) in [
        // Eno wrote `deleted: true` of a resource that it made again afterwards.
        (&STALE_DELETED, ResourceLeft),
        // Slices that were ownerless before are kept until a person says otherwise.
        (&UNOWNED, SliceStuck),
        // A slice went while nobody stood guard, and the spec changed before it was replaced (L7).
        (&WEBHOOK_DOWN, ResourceLeft),
    ] {
        let explored = run(scenario, Without::Nothing);
        assert_eq!(explored.violations(), [limit], "scenario {}: {}", scenario.name, explored.report());
    }
}

#[test]
fn eno_alone_loses() {
    for scenario in ["base", "namespace", "split", "first synthesis"] {
        let explored = run(named(scenario), Without::Rules);
        for loss in [ResourceLeft, NeededSliceGone, MadeCurrentThoughGone] {
            assert!(explored.violations.contains_key(&loss), "scenario {scenario} shows no {loss:?}");
        }
    }
}

/// Takes one rule away and finds what it prevents.
#[track_caller]
fn shows(without: Without, scenario: &str, expected: Violation) {
    let explored = run(named(scenario), without);
    let found = explored.violations();
    assert!(found.contains(&expected), "without {without:?}, scenario {scenario} shows only {found:?}");
}

#[test]
fn slices_are_stuck_unless_finished_compositions_are_emptied() {
    shows(Without::EmptyingOfFinished, "orphan", SliceStuck);
    shows(Without::EmptyingOfFinished, "restored", SliceStuck);
}

#[test]
fn synthesis_in_flight_loses_slices_unless_they_are_guarded() {
    shows(Without::InFlight, "base", MadeCurrentThoughGone);
    shows(Without::InFlight, "first synthesis", ResourceLeft);
}

#[test]
fn deletion_loses_resources_unless_it_is_proved() {
    shows(Without::Proof, "base", ResourceLeft);
    shows(Without::Proof, "namespace", NeededSliceGone);
}

#[test]
fn stale_cache_loses_resources_unless_the_slice_itself_is_asked() {
    shows(Without::SliceStatus, "stale slices", ResourceLeft);
}

#[test]
fn deleted_slice_of_live_composition_is_lost_unless_it_is_held() {
    shows(Without::LiveCurrent, "webhook down, spec unchanged", NeededSliceGone);
}

#[test]
fn each_admission_rule_prevents_a_loss() {
    shows(Without::Deletes, "base", ResourceLeft);
    shows(Without::Deletes, "without finalizer", NeededSliceGone);
    shows(Without::Strips, "restored", NeededSliceGone);
    shows(Without::Ends, "composition stripped", ResourceLeft);
    shows(Without::EndsOfLive, "recreated", ResourceLeft);
}
