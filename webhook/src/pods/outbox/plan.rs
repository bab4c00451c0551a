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
    /// Entries that lie elsewhere by now, by the shard that they are to be removed from, and their bytes.
    leftovers: BTreeMap<u16, HashMap<Box<str>, usize>>,
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
    /// What lay elsewhere before it grew: where, and with how many bytes.
    moved: HashMap<Box<str>, (u16, usize)>,
}

impl Batch {
    /// Of nothing yet.
    fn of(shard: u16) -> Self {
        Batch { shard, entries: BTreeMap::new(), places: vec![], moved: HashMap::new() }
    }
}

impl Plan {
    /// Nothing lies anywhere yet.
    pub(super) fn new(shards: u16) -> Self {
        Plan {
            shards,
            homes: HashMap::new(),
            used: HashMap::new(),
            leftovers: BTreeMap::new(),
            dirty: HashMap::new(),
            waiting: Waiting::default(),
            unsaved: HashSet::new(),
        }
    }

    /// An entry of so many bytes lies there.
    pub(super) fn lies(&mut self, place: &Place, uid: &str, shard: u16, bytes: usize) {
        self.settle(place, uid, Some((shard, bytes)));
    }

    /// A copy that is not needed lies there: the entry lies elsewhere.
    pub(super) fn lies_twice(&mut self, uid: &str, shard: u16, bytes: usize, now: Instant) {
        *self.used.entry(shard).or_default() += uid.len() + bytes;
        self.leave(uid, shard, uid.len() + bytes, now);
    }

    /// The entry lies there, and where it was thought to lie is a copy that is not needed.
    pub(super) fn lies_elsewhere(&mut self, uid: &str, shard: u16, bytes: usize, now: Instant) {
        if let Some(Home { place, shard: before, bytes: copy }) = self.homes.remove(uid) {
            self.leave(uid, before, copy as usize, now);
            self.lies(&place, uid, shard, bytes);
        }
    }

    fn leave(&mut self, uid: &str, shard: u16, bytes: usize, now: Instant) {
        self.leftovers.entry(shard).or_default().insert(uid.into(), bytes);
        self.waiting.add(now, false);
    }

    /// Something that cannot be read takes space there.
    pub(super) fn occupied(&mut self, shard: u16, bytes: usize) {
        *self.used.entry(shard).or_default() += bytes;
    }

    pub(super) fn note(&mut self, changed: Changed, now: Instant) {
        let Changed { place, uid, urgent } = changed;
        if urgent && !self.dirty.get(&uid).is_some_and(|dirty| dirty.urgent) {
            // There may be a place for it now.
            self.unsaved.remove(&uid);
        }
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
        let mut waiting = Waiting { pressing: None, any: self.waiting.any.filter(|_| !self.leftovers.is_empty()) };
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
            let home = self.homes.get(&uid).map(|home| (home.shard, home.bytes as usize));
            if home.is_none() && text.is_none() {
                // It came and went between two writes.
                self.unsaved.remove(&uid);
                continue;
            }
            let chosen = batch.as_ref().map(|batch| batch.shard);
            let bytes = text.as_ref().map_or(0, |text| uid.len() + text.len());
            let stays = home.filter(|(shard, before)| bytes <= *before || self.room_in(*shard) + before >= bytes);
            let shard = stays.map(|(shard, _)| shard).or_else(|| self.place_for(bytes, dirty.urgent, chosen));
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
            let batch = batch.get_or_insert_with(|| Batch::of(shard));
            if let (None, Some((before, bytes))) = (stays, home) {
                batch.moved.insert(uid.clone(), (before, bytes));
                *self.used.entry(before).or_default() += bytes; // settle() takes it off, but it lies there still.
            }
            self.settle(&dirty.place, &uid, text.as_ref().map(|text| (shard, text.len())));
            batch.places.push(Changed { place: dirty.place, uid: uid.clone(), urgent: dirty.urgent });
            batch.entries.insert(uid, text);
        }
        let batch = batch.or_else(|| self.leftovers.first_key_value().map(|(shard, _)| Batch::of(*shard)));
        let batch = batch.map(|batch| self.with_leftovers(batch));
        self.count_waiting();
        batch
    }

    /// The same, that removes what is left over there.
    fn with_leftovers(&mut self, mut batch: Batch) -> Batch {
        for (uid, bytes) in self.leftovers.remove(&batch.shard).unwrap_or_default() {
            if let Some(used) = self.used.get_mut(&batch.shard) {
                *used -= bytes;
            }
            batch.entries.entry(uid).or_insert(None);
        }
        batch
    }

    /// A write was made: what has moved is to be removed from where it lay.
    pub(super) fn made(&mut self, batch: &Batch, now: Instant) {
        for (uid, (shard, bytes)) in &batch.moved {
            self.leave(uid, *shard, *bytes, now);
        }
    }

    /// A shard with room for so many bytes, the one that is written to anyway if it can be.
    fn place_for(&self, bytes: usize, urgent: bool, chosen: Option<u16>) -> Option<u16> {
        let has_room = |shard: &u16| bytes <= self.room_in(*shard);
        // What has time leaves a quarter to what has none.
        let shards = if urgent { self.shards } else { self.shards - self.shards.div_ceil(4) };
        chosen.into_iter().chain(0..shards).find(has_room)
    }

    fn room_in(&self, shard: u16) -> usize {
        SHARD.saturating_sub(self.used.get(&shard).copied().unwrap_or_default())
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
            if let Some((before, bytes)) = batch.moved.get(&changed.uid) {
                // It lies where it lay.
                *self.used.entry(*before).or_default() -= bytes;
                self.settle(&changed.place, &changed.uid, Some((*before, bytes - changed.uid.len())));
            } else if !self.homes.contains_key(&changed.uid) {
                // What was to be removed lies there still.
                self.settle(&changed.place, &changed.uid, Some((batch.shard, 0)));
            }
            self.note(Changed { urgent: true, ..changed }, now);
        }
        for (uid, entry) in batch.entries {
            if entry.is_none() && self.homes.get(&uid).is_none_or(|home| home.shard != batch.shard) {
                self.leave(&uid, batch.shard, 0, now);
            }
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
