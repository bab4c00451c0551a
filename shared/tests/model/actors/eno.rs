//! The controllers of eno-controller: scheduling, synthesis pods, compositions, slices, and the cleanup of slices.

use super::super::state::{Composition, Current, Executor, InFlight, Phase, State, contains, members};
use super::{Label, Steps, change};

/// The one actor that is woken by events, where a scenario asks for that.
pub const SLICE_CONTROLLER: Label = Label("slice controller: aggregate", None);

pub fn act(steps: &mut Steps<'_>) {
    if let Some(composition) = steps.from.composition {
        schedule(steps, &composition);
        start_pod(steps, &composition);
        if composition.deleting {
            finish(steps, &composition)
        } else {
            take_up(steps, &composition)
        }
        aggregate(steps, &composition);
    }
    if steps.scenario.stale_slices {
        for (index, slice, _) in steps.slices() {
            if !slice.seen {
                steps.will(("informer: sees slice", index), |state| {
                    if let Some(slice) = &mut state.slices[index] {
                        slice.seen = true;
                    }
                });
            }
        }
    }
    clean_up(steps);
}

fn schedule(steps: &mut Steps<'_>, composition: &Composition) {
    let Composition { in_flight, current, generation, .. } = *composition;
    if !composition.finalizer || steps.from.budget.dispatched >= steps.scenario.dispatches {
        return;
    }
    if composition.deleting {
        // Its cache may be stale, and it tests no deletionTimestamp.
        if in_flight.is_none() {
            steps.may("scheduler: dispatch from a stale cache", |state| dispatch(state, generation - 1));
        }
        return;
    }
    let observed = in_flight.map(|in_flight| in_flight.observed).or(current.map(|current| current.observed));
    let canceled = in_flight.is_some_and(|in_flight| in_flight.canceled);
    let forced = composition.force != 0 && composition.force == composition.latest();
    if forced || canceled || observed != Some(generation) {
        steps.will("scheduler: dispatch", |state| dispatch(state, generation));
    }
}

fn dispatch(state: &mut State, observed: u8) {
    let in_flight =
        InFlight { uuid: state.budget.next_uuid, observed, dispatch: state.budget.dispatched + 1, canceled: false };
    state.budget.next_uuid += 1;
    state.budget.dispatched += 1;
    change(state, |composition| composition.in_flight = Some(in_flight));
}

fn start_pod(steps: &mut Steps<'_>, composition: &Composition) {
    let Some(in_flight) = composition.in_flight.filter(|in_flight| !in_flight.canceled) else { return };
    let may_run = !composition.deleting && composition.finalizer && !steps.from.namespace_terminating;
    if may_run && steps.from.executor.is_none() {
        steps.will("pod controller: start the executor", |state| {
            state.executor = Some(Executor { uuid: in_flight.uuid, phase: Phase::Started });
        });
    }
}

fn take_up(steps: &mut Steps<'_>, composition: &Composition) {
    if !composition.finalizer {
        steps.will("composition controller: add the finalizer", |state| change(state, |c| c.finalizer = true));
    }
    if steps.scenario.cancels && composition.in_flight.is_some_and(|in_flight| !in_flight.canceled) {
        steps.may("composition controller: cancel the synthesis", |state| {
            change(state, |composition| {
                if let Some(in_flight) = &mut composition.in_flight {
                    in_flight.canceled = true;
                }
            });
        });
    }
}

fn finish(steps: &mut Steps<'_>, composition: &Composition) {
    match composition.current {
        Some(current) if current.observed != composition.generation => {
            steps.will("composition controller: take note of the deletion", |state| {
                let bumped = Current {
                    uuid: state.budget.next_uuid,
                    observed: composition.generation,
                    slices: current.slices,
                    reconciled: false,
                };
                state.budget.next_uuid += 1;
                change(state, |composition| composition.current = Some(bumped));
            });
        }
        Some(Current { reconciled: false, .. }) => {}
        Some(_) | None => {
            if composition.finalizer && steps.rules.may_end(steps.from, composition) {
                steps
                    .will("composition controller: drop the finalizer", |state| change(state, |c| c.finalizer = false));
            }
        }
    }
}

fn aggregate(steps: &mut Steps<'_>, composition: &Composition) {
    let Some(current) = composition.current else { return };
    if steps.scenario.by_events && !steps.from.budget.woken {
        return;
    }
    steps.will_aggregate(|state| match summary(state, composition, &current) {
        Summary::SliceMissing if composition.in_flight.is_some() || composition.force == current.uuid => {}
        Summary::SliceMissing => change(state, |composition| composition.force = current.uuid),
        Summary::Reconciled(reconciled) => {
            change(state, |composition| composition.current = Some(Current { reconciled, ..current }));
        }
    });
}

impl Steps<'_> {
    fn will_aggregate(&mut self, aggregate: impl FnOnce(&mut State)) {
        let by_events = self.scenario.by_events;
        self.will(SLICE_CONTROLLER, |state| {
            if by_events {
                state.budget.woken = false;
            }
            aggregate(state);
        });
    }
}

enum Summary {
    SliceMissing,
    Reconciled(bool),
}

fn summary(state: &State, composition: &Composition, current: &Current) -> Summary {
    let mut reconciled = true;
    for index in members(current.slices) {
        let Some(slice) = state.slices[index].filter(|slice| slice.seen) else {
            if composition.deleting {
                continue; // Missing counts as done.
            }
            return Summary::SliceMissing;
        };
        let all = slice.resources();
        match slice.status {
            None if all != 0 => return Summary::Reconciled(false),
            None => {}
            Some(status) => {
                reconciled &= status.reconciled & all == all;
                reconciled &= !composition.deleting || status.deleted & all == all;
            }
        }
    }
    Summary::Reconciled(reconciled)
}

fn clean_up(steps: &mut Steps<'_>) {
    let composition = steps.from.composition;
    let current = steps.from.current_slices();
    let previous = composition.map_or(0, |composition| composition.previous);
    let unreconciled = composition.and_then(|c| c.current).filter(|current| !current.reconciled);
    for (index, slice, rules) in steps.slices() {
        // It looks a slice up in its cache first, and fails on one without an owner.
        if !slice.seen || slice.owner == 0 {
            continue;
        }
        if !slice.deleting {
            if !contains(current | previous, index) && rules.may_be_deleted {
                steps.will(("slice cleanup: delete slice", index), |state| state.delete(index));
            }
        } else if slice.finalizer
            && !unreconciled.is_some_and(|current| contains(current.slices, index))
            && rules.may_be_stripped
        {
            steps.will(("slice cleanup: strip slice", index), |state| state.strip(index));
        }
    }
}
