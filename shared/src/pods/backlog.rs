//! Destroys that not everyone has been told.
//!
//! What is pending is never dropped. Dead letters stay, so that a person can have them told again, but only so many: the
//! oldest make room.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use super::destroy::Destroy;
use super::outbox::{Delivery, Request, Undelivered, Which};

/// How many dead letters are kept.
pub const DEAD_LETTERS: usize = 1_000;

/// All destroys that not everyone has been told.
#[derive(Debug, Default)]
pub struct Backlog {
    letters: HashMap<String, Letter>,
    /// The ids of a pod's, in the order in which they came about.
    of_pod: HashMap<Box<str>, Vec<String>>,
    /// Those that some sink is still to be told, in the order of telling.
    pending: BTreeSet<Age>,
    /// The others, oldest first.
    dead: BTreeSet<Age>,
}

/// What letters are ordered by, and the id.
type Age = (Timestamp, u64, String);

#[derive(Debug)]
struct Letter {
    destroy: Arc<Destroy>,
    sinks: BTreeMap<Arc<str>, Delivery>,
}

/// How many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// That some sink is still to be told.
    pub pending: usize,
    /// That some sink would not take, and none is still to be told.
    pub dead: usize,
    /// When the oldest that is pending came about.
    pub oldest: Option<Timestamp>,
}

/// A delivery that is to be made.
pub type Due = (Arc<str>, Arc<Destroy>);

impl Backlog {
    /// May more ends be looked for, where no more than so many are to be undelivered? Dead letters have room of their own.
    #[must_use]
    pub fn has_room(&self, limit: usize) -> bool {
        self.pending.len() < limit
    }

    /// Everyone is to be told.
    pub fn add(&mut self, destroy: Destroy, sinks: &[Arc<str>]) -> Arc<Destroy> {
        let destroy = Arc::new(destroy);
        let pending = sinks.iter().map(|sink| (Arc::clone(sink), Delivery::Pending)).collect();
        self.insert(Arc::clone(&destroy), pending);
        destroy
    }

    /// As an earlier process has left it. A sink that is not asked for any more cannot be told: that is a dead letter, too.
    pub fn restore(&mut self, undelivered: Undelivered, sinks: &[Arc<str>], now: Timestamp) {
        let deliveries = undelivered.sinks.into_iter().map(|(name, delivery)| {
            let known = sinks.iter().find(|sink| ***sink == *name).cloned();
            match (known, delivery) {
                (Some(sink), delivery) => (sink, delivery),
                (None, dead @ Delivery::Dead { .. }) => (name.into(), dead),
                (None, Delivery::Pending) => {
                    let why = "this sink is not set up any more".to_owned();
                    (name.into(), Delivery::Dead { why, at: now })
                }
            }
        });
        self.insert(Arc::new(undelivered.destroy), deliveries.collect());
    }

    fn insert(&mut self, destroy: Arc<Destroy>, sinks: BTreeMap<Arc<str>, Delivery>) {
        if sinks.is_empty() || self.letters.contains_key(&destroy.id) {
            return;
        }
        self.of_pod.entry(destroy.pod.uid.as_str().into()).or_default().push(destroy.id.clone());
        let id = destroy.id.clone();
        self.letters.insert(id.clone(), Letter { destroy, sinks });
        self.sort(&id);
    }

    /// Puts a letter among the pending or the dead ones, by how its deliveries stand.
    fn sort(&mut self, id: &str) {
        let Some(letter) = self.letters.get(id) else { return };
        let (before, now) = match letter.is_dead() {
            true => (&mut self.pending, &mut self.dead),
            false => (&mut self.dead, &mut self.pending),
        };
        before.remove(&letter.age());
        now.insert(letter.age());
    }

    /// A sink has it, or will not take it. Returns it, where that changes something.
    pub fn acknowledged(&mut self, id: &str, sink: &str, dead: Option<String>, now: Timestamp) -> Option<Arc<Destroy>> {
        let letter = self.letters.get_mut(id)?;
        match dead {
            None => {
                letter.sinks.remove(sink)?;
            }
            Some(why) => *letter.sinks.get_mut(sink)? = Delivery::Dead { why, at: now },
        }
        let destroy = Arc::clone(&letter.destroy);
        match letter.sinks.is_empty() {
            true => drop(self.remove(id)),
            false => self.sort(id),
        }
        Some(destroy)
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Destroy>> {
        let letter = self.letters.remove(id)?;
        self.pending.remove(&letter.age());
        self.dead.remove(&letter.age());
        let destroy = letter.destroy;
        if let Some(ids) = self.of_pod.get_mut(destroy.pod.uid.as_str()) {
            ids.retain(|other| other != id);
            if ids.is_empty() {
                self.of_pod.remove(destroy.pod.uid.as_str());
            }
        }
        Some(destroy)
    }

    /// Carries out what a person has asked for. Returns the pods that it concerns.
    pub fn carry_out(&mut self, request: &Request) -> Vec<Arc<Destroy>> {
        let mut concerned = vec![];
        for id in self.named(&request.redeliver, |backlog| backlog.letters.keys().cloned().collect()) {
            let Some(letter) = self.letters.get_mut(&id) else { continue };
            let dead = letter.sinks.values_mut().filter(|delivery| matches!(delivery, Delivery::Dead { .. }));
            dead.for_each(|delivery| *delivery = Delivery::Pending);
            concerned.push(Arc::clone(&letter.destroy));
            self.sort(&id);
        }
        let drops = self.named(&request.drop, |backlog| backlog.dead.iter().map(|(_, _, id)| id.clone()).collect());
        concerned.extend(drops.iter().filter_map(|id| self.remove(id)));
        concerned
    }

    /// The ids that a request names, of which some may not be here (any more); `all` says which `*` means.
    fn named(&self, which: &Which, all: impl Fn(&Self) -> Vec<String>) -> Vec<String> {
        match which {
            Which::All => all(self),
            Which::Ids(ids) => ids.clone(),
        }
    }

    /// Makes room where there are too many dead letters: the oldest go. Returns them.
    pub fn drop_oldest_dead(&mut self) -> Vec<Arc<Destroy>> {
        let too_many = self.dead.len().saturating_sub(DEAD_LETTERS);
        let oldest: Vec<_> = self.dead.iter().take(too_many).map(|(_, _, id)| id.clone()).collect();
        oldest.iter().filter_map(|id| self.remove(id)).collect()
    }

    /// All deliveries that are to be made, those of a pod in order.
    pub fn due(&self) -> impl Iterator<Item = Due> {
        self.pending.iter().filter_map(|(_, _, id)| self.letters.get(id)).flat_map(|letter| {
            let pending = letter.sinks.iter().filter(|(_, delivery)| **delivery == Delivery::Pending);
            pending.map(|(sink, _)| (Arc::clone(sink), Arc::clone(&letter.destroy)))
        })
    }

    /// Is there someone who was not told of it?
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.letters.contains_key(id)
    }

    /// What of a pod is undelivered, to be kept.
    #[must_use]
    pub fn of_pod(&self, uid: &str) -> Vec<Undelivered> {
        let letters = self.of_pod.get(uid).into_iter().flatten().filter_map(|id| self.letters.get(id));
        let kept = letters.map(|letter| Undelivered {
            destroy: Destroy::clone(&letter.destroy),
            sinks: letter.sinks.iter().map(|(sink, delivery)| (sink.to_string(), delivery.clone())).collect(),
        });
        kept.collect()
    }

    /// How many there are.
    #[must_use]
    pub fn depth(&self) -> Depth {
        let oldest = self.pending.first().map(|(observed_at, ..)| *observed_at);
        Depth { pending: self.pending.len(), dead: self.dead.len(), oldest }
    }
}

impl Letter {
    fn is_dead(&self) -> bool {
        self.sinks.values().all(|delivery| matches!(delivery, Delivery::Dead { .. }))
    }

    fn age(&self) -> Age {
        (self.destroy.observed_at, self.destroy.sequence, self.destroy.id.clone())
    }
}

#[cfg(test)]
mod tests;
