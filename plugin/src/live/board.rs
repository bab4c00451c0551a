//! Objects as they are shown, judged again only where something has changed or time makes a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eno_shared::Reason;
use jiff::{SignedDuration, Timestamp};

use super::{Change, Place};
use crate::age::is_older;
use crate::finding::Finding;
use crate::finding::composition::CompositionFinding;
use crate::item::Item;
use crate::item::composition::CompositionItem;
use crate::snapshot::Snapshot;

/// What a board can show.
pub trait Judged: Sized + PartialEq {
    /// All there are.
    fn places(snapshot: &Snapshot) -> Vec<Place>;
    /// Those that may be judged otherwise.
    fn touched(change: &Change) -> &BTreeSet<Place>;
    /// What the rules say, and when they will say something else if nothing changes. `None` where it does not exist.
    fn judge(snapshot: &Snapshot, place: &Place, patience: SignedDuration) -> Option<(Self, Option<Timestamp>)>;
    /// When it was made.
    fn creation(&self) -> Option<Timestamp>;
    /// How soon a person should look at it.
    fn urgency(&self) -> Urgency;
}

/// How soon a person should look at an object: least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// It is stuck, since then.
    Stuck(Option<Timestamp>),
    /// It is being deleted.
    Going,
    /// It waits for something.
    Waiting,
    /// All is well.
    Quiet,
}

impl Urgency {
    fn of(stuck: bool, deleting: bool, waiting_since: Option<Timestamp>) -> Self {
        match (stuck, deleting, waiting_since) {
            (true, _, since) => Urgency::Stuck(since),
            (false, true, _) => Urgency::Going,
            (false, false, Some(_)) => Urgency::Waiting,
            (false, false, None) => Urgency::Quiet,
        }
    }
}

/// What has become of an object.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<I> {
    /// It is new.
    Added(Place),
    /// It is shown otherwise than so.
    Modified(Place, I),
    /// It is gone; so it was shown last.
    Deleted(Place, I),
    /// It exists, and is not selected any more; so it was shown last.
    Left(Place, I),
}

/// Is an object of the snapshot selected?
pub type Keeps<I> = dyn Fn(&Snapshot, &I) -> bool;

/// Which objects are shown.
pub struct Selected<I> {
    /// Those of which this is true.
    pub keeps: Box<Keeps<I>>,
    /// Those that are older.
    pub older_than: Option<Duration>,
}

impl<I> Default for Selected<I> {
    fn default() -> Self {
        Selected { keeps: Box::new(|_, _| true), older_than: None }
    }
}

/// Objects as they are shown.
pub struct Board<I> {
    patience: SignedDuration,
    selected: Selected<I>,
    items: BTreeMap<Place, I>,
    /// When an object must be judged again, though nothing has changed.
    due: BTreeMap<Place, Timestamp>,
}

impl<I: Judged> Board<I> {
    /// An empty one, of all objects. What waits for longer than `patience` is stuck.
    pub fn new(patience: SignedDuration) -> Self {
        Self::of(patience, Selected::default())
    }

    /// An empty one, of the objects that are selected.
    pub fn of(patience: SignedDuration, selected: Selected<I>) -> Self {
        Board { patience, selected, items: BTreeMap::new(), due: BTreeMap::new() }
    }

    /// Judges all there is.
    pub fn fill(&mut self, snapshot: &Snapshot) {
        for place in I::places(snapshot) {
            self.judge(snapshot, place);
        }
    }

    /// Judges again what a change or the time may have made different. Says what has.
    pub fn update(&mut self, snapshot: &Snapshot, change: &Change) -> Vec<Turn<I>> {
        let due = self.due.iter().filter(|(_, at)| **at <= snapshot.now).map(|(place, _)| place.clone());
        let places: BTreeSet<Place> = due.chain(I::touched(change).iter().cloned()).collect();
        places.into_iter().filter_map(|place| self.judge(snapshot, place)).collect()
    }

    fn judge(&mut self, snapshot: &Snapshot, place: Place) -> Option<Turn<I>> {
        let now = snapshot.now;
        let judged = I::judge(snapshot, &place, self.patience);
        let exists = judged.is_some();
        let mut due = None;
        let shown = judged.and_then(|(item, changes)| {
            let created = item.creation();
            let age = self.selected.older_than;
            let old = age.and_then(|age| created?.checked_add(age).ok()).filter(|old| *old > now);
            due = [changes, old].into_iter().flatten().min();
            let kept = age.is_none_or(|age| is_older(created, age, now)) && (self.selected.keeps)(snapshot, &item);
            kept.then_some(item)
        });
        match due {
            Some(due) => self.due.insert(place.clone(), due),
            None => self.due.remove(&place),
        };
        match (shown, self.items.remove(&place)) {
            (None, None) => None,
            (None, Some(last)) if exists => Some(Turn::Left(place, last)),
            (None, Some(last)) => Some(Turn::Deleted(place, last)),
            (Some(item), last) => {
                let turn = match last {
                    None => Some(Turn::Added(place.clone())),
                    Some(last) if last != item => Some(Turn::Modified(place.clone(), last)),
                    Some(_) => None,
                };
                self.items.insert(place, item);
                turn
            }
        }
    }

    /// What is shown, by namespace and name.
    pub fn items(&self) -> impl Iterator<Item = (&Place, &I)> {
        self.items.iter()
    }

    /// One that is shown.
    pub fn get(&self, place: &Place) -> Option<&I> {
        self.items.get(place)
    }

    /// When time alone makes a difference: [`Board::update`] with an empty change, then.
    pub fn due(&self) -> Option<Timestamp> {
        self.due.values().min().copied()
    }
}

/// When something that waits counts as stuck, if it does not yet.
fn stuck_at(waiting_since: Option<Timestamp>, patience: SignedDuration, now: Timestamp) -> Option<Timestamp> {
    waiting_since?.checked_add(patience).ok().filter(|at| *at > now)
}

impl Judged for Item {
    fn places(snapshot: &Snapshot) -> Vec<Place> {
        let place = |(namespace, name): (&str, &str)| (namespace.to_owned(), name.to_owned());
        snapshot.slices.iter().map(|seen| place(seen.place())).collect()
    }

    fn touched(change: &Change) -> &BTreeSet<Place> {
        &change.slices
    }

    fn judge(snapshot: &Snapshot, place: &Place, patience: SignedDuration) -> Option<(Self, Option<Timestamp>)> {
        let finding = Finding::of(snapshot.seen(&place.0, &place.1)?, &snapshot.namespaces, snapshot.now);
        let grown = if let Reason::TooNew { until } = finding.judgement.reason { Some(until) } else { None };
        let due = grown.into_iter().chain(stuck_at(finding.waiting_since, patience, snapshot.now)).min();
        Some((Item::new(&finding, snapshot.now, patience), due))
    }

    fn creation(&self) -> Option<Timestamp> {
        self.creation_timestamp()
    }

    fn urgency(&self) -> Urgency {
        Urgency::of(self.is_stuck(), self.is_deleting(), self.waiting_since())
    }
}

impl Judged for CompositionItem {
    fn places(snapshot: &Snapshot) -> Vec<Place> {
        let namespaces = &snapshot.namespaces;
        let of = |home: &str| {
            let names = namespaces.compositions(home).names();
            names.map(|name| (home.to_owned(), name.to_owned())).collect::<Vec<_>>()
        };
        namespaces.names().flat_map(of).collect()
    }

    fn touched(change: &Change) -> &BTreeSet<Place> {
        &change.compositions
    }

    fn judge(snapshot: &Snapshot, place: &Place, patience: SignedDuration) -> Option<(Self, Option<Timestamp>)> {
        let finding = CompositionFinding::of(snapshot, &place.0, &place.1)?;
        let due = stuck_at(finding.waiting_since, patience, snapshot.now);
        Some((CompositionItem::new(&finding, snapshot.now, patience), due))
    }

    fn creation(&self) -> Option<Timestamp> {
        self.creation_timestamp()
    }

    fn urgency(&self) -> Urgency {
        Urgency::of(self.is_stuck(), self.is_deleting(), self.waiting_since())
    }
}

mod pods;
#[cfg(test)]
mod tests;
