//! Our controllers: collect garbage, release what is going, and ask for the synthesis that frees a held slice.

use super::super::state::contains;
use super::{Steps, change};

pub fn act(steps: &mut Steps<'_>) {
    for (index, slice, rules) in steps.slices() {
        if rules.collect && rules.may_be_deleted {
            steps.will(("ours: collect slice", index), |state| state.delete(index));
        }
        if slice.deleting && slice.finalizer && rules.release {
            steps.will(("ours: release slice", index), |state| state.strip(index));
        }
        if slice.deleting && rules.needs_synthesis {
            ask_for_synthesis(steps, index);
        }
    }
}

fn ask_for_synthesis(steps: &mut Steps<'_>, index: usize) {
    let Some(composition) = steps.from.composition else { return };
    let Some(current) = composition.current else { return };
    let up_to_date = current.observed == composition.generation && contains(current.slices, index);
    if up_to_date && composition.force != composition.latest() {
        steps.will("ours: ask for a synthesis", |state| {
            change(state, |composition| composition.force = composition.latest());
        });
    }
}
