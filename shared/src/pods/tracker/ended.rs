//! Pods whose end was told. None may come back: who is seen again was told dead in error, or a watch is late.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::{Now, Place, SWEEP};

/// For how long an end is remembered: longer than any watch is late.
const MEMORY: Duration = Duration::from_secs(600);

#[derive(Debug, Default)]
pub(super) struct Tombs {
    buried: HashMap<Box<str>, Tomb>,
    /// Those that a watch shows again, and since when.
    shown: HashMap<Box<str>, Instant>,
}

#[derive(Debug)]
struct Tomb {
    place: Place,
    since: Instant,
}

impl Tombs {
    pub(super) fn bury(&mut self, uid: &str, place: Place, now: Now) {
        self.buried.insert(uid.into(), Tomb { place, since: now.tick });
    }

    pub(super) fn contains(&self, uid: &str) -> bool {
        self.buried.contains_key(uid)
    }

    /// A watch shows the pod. Was its end told?
    pub(super) fn haunts(&mut self, uid: &str, now: Now) -> bool {
        let was_told = self.contains(uid);
        if was_told {
            self.shown.entry(uid.into()).or_insert(now.tick);
        }
        was_told
    }

    /// A watch, or a look, says that it is gone. Was its end told?
    pub(super) fn rests(&mut self, uid: &str) -> bool {
        self.shown.remove(uid);
        self.contains(uid)
    }

    /// It was told dead, and lives.
    pub(super) fn rises(&mut self, uid: &str) {
        self.rests(uid);
        self.buried.remove(uid);
    }

    /// Forgets what is long over. Returns the places of those that are still shown a sweep later.
    pub(super) fn sweep(&mut self, tick: Instant) -> Vec<Place> {
        let shown = &self.shown;
        let is_recent = |tomb: &Tomb| tick.saturating_duration_since(tomb.since) < MEMORY;
        self.buried.retain(|uid, tomb| shown.contains_key(uid) || is_recent(tomb));
        let is_due = |since: &Instant| tick.saturating_duration_since(*since) >= SWEEP;
        let due = self.shown.iter().filter(|(_, since)| is_due(since));
        due.filter_map(|(uid, _)| Some(self.buried.get(uid)?.place.clone())).collect()
    }

    /// Those of a place that are shown again.
    pub(super) fn shown_at(&self, place: &Place) -> impl Iterator<Item = &Box<str>> {
        self.shown.keys().filter(move |uid| self.buried.get(*uid).is_some_and(|tomb| tomb.place == *place))
    }
}
