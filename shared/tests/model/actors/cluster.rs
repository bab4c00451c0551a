//! Kubernetes' own controllers: the garbage collector and the namespace controller.

use super::super::state::Cascade;
use super::{Steps, change, delete_composition};

pub fn act(steps: &mut Steps<'_>) {
    let composition = steps.from.composition;
    for (index, slice, rules) in steps.slices() {
        let owner = composition.filter(|composition| composition.uid == slice.owner);
        let going = owner.filter(|owner| owner.deleting).map(|owner| owner.cascade);
        if !slice.deleting && rules.may_be_deleted {
            if slice.owner != 0 && owner.is_none() {
                steps
                    .will(("garbage collector: the owner is absent, delete slice", index), |state| state.delete(index));
            }
            if going == Some(Cascade::Foreground) {
                steps.will(("garbage collector: foreground, delete slice", index), |state| state.delete(index));
            }
            if steps.from.namespace_terminating {
                steps.will(("namespace controller: delete slice", index), |state| state.delete(index));
            }
        }
        if going == Some(Cascade::Orphan) && rules.may_be_disowned {
            steps.will(("garbage collector: orphan slice", index), |state| {
                if let Some(slice) = &mut state.slices[index] {
                    slice.owner = 0;
                }
            });
        }
    }
    let Some(composition) = composition else { return };
    let has_dependents = steps.slices().any(|(_, slice, _)| slice.owner == composition.uid);
    if composition.deleting && composition.cascade != Cascade::Background && !has_dependents {
        steps.will("garbage collector: drop its finalizer", |state| {
            change(state, |composition| composition.cascade = Cascade::Background);
        });
    }
    if steps.from.namespace_terminating && !composition.deleting {
        steps.will("namespace controller: delete the composition", |state| {
            delete_composition(state, composition.cascade);
        });
    }
}
