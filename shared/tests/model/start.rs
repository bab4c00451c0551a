//! The state in which a scenario begins.

use super::scenarios::{Scenario, Start};
use super::state::{Budget, Cache, Cascade, Composition, Current, Mask, RESOURCES, SLICES, Seen, Slice, State, Status};

impl Scenario {
    pub fn first_state(&self) -> State {
        let output = self.outputs[0];
        let new = Composition {
            uid: 1,
            deleting: false,
            generation: 1,
            finalizer: true,
            cascade: Cascade::Background,
            force: 0,
            output,
            in_flight: None,
            current: None,
            previous: 0,
        };
        let budget = Budget {
            dispatched: 0,
            next_uuid: 1,
            spec_changes: self.spec_changes,
            slice_deletes: self.slice_deletes,
            recreations: self.recreations,
            composition_deletes: 1,
            woken: true,
            admitted: None,
            disturbed: false,
        };
        let mut state = State {
            composition: Some(new),
            slices: [None; SLICES],
            executor: None,
            reconciler: None,
            seen: None,
            present: 0,
            terminating: 0,
            namespace_terminating: false,
            budget,
        };
        if self.start != Start::New {
            self.reconcile(&mut state, output);
        }
        state.catch_up();
        state
    }

    /// Makes the new composition one that is reconciled.
    fn reconcile(&self, state: &mut State, output: Mask) {
        let owner = match self.start {
            Start::New | Start::Live => 1,
            Start::Restored => 9,
            Start::Unowned => 0,
        };
        let parts: &[Mask] = if self.split { &RESOURCES } else { &[output] };
        let mut cache = Cache { uuid: 1, deletes: false, content: [None; SLICES] };
        let mut slices = 0;
        for (index, live) in parts.iter().copied().enumerate() {
            state.slices[index] = Some(Slice {
                owner,
                live,
                tombstones: 0,
                status: Some(Status { reconciled: live, deleted: 0 }),
                deleting: false,
                finalizer: !self.without_finalizer,
                born: 0,
                seen: true,
            });
            cache.content[index] = Some((live, 0));
            slices |= 1 << index;
        }
        let composition = state.composition.as_mut().expect("a first state has a composition");
        composition.current = Some(Current { uuid: 1, observed: 1, slices, reconciled: true });
        state.reconciler = Some(cache);
        state.seen = Some(Seen { uuid: 1, deleting: false, slices });
        state.present = output;
        state.budget.next_uuid = 2;
    }
}
