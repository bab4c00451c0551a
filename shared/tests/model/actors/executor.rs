//! The executor in the synthesis pod: reads, writes slices one by one, and then makes them current.

use super::super::state::{
    Composition, Current, Executor, Mask, Phase, RESOURCES, Slice, State, Violation, contains, members,
};
use super::{Steps, change};

pub fn act(steps: &mut Steps<'_>) {
    let Some(executor) = steps.from.executor else { return };
    let composition = steps.from.composition;
    let wanted = composition.filter(|composition| {
        composition.in_flight.is_some_and(|in_flight| in_flight.uuid == executor.uuid && !in_flight.canceled)
    });
    if steps.scenario.executor_crashes && executor.phase != Phase::Started {
        steps.may("executor: crash and start again", |state| go_on(state, &executor, Phase::Started));
    }
    if steps.from.namespace_terminating || composition.is_none_or(|composition| composition.deleting) {
        steps.will("pod cleanup: kill the executor", |state| state.executor = None);
    }
    match executor.phase {
        Phase::Started => steps.will("executor: read the composition", |state| match wanted {
            None => state.executor = None,
            Some(Composition { uid, output, .. }) => {
                let current = state.current_slices();
                go_on(state, &executor, Phase::HasRead { uid, output, current });
            }
        }),
        Phase::HasRead { uid, output, current } => {
            let split = steps.scenario.split;
            steps.will("executor: read the current slices", |state| {
                let tombstones = tombstones(state, output, current);
                let todo = parts(split, output, tombstones);
                go_on(state, &executor, Phase::Writing { uid, todo, made: 0 });
            });
        }
        Phase::Writing { uid, todo, made } => match todo {
            [Some(part), rest] => write(steps, &executor, uid, part, [rest, None], made),
            [None, Some(part)] => write(steps, &executor, uid, part, [None; 2], made),
            [None, None] => steps.will("executor: make its slices current", |state| swap(state, wanted, made)),
        },
    }
}

fn go_on(state: &mut State, executor: &Executor, phase: Phase) {
    state.executor = Some(Executor { phase, ..*executor });
}

/// What the current slices hold and the new output does not. Slices that are missing are passed over, and so is a resource
/// of a slice that is going, once it is reconciled (L7).
fn tombstones(state: &State, output: Mask, current: Mask) -> Mask {
    let mut tombstones = 0;
    for slice in members(current).filter_map(|index| state.slices[index]) {
        let done = if slice.deleting { slice.resources() } else { slice.tombstones };
        let reconciled = slice.status.map_or(0, |status| status.reconciled);
        tombstones |= slice.resources() & !output & !(done & reconciled);
    }
    tombstones
}

/// The slices to write: live resources and tombstones of each.
fn parts(split: bool, output: Mask, tombstones: Mask) -> [Option<(Mask, Mask)>; 2] {
    if !split {
        return [(output | tombstones != 0).then_some((output, tombstones)), None];
    }
    RESOURCES.map(|resource| {
        let part = (output & resource, tombstones & resource);
        (part != (0, 0)).then_some(part)
    })
}

fn write(
    steps: &mut Steps<'_>,
    executor: &Executor,
    uid: u8,
    (live, tombstones): (Mask, Mask),
    todo: [Option<(Mask, Mask)>; 2],
    made: Mask,
) {
    if steps.from.namespace_terminating {
        steps.will("executor: may not create, gives up", |state| state.executor = None);
        return;
    }
    let Some(index) = fresh_name(steps.from, steps.scenario.slices, made) else { return };
    let seen = !steps.scenario.stale_slices;
    steps.will(("executor: create slice", index), |state| {
        state.slices[index] = Some(Slice {
            owner: uid,
            live,
            tombstones,
            status: None,
            deleting: false,
            finalizer: true,
            born: state.budget.dispatched,
            seen,
        });
        go_on(state, executor, Phase::Writing { uid, todo, made: made | 1 << index });
    });
}

/// Names are random, so a name that anybody still knows is not used again.
fn fresh_name(state: &State, room: usize, made: Mask) -> Option<usize> {
    let previous = state.composition.map_or(0, |composition| composition.previous);
    let seen = state.seen.map_or(0, |seen| seen.slices);
    let known = made | previous | seen | state.current_slices();
    (0..room).find(|index| {
        let cached = state.reconciler.is_some_and(|cache| cache.content[*index].is_some());
        state.slices[*index].is_none() && !cached && !contains(known, *index)
    })
}

fn swap(state: &mut State, wanted: Option<Composition>, made: Mask) -> Option<Violation> {
    state.executor = None;
    let composition = wanted?;
    let in_flight = composition.in_flight?;
    let gone = members(made).any(|index| state.slices[index].is_none());
    change(state, |composition| {
        composition.previous = composition.current_slices();
        composition.current =
            Some(Current { uuid: in_flight.uuid, observed: in_flight.observed, slices: made, reconciled: false });
        composition.in_flight = None;
    });
    (composition.finalizer && gone).then_some(Violation::MadeCurrentThoughGone)
}
