//! The real rules, asked about the model's states.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use eno_shared::admission::composition::{Evidence, update as end_of_composition, wanted};
use eno_shared::admission::slice::{Dropped, delete, update};
use eno_shared::admission::{Answer, Outcome};
use eno_shared::api::{self, Content, ResourceState, SliceRef, Synthesis};
use eno_shared::judge::judge;
use eno_shared::names::{CLEANUP_FINALIZER, FOREGROUND_FINALIZER, ORPHAN_FINALIZER};
use eno_shared::{Compositions, Judgement, Lookup, Reason, Verdict, fixtures};
use jiff::{SignedDuration, Timestamp};

use super::state::{Cascade, Composition, Mask, RESOURCES, SLICES, Slice, State, Status, contains, members};

/// What is left out of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// Nothing.
    Nothing,
    /// All: Eno alone.
    Rules,
    /// A1: a finished composition is emptied, and its slices keep their owner for that.
    EmptyingOfFinished,
    /// A6 and B3.
    InFlight,
    /// B4's and C4's questions whether Eno has seen the deletion and what the slice's own status says: `reconciled` alone
    /// is believed, as Eno does.
    Proof,
    /// B4's and C4's question to the slice's own status.
    SliceStatus,
    /// B5.
    LiveCurrent,
    /// C1.
    Deletes,
    /// C2.
    Strips,
    /// C4.
    Ends,
    /// C4's refusal of compositions that are not being deleted.
    EndsOfLive,
}

/// What the rules say of one slice.
#[derive(Debug, Clone, Copy)]
pub struct OfSlice {
    pub collect: bool,
    pub release: bool,
    /// B5 holds it: the controller asks for a new synthesis.
    pub needs_synthesis: bool,
    pub may_be_deleted: bool,
    pub may_be_stripped: bool,
    pub may_be_disowned: bool,
}

/// The composition, and the slice with its number.
type SliceQuestion = (Option<Composition>, usize, Slice);
/// The composition, and the slices that its current synthesis lists.
type EndQuestion = (Composition, [Option<Slice>; SLICES]);

/// The rules, with their answers remembered: few distinct questions are asked very often.
pub struct Rules {
    without: Without,
    slices: RefCell<HashMap<SliceQuestion, OfSlice>>,
    ends: RefCell<HashMap<EndQuestion, bool>>,
}

impl Rules {
    pub fn without(without: Without) -> Self {
        Rules { without, slices: RefCell::default(), ends: RefCell::default() }
    }

    pub fn are_on(&self) -> bool {
        self.without != Without::Rules
    }

    pub fn of_slice(&self, state: &State, index: usize, slice: &Slice) -> OfSlice {
        // What no rule reads is left out of the question.
        let composition = state.composition.map(|composition| Composition { force: 0, output: 0, ..composition });
        let key = (composition, index, Slice { seen: true, ..*slice });
        *self.slices.borrow_mut().entry(key).or_insert_with(|| self.judge_slice(composition, index, slice))
    }

    /// C4: may the composition lose its finalizer?
    pub fn may_end(&self, state: &State, composition: &Composition) -> bool {
        let mut slices = state.slices;
        for (index, slice) in slices.iter_mut().enumerate() {
            *slice = slice.filter(|_| contains(composition.current_slices(), index));
        }
        let key = (*composition, slices);
        *self.ends.borrow_mut().entry(key).or_insert_with(|| self.judge_end(composition, &slices))
    }

    fn judge_slice(&self, composition: Option<Composition>, index: usize, slice: &Slice) -> OfSlice {
        let composition = composition.map_or(Lookup::Missing, |c| Lookup::Found(Arc::new(self.composition(&c))));
        let compositions = Compositions::whole([("web".to_owned(), composition)]);
        let slice = self.slice(index, slice);
        let Judgement { verdict, reason, .. } = judge(&slice, &compositions, now());
        let finished = matches!(reason, Reason::CompositionFinished { .. });
        let held_by_live = verdict == Verdict::Hold && matches!(reason, Reason::ReferencedByCurrent { .. });
        let unguarded = held_by_live && self.without == Without::LiveCurrent;
        let cleanup_runs = self.without != Without::EmptyingOfFinished;
        let drop = |finalizer, owner| {
            let answer = update(&slice, Dropped { finalizer, owner }, &compositions, cleanup_runs);
            self.without == Without::Strips || unguarded || self.allows(&answer)
        };
        OfSlice {
            collect: self.are_on() && verdict == Verdict::Collect && (cleanup_runs || !finished),
            release: self.are_on() && (verdict == Verdict::Release || unguarded),
            needs_synthesis: self.are_on() && held_by_live && !unguarded,
            may_be_deleted: self.without == Without::Deletes || self.allows(&delete(&slice, &compositions, now())),
            may_be_stripped: drop(true, false),
            may_be_disowned: drop(false, true),
        }
    }

    fn judge_end(&self, composition: &Composition, slices: &[Option<Slice>; SLICES]) -> bool {
        let mut object = self.composition(composition);
        if self.without == Without::EndsOfLive {
            object.metadata.deletion_timestamp = Some(now());
        }
        let look_up = |name: &String| {
            let index = (0..SLICES).find(|index| slice_name(*index) == *name).expect("a slice of the model");
            let found = slices[index].map_or(Lookup::Missing, |slice| Lookup::Found(self.slice(index, &slice)));
            (name.clone(), found)
        };
        let evidence = Evidence { symphony: None, slices: wanted(&object).slices.iter().map(look_up).collect() };
        self.without == Without::Ends || self.allows(&end_of_composition(&object, &evidence))
    }

    fn allows(&self, answer: &Answer) -> bool {
        self.without == Without::Rules || answer.outcome == Outcome::Allow
    }

    fn composition(&self, model: &Composition) -> api::Composition {
        let mut composition = fixtures::composition("web");
        composition.metadata.uid = uid(model.uid);
        composition.metadata.generation = model.generation.into();
        composition.metadata.deletion_timestamp = model.deleting.then(now);
        composition.metadata.finalizers =
            model.finalizer.then(|| CLEANUP_FINALIZER.to_owned()).into_iter().chain(cascade(model.cascade)).collect();
        composition.status.current_synthesis = model.current.map(|current| Synthesis {
            reconciled: current.reconciled.then(now),
            observed_composition_generation: if self.without == Without::Proof {
                model.generation.into()
            } else {
                current.observed.into()
            },
            ..synthesis(current.uuid, current.slices)
        });
        composition.status.previous_synthesis = (model.previous != 0).then(|| synthesis(0, model.previous));
        composition.status.in_flight_synthesis =
            model.in_flight.filter(|_| self.without != Without::InFlight).map(|in_flight| Synthesis {
                initialized: Some(dispatch_time(in_flight.dispatch)),
                observed_composition_generation: in_flight.observed.into(),
                canceled: in_flight.canceled.then(now),
                ..synthesis(in_flight.uuid, 0)
            });
        composition
    }

    fn slice(&self, index: usize, model: &Slice) -> api::ResourceSlice {
        let mut slice = fixtures::slice(&slice_name(index), &fixtures::composition("web"));
        slice.metadata.creation_timestamp = Some(dispatch_time(model.born) + SignedDuration::from_secs(50));
        slice.metadata.deletion_timestamp = model.deleting.then(now);
        slice.metadata.finalizers = model.finalizer.then(|| CLEANUP_FINALIZER.to_owned()).into_iter().collect();
        match model.owner {
            0 => slice.metadata.owner_references.clear(),
            owner => slice.metadata.owner_references[0].uid = uid(owner),
        }
        let resources = || RESOURCES.iter().filter(|resource| model.resources() & **resource != 0);
        let believed = self.without == Without::SliceStatus || self.without == Without::Proof;
        let status = model.status.or(believed.then_some(Status { reconciled: 0, deleted: 0 }));
        let state = |resource: &Mask| {
            let Status { reconciled, deleted } = status?;
            let (reconciled, deleted) = (reconciled & resource != 0, deleted & resource != 0 || believed);
            Some(ResourceState { reconciled, deleted, ..ResourceState::default() })
        };
        let states = resources().filter_map(state).collect();
        slice.content = Content::Read { synthesis_uuid: String::new(), resources: resources().count(), states };
        slice
    }
}

fn synthesis(uuid: u8, slices: Mask) -> Synthesis {
    Synthesis {
        uuid: format!("synthesis-{uuid}"),
        resource_slices: members(slices).map(|slice| SliceRef { name: slice_name(slice).into() }).collect(),
        ..Synthesis::default()
    }
}

fn cascade(cascade: Cascade) -> Option<String> {
    match cascade {
        Cascade::Background => None,
        Cascade::Foreground => Some(FOREGROUND_FINALIZER.to_owned()),
        Cascade::Orphan => Some(ORPHAN_FINALIZER.to_owned()),
    }
}

fn slice_name(index: usize) -> String {
    format!("slice-{index}")
}

fn uid(number: u8) -> String {
    format!("uid-{number}")
}

/// Dispatches are further apart than the clocks may be.
fn dispatch_time(dispatch: u8) -> Timestamp {
    fixtures::ago(3600) + SignedDuration::from_secs(100 * i64::from(dispatch))
}

/// Long after all that happens.
fn now() -> Timestamp {
    fixtures::now()
}
