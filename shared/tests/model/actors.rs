//! What can happen next in a state, and who does it.

mod cluster;
mod eno;
mod executor;
mod ours;
mod reconciler;
mod users;

use std::fmt;

use super::rules::{OfSlice, Rules};
use super::scenarios::Scenario;
use super::state::{Cascade, Composition, SLICES, Slice, State, Violation};

/// One thing that can happen.
pub struct Step {
    pub label: Label,
    /// It happens sooner or later: controllers act, users and accidents need not.
    pub fair: bool,
    pub state: State,
    /// What it broke.
    pub violation: Option<Violation>,
}

/// Who does what, and to which slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(&'static str, Option<usize>);

impl From<&'static str> for Label {
    fn from(text: &'static str) -> Self {
        Label(text, None)
    }
}

impl From<(&'static str, usize)> for Label {
    fn from((text, slice): (&'static str, usize)) -> Self {
        Label(text, Some(slice))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(slice) => write!(f, "{} {slice}", self.0),
            None => f.write_str(self.0),
        }
    }
}

/// All that can happen next.
pub fn successors(state: &State, scenario: &Scenario, rules: &Rules, out: &mut Vec<Step>) {
    let mut of_slices = [None; SLICES];
    for (index, slice) in state.slices.iter().enumerate() {
        of_slices[index] = slice.map(|slice| (slice, rules.of_slice(state, index, &slice)));
    }
    let mut steps = Steps { from: state, scenario, rules, of_slices, out };
    users::act(&mut steps);
    eno::act(&mut steps);
    executor::act(&mut steps);
    reconciler::act(&mut steps);
    cluster::act(&mut steps);
    ours::act(&mut steps);
}

/// The steps from one state.
struct Steps<'a> {
    from: &'a State,
    scenario: &'a Scenario,
    rules: &'a Rules,
    of_slices: [Option<(Slice, OfSlice)>; SLICES],
    out: &'a mut Vec<Step>,
}

/// What a change may report: nothing, or what it broke.
trait Effect {
    fn violation(self) -> Option<Violation>;
}

impl Effect for () {
    fn violation(self) -> Option<Violation> {
        None
    }
}

impl Effect for Option<Violation> {
    fn violation(self) -> Option<Violation> {
        self
    }
}

impl Steps<'_> {
    /// Somebody will do this sooner or later.
    fn will<E: Effect>(&mut self, label: impl Into<Label>, change: impl FnOnce(&mut State) -> E) {
        self.add(label.into(), true, change);
    }

    /// Somebody may do this.
    fn may<E: Effect>(&mut self, label: impl Into<Label>, change: impl FnOnce(&mut State) -> E) {
        self.add(label.into(), false, change);
    }

    /// The slices with what the rules say of them.
    fn slices(&self) -> impl Iterator<Item = (usize, Slice, OfSlice)> + use<> {
        self.of_slices.into_iter().enumerate().filter_map(|(index, of)| of.map(|(slice, of)| (index, slice, of)))
    }

    fn add<E: Effect>(&mut self, label: Label, fair: bool, change: impl FnOnce(&mut State) -> E) {
        let mut state = *self.from;
        let violation = change(&mut state).violation();
        if state.composition.is_some_and(|c| c.deleting && !c.finalizer && c.cascade == Cascade::Background) {
            state.composition = None; // The API server removes it.
        }
        if self.scenario.by_events && label != eno::SLICE_CONTROLLER && wakes_slice_controller(self.from, &state) {
            state.budget.woken = true;
        }
        if !self.scenario.stale_composition {
            state.catch_up();
        }
        if state != *self.from || violation.is_some() {
            self.out.push(Step { label, fair, state, violation });
        }
    }
}

/// Eno's slice controller watches compositions and the slices that have an owner.
fn wakes_slice_controller(before: &State, after: &State) -> bool {
    let owned = |slice: &Option<Slice>| slice.is_some_and(|slice| slice.owner != 0);
    before.composition != after.composition
        || before.slices.iter().zip(&after.slices).any(|(old, new)| old != new && (owned(old) || owned(new)))
}

/// Changes the composition, which exists.
fn change(state: &mut State, change: impl FnOnce(&mut Composition)) {
    change(state.composition.as_mut().expect("the step is of a state with a composition"));
}

/// Marks the composition as being deleted, which counts as a change of its spec.
fn delete_composition(state: &mut State, cascade: Cascade) {
    change(state, |composition| {
        composition.deleting = true;
        composition.generation += 1;
        composition.cascade = cascade;
    });
}
