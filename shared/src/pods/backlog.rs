//! Destroys that not everyone has been told.
//!
//! What is pending is never dropped. Dead letters stay, so that a person can have them told again, but only so many: the
//! oldest make room.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use super::destroy::Destroy;
use super::outbox::{Delivery, Request, Undelivered};

/// How many destroys are undelivered at most before no more ends are looked for: those pods stay candidates meanwhile.
pub const UNDELIVERED: usize = 20_000;
/// How many dead letters are kept.
pub const DEAD_LETTERS: usize = 1_000;

/// All destroys that not everyone has been told.
#[derive(Debug, Default)]
pub struct Backlog {
    letters: HashMap<String, Letter>,
    /// The ids of a pod's, in the order in which they came about.
    of_pod: HashMap<Box<str>, Vec<String>>,
}

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
    /// May more ends be looked for?
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.letters.len() < UNDELIVERED + DEAD_LETTERS
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
        self.letters.insert(destroy.id.clone(), Letter { destroy, sinks });
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
        if letter.sinks.is_empty() {
            self.remove(id);
        }
        Some(destroy)
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Destroy>> {
        let destroy = self.letters.remove(id)?.destroy;
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
        for (id, letter) in &mut self.letters {
            if request.redeliver.has(id) {
                let dead = letter.sinks.values_mut().filter(|delivery| matches!(delivery, Delivery::Dead { .. }));
                dead.for_each(|delivery| *delivery = Delivery::Pending);
                concerned.push(Arc::clone(&letter.destroy));
            }
        }
        let drops: Vec<String> = self
            .letters
            .iter()
            .filter(|(id, letter)| letter.is_dropped_by(request, id))
            .map(|(id, _)| id.clone())
            .collect();
        concerned.extend(drops.iter().filter_map(|id| self.remove(id)));
        concerned
    }

    /// Makes room where there are too many dead letters: the oldest go. Returns them.
    pub fn drop_oldest_dead(&mut self) -> Vec<Arc<Destroy>> {
        let mut dead: Vec<_> = self
            .letters
            .values()
            .filter(|letter| letter.is_dead())
            .map(|letter| (letter.destroy.observed_at, letter.destroy.id.clone()))
            .collect();
        let too_many = dead.len().saturating_sub(DEAD_LETTERS);
        dead.sort_unstable();
        dead.iter().take(too_many).filter_map(|(_, id)| self.remove(id)).collect()
    }

    /// All deliveries that are to be made, those of a pod in order.
    pub fn due(&self) -> impl Iterator<Item = Due> {
        let mut letters: Vec<_> = self.letters.values().collect();
        letters.sort_by_key(|letter| (letter.destroy.observed_at, letter.destroy.sequence));
        letters.into_iter().flat_map(|letter| {
            let pending = letter.sinks.iter().filter(|(_, delivery)| **delivery == Delivery::Pending);
            pending.map(|(sink, _)| (Arc::clone(sink), Arc::clone(&letter.destroy)))
        })
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
        let pending = || self.letters.values().filter(|letter| !letter.is_dead());
        Depth {
            pending: pending().count(),
            dead: self.letters.len() - pending().count(),
            oldest: pending().map(|letter| letter.destroy.observed_at).min(),
        }
    }
}

impl Letter {
    fn is_dead(&self) -> bool {
        self.sinks.values().all(|delivery| matches!(delivery, Delivery::Dead { .. }))
    }

    fn is_dropped_by(&self, request: &Request, id: &str) -> bool {
        match &request.drop {
            super::outbox::Which::All => self.is_dead(),
            which => which.has(id),
        }
    }
}

#[cfg(test)]
mod tests;
