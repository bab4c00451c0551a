//! `--until`: the same conditions as those of `wait`, for each object that was there at first.

use std::collections::BTreeMap;

use eno_shared::api::{Composition, Kind as _, ResourceSlice};
use eno_shared::names::ENO_GROUP;

use crate::cli::WaitFor;
use crate::cmd::wait::state::{self, Asked, State};
use crate::cmd::why::target::{Kind, Target};
use crate::failure::Failure;
use crate::live::{Change, Place};
use crate::snapshot::Snapshot;

/// What is waited for.
pub(in crate::cmd) struct Until {
    state: WaitFor,
    slices: bool,
    /// The uid of each object, once it could be read. A namesake that comes later is another one.
    objects: BTreeMap<Place, Option<String>>,
    /// Those that are not there yet, and why.
    unmet: BTreeMap<Place, String>,
}

impl Until {
    /// Until these are in that state: slices, or compositions.
    ///
    /// # Errors
    /// One will never be.
    pub(in crate::cmd) fn new(
        state: WaitFor,
        slices: bool,
        objects: BTreeMap<Place, Option<String>>,
        snapshot: &Snapshot,
    ) -> Result<Self, Failure> {
        let places: Vec<Place> = objects.keys().cloned().collect();
        let mut until = Until { state, slices, objects, unmet: BTreeMap::new() };
        places.into_iter().try_for_each(|place| until.look(snapshot, &place))?;
        Ok(until)
    }

    /// Until the object that is asked for is in that state.
    ///
    /// # Errors
    /// It will never be, or it is none that can be waited for.
    pub(in crate::cmd) fn of_target(
        state: WaitFor,
        target: Option<&Target>,
        namespace: &str,
        snapshot: &Snapshot,
    ) -> Result<Self, Failure> {
        let Some(Target { kind: kind @ (Kind::Slice | Kind::Composition), name }) = target else {
            return Err(Failure::local("--until is for a resourceslice or a composition: name one"));
        };
        let objects = BTreeMap::from([((namespace.to_owned(), name.clone()), None)]);
        Until::new(state, *kind == Kind::Slice, objects, snapshot)
    }

    /// Looks again at what has changed.
    ///
    /// # Errors
    /// One will never be in that state.
    pub(in crate::cmd) fn update(&mut self, snapshot: &Snapshot, change: &Change) -> Result<(), Failure> {
        let touched = if self.slices { &change.slices } else { &change.compositions };
        touched.iter().try_for_each(|place| self.look(snapshot, place))
    }

    fn look(&mut self, snapshot: &Snapshot, place: &Place) -> Result<(), Failure> {
        let Some(uid) = self.objects.get_mut(place) else { return Ok(()) };
        let (namespace, name) = place;
        let asked = Asked { snapshot, namespace, name, uid: uid.as_deref() };
        let state =
            if self.slices { state::of_slice(&asked, self.state) } else { state::of_composition(&asked, self.state) };
        match state {
            State::Reached => self.unmet.remove(place),
            State::Waiting(waiting) => {
                if uid.is_none() {
                    *uid = Some(waiting.uid).filter(|uid| !uid.is_empty());
                }
                self.unmet.insert(place.clone(), waiting.text)
            }
            State::Never(why) => return Err(Failure::local(format_args!("{}: {why}", self.object(place)))),
        };
        Ok(())
    }

    /// Are all of them?
    pub(in crate::cmd) fn is_reached(&self) -> bool {
        self.unmet.is_empty()
    }

    /// What is not there yet.
    pub(in crate::cmd) fn awaits(&self) -> String {
        let word = match self.state {
            WaitFor::Deleted => "deleted",
            WaitFor::Reconciled => "reconciled",
        };
        let first = self.unmet.first_key_value();
        let first = first.map_or_else(String::new, |(place, why)| format!("{}: {why}", self.object(place)));
        format!("{} of {} to be {word}; {first}", self.unmet.len(), self.objects.len())
    }

    fn object(&self, (namespace, name): &Place) -> String {
        let kind = if self.slices { ResourceSlice::SINGULAR } else { Composition::SINGULAR };
        format!("{kind}.{ENO_GROUP}/{name} in {namespace}")
    }
}
