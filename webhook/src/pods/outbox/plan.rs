//! Which entry lies in which shard, and what the next write is.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use eno_shared::pods::tracker::{Changed, Place};
use tokio::time::Instant;

/// How much one shard holds: an object may be 1 MiB, and is written whole each time that a part of it changes.
const SHARD: usize = 256 * 1024;

/// What lies where, and what is to be written.
#[derive(Debug)]
pub(super) struct Plan {
    /// How many shards there are at most.
    shards: u16,
    homes: HashMap<Box<str>, Home>,
    /// How many bytes each shard holds.
    used: HashMap<u16, usize>,
    dirty: HashMap<Box<str>, Dirty>,
    /// Since when the oldest of them waits.
    waiting: Waiting,
    /// Those that have found no place at the last try.
    unsaved: HashSet<Box<str>>,
}

#[derive(Debug)]
struct Home {
    place: Place,
    shard: u16,
    bytes: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    pressing: Option<Instant>,
    any: Option<Instant>,
}

#[derive(Debug)]
struct Dirty {
    place: Place,
    urgent: bool,
    since: Instant,
}

/// What one write changes.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The shard.
    pub(super) shard: u16,
    /// Entries by uid; nothing where there is nothing to keep any more.
    pub(super) entries: BTreeMap<Box<str>, Option<String>>,
    /// Where the pods are, for another try.
    places: Vec<Changed>,
}

impl Plan {
    /// Nothing lies anywhere yet.
    pub(super) fn new(shards: u16) -> Self {
        Plan {
            shards,
            homes: HashMap::new(),
            used: HashMap::new(),
            dirty: HashMap::new(),
            waiting: Waiting::default(),
            unsaved: HashSet::new(),
        }
    }

    /// An entry of so many bytes lies there.
    pub(super) fn lies(&mut self, place: &Place, uid: &str, shard: u16, bytes: usize) {
        self.settle(place, uid, Some((shard, bytes)));
    }

    /// Something that cannot be read takes space there.
    pub(super) fn occupied(&mut self, shard: u16, bytes: usize) {
        *self.used.entry(shard).or_default() += bytes;
    }

    pub(super) fn note(&mut self, changed: Changed, now: Instant) {
        let Changed { place, uid, urgent } = changed;
        let presses = urgent && !self.unsaved.contains(&uid);
        let dirty = self.dirty.entry(uid).or_insert(Dirty { place, urgent, since: now });
        dirty.urgent |= urgent;
        self.waiting.add(dirty.since, presses);
    }

    /// When something is to be written: what is urgent at once, the rest after `patience`.
    pub(super) fn due(&self, patience: Duration) -> Option<Instant> {
        let Waiting { pressing, any } = self.waiting;
        pressing.into_iter().chain(any.map(|since| since + patience)).min()
    }

    pub(super) fn has_urgent(&self) -> bool {
        self.waiting.pressing.is_some()
    }

    /// Nothing has time any more.
    pub(super) fn hurry(&mut self) {
        self.dirty.values_mut().for_each(|dirty| dirty.urgent = true);
        self.count_waiting();
    }

    fn count_waiting(&mut self) {
        let mut waiting = Waiting::default();
        self.dirty.iter().for_each(|(uid, dirty)| waiting.add(dirty.since, self.is_pressing(uid, dirty)));
        self.waiting = waiting;
    }

    /// What is urgent, but has found no place, is tried again when other things have moved.
    fn is_pressing(&self, uid: &str, dirty: &Dirty) -> bool {
        dirty.urgent && !self.unsaved.contains(uid)
    }

    pub(super) fn unsaved(&self) -> usize {
        self.unsaved.len()
    }

    /// The next write: all that changed in the shard of what has waited longest. `entry` says what there is to keep.
    pub(super) fn batch(&mut self, entry: impl Fn(&Place, &str) -> Option<String>, now: Instant) -> Option<Batch> {
        let mut dirty: Vec<_> = std::mem::take(&mut self.dirty).into_iter().collect();
        dirty.sort_by_key(|(uid, dirty)| (!self.is_pressing(uid, dirty), dirty.since));
        let mut batch: Option<Batch> = None;
        for (uid, dirty) in dirty {
            let text = entry(&dirty.place, &uid);
            let home = self.homes.get(&uid).map(|home| home.shard);
            if home.is_none() && text.is_none() {
                // It came and went between two writes.
                self.unsaved.remove(&uid);
                continue;
            }
            let chosen = batch.as_ref().map(|batch| batch.shard);
            let shard = home.or_else(|| {
                let bytes = uid.len() + text.as_ref().map_or(0, String::len);
                self.place_for(bytes, dirty.urgent, chosen)
            });
            let Some(shard) = shard else {
                self.unsaved.insert(uid.clone());
                self.dirty.insert(uid, Dirty { since: now, ..dirty });
                continue;
            };
            if chosen.is_some_and(|chosen| chosen != shard) {
                self.dirty.insert(uid, dirty);
                continue;
            }
            self.unsaved.remove(&uid);
            self.settle(&dirty.place, &uid, text.as_ref().map(|text| (shard, text.len())));
            let batch = batch.get_or_insert_with(|| Batch { shard, entries: BTreeMap::new(), places: vec![] });
            batch.places.push(Changed { place: dirty.place, uid: uid.clone(), urgent: dirty.urgent });
            batch.entries.insert(uid, text);
        }
        self.count_waiting();
        batch
    }

    /// A shard with room for so many bytes, the one that is written to anyway if it can be.
    fn place_for(&self, bytes: usize, urgent: bool, chosen: Option<u16>) -> Option<u16> {
        let has_room = |shard: &u16| self.used.get(shard).copied().unwrap_or_default() + bytes <= SHARD;
        // What has time leaves a quarter to what has none.
        let shards = if urgent { self.shards } else { self.shards - self.shards.div_ceil(4) };
        chosen.into_iter().chain(0..shards).find(has_room)
    }

    /// An entry lies there now, or nowhere.
    fn settle(&mut self, place: &Place, uid: &str, home: Option<(u16, usize)>) {
        if let Some(before) = self.homes.remove(uid)
            && let Some(used) = self.used.get_mut(&before.shard)
        {
            *used -= before.bytes as usize;
        }
        if let Some((shard, length)) = home {
            let bytes = u32::try_from(uid.len() + length).unwrap_or(u32::MAX);
            *self.used.entry(shard).or_default() += bytes as usize;
            self.homes.insert(uid.into(), Home { place: place.clone(), shard, bytes });
        }
    }

    /// A write was not made: its entries are to be written again.
    pub(super) fn failed(&mut self, batch: Batch, now: Instant) {
        for changed in batch.places {
            // What was to be removed lies there still.
            if !self.homes.contains_key(&changed.uid) {
                self.settle(&changed.place, &changed.uid, Some((batch.shard, 0)));
            }
            self.note(Changed { urgent: true, ..changed }, now);
        }
    }

    /// A shard is not as it was written: all that should lie there is to be written again.
    pub(super) fn lost(&mut self, shard: u16, now: Instant) {
        let there = self.homes.iter().filter(|(_, home)| home.shard == shard);
        let again = there.map(|(uid, home)| Changed { place: home.place.clone(), uid: uid.clone(), urgent: true });
        again.collect::<Vec<_>>().into_iter().for_each(|changed| self.note(changed, now));
    }
}

impl Waiting {
    fn add(&mut self, since: Instant, presses: bool) {
        let earlier = |before: Option<Instant>| Some(before.map_or(since, |before| before.min(since)));
        self.any = earlier(self.any);
        if presses {
            self.pressing = earlier(self.pressing);
        }
    }
}

#[cfg(test)]
mod tests;
