//! People, and accidents.

use super::super::state::{Admitted, Cascade, Composition, State};
use super::{Steps, change, delete_composition};

pub fn act(steps: &mut Steps<'_>) {
    match steps.from.composition {
        Some(composition) => change_composition(steps, &composition),
        None => recreate_composition(steps),
    }
    if steps.scenario.namespace_deleted && !steps.from.namespace_terminating {
        steps.may("user: delete the namespace", |state| state.namespace_terminating = true);
    }
    change_slices(steps);
    if steps.scenario.late_writes {
        write_late(steps);
    }
    let budget = steps.from.budget;
    if steps.scenario.resource_terminates && !budget.disturbed && steps.from.present & !steps.from.terminating & 1 != 0
    {
        steps.may("user: delete a resource that has a finalizer", |state| {
            state.terminating |= 1;
            state.budget.disturbed = true;
        });
    }
}

fn change_composition(steps: &mut Steps<'_>, composition: &Composition) {
    let budget = steps.from.budget;
    if !composition.deleting && budget.composition_deletes > 0 {
        for cascade in steps.scenario.cascades {
            let label = match cascade {
                Cascade::Background => "user: delete the composition",
                Cascade::Foreground => "user: delete the composition, --cascade=foreground",
                Cascade::Orphan => "user: delete the composition, --cascade=orphan",
            };
            steps.may(label, |state| {
                delete_composition(state, *cascade);
                state.budget.composition_deletes -= 1;
            });
        }
    }
    if budget.spec_changes > 0 {
        let outputs = steps.scenario.outputs;
        let at = outputs.iter().position(|output| *output == composition.output).expect("an output of the scenario");
        steps.may("user: change the spec", |state| {
            change(state, |composition| {
                composition.output = outputs[(at + 1) % outputs.len()];
                composition.generation += 1;
            });
            state.budget.spec_changes -= 1;
        });
    }
    if steps.scenario.strips_composition && composition.finalizer && steps.rules.may_end(steps.from, composition) {
        steps.may("user: strip the composition's finalizer", |state| {
            change(state, |composition| composition.finalizer = false)
        });
    }
}

fn recreate_composition(steps: &mut Steps<'_>) {
    if steps.from.budget.recreations == 0 || steps.from.namespace_terminating {
        return;
    }
    let output = steps.scenario.outputs[0];
    steps.may("user: create the composition again", |state| {
        state.composition = Some(Composition {
            uid: 2,
            deleting: false,
            generation: 1,
            finalizer: false,
            cascade: Cascade::Background,
            force: 0,
            output,
            in_flight: None,
            current: None,
            previous: 0,
        });
        state.budget.recreations -= 1;
        state.budget.composition_deletes = 1;
    });
}

fn change_slices(steps: &mut Steps<'_>) {
    let budget = steps.from.budget;
    for (index, slice, rules) in steps.slices() {
        if budget.slice_deletes > 0 && !slice.deleting && rules.may_be_deleted {
            steps.may(("user: delete slice", index), |state| {
                state.budget.slice_deletes -= 1;
                state.delete(index)
            });
        }
        if steps.scenario.webhook_down && !budget.disturbed && !slice.deleting {
            steps.may(("user: while the webhook is down, delete slice", index), |state| {
                state.budget.disturbed = true;
                state.delete(index)
            });
        }
        if steps.scenario.strips && slice.finalizer && rules.may_be_stripped {
            steps.may(("user: strip the finalizer of slice", index), |state| state.strip(index));
        }
    }
}

/// Requests that are admitted now and stored later.
fn write_late(steps: &mut Steps<'_>) {
    let Some(Admitted { strips, slice: number, as_it_was }) = steps.from.budget.admitted else {
        for (index, slice, rules) in steps.slices() {
            let number = u8::try_from(index).expect("few slices");
            let admit = |strips| {
                move |state: &mut State| {
                    state.budget.admitted = Some(Admitted { strips, slice: number, as_it_was: slice });
                }
            };
            if !slice.deleting && rules.may_be_deleted {
                steps.may(("admitted: delete slice", index), admit(false));
            }
            if slice.finalizer && rules.may_be_stripped {
                steps.may(("admitted: strip slice", index), admit(true));
            }
        }
        return;
    };
    let index = usize::from(number);
    if steps.from.slices[index] == Some(as_it_was) {
        steps.will(("stored: the admitted change of slice", index), |state| {
            state.budget.admitted = None;
            if strips { state.strip(index) } else { state.delete(index) }
        });
    }
    steps.will("the admitted request fails", |state| state.budget.admitted = None);
}
