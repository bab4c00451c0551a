//! Whose turn it is: the order of destroys at one sink, and when one that failed is tried again. Time is passed in.
//!
//! Destroys of one place (namespace and name) are told one after the other, in the order they came: so those of one uid
//! are, and the old pod's end comes before that of the new one of its name. Places do not wait for each other.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use eno_shared::pods::destroy::Destroy;
use fastrand::Rng;
use tokio::time::Instant;

use super::Limits;
use crate::pods::sinks::{Failure, Retry};
use crate::store::Key;

/// So many failures in a row, of as many places, and the sink counts as down.
const DOWN: usize = 8;

/// What follows from a failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It is tried again after so long.
    Again(Duration),
    /// It is given up.
    GivenUp(String),
}

/// The destroys that wait for one sink, and those on their way to it.
pub(super) struct Line {
    limits: Limits,
    jitter: Rng,
    ids: HashSet<String>,
    /// Those of them that nobody is to be told any more.
    withdrawn: HashSet<String>,
    /// Those of a place, the first of which is waiting or on its way.
    places: HashMap<Key, VecDeque<Letter>>,
    ready: VecDeque<Key>,
    /// After a failure, by when they are due; the number tells apart what is due at once.
    later: BTreeMap<(Instant, u64), Key>,
    failures: u64,
    on_their_way: usize,
    /// How many have passed, ever.
    passed: u64,
    failed_in_a_row: usize,
    /// How many of those that are here have failed.
    troubled: usize,
    rests_until: Option<Instant>,
}

struct Letter {
    destroy: Arc<Destroy>,
    attempts: u32,
    /// Attempts that failed though the sink had taken others since the one before.
    strikes: u32,
    passed_before: u64,
}

impl Line {
    pub(super) fn new(limits: Limits, jitter: Rng) -> Self {
        Line {
            limits,
            jitter,
            ids: HashSet::new(),
            withdrawn: HashSet::new(),
            places: HashMap::new(),
            ready: VecDeque::new(),
            later: BTreeMap::new(),
            failures: 0,
            on_their_way: 0,
            passed: 0,
            failed_in_a_row: 0,
            troubled: 0,
            rests_until: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Takes one up; `false` where there is no room. One that is here already is here once.
    pub(super) fn push(&mut self, destroy: Arc<Destroy>) -> bool {
        if self.ids.contains(&destroy.id) {
            self.withdrawn.remove(&destroy.id);
            return true;
        }
        if self.ids.len() >= self.limits.queue {
            return false;
        }
        self.ids.insert(destroy.id.clone());
        let key = place_of(&destroy);
        let letter = Letter { destroy, attempts: 0, strikes: 0, passed_before: self.passed };
        let letters = self.places.entry(key.clone()).or_default();
        letters.push_back(letter);
        if letters.len() == 1 {
            self.ready.push_back(key);
        }
        true
    }

    /// Nobody is to be told of it any more. What is on its way arrives, and is not sent again.
    pub(super) fn withdraw(&mut self, id: &str) {
        if self.ids.contains(id) {
            self.withdrawn.insert(id.to_owned());
        }
    }

    /// The next one to tell now, which is then on its way until [`Line::passed`] or [`Line::failed`].
    pub(super) fn take(&mut self, now: Instant) -> Option<Arc<Destroy>> {
        if !self.has_room() || self.rests_until.is_some_and(|until| now < until) {
            return None;
        }
        while let Some(entry) = self.later.first_entry().filter(|entry| entry.key().0 <= now) {
            self.ready.push_back(entry.remove());
        }
        loop {
            let key = self.ready.pop_front()?;
            let destroy = self.places.get(&key).and_then(|letters| letters.front())?.destroy.clone();
            self.on_their_way += 1;
            if !self.withdrawn.contains(&destroy.id) {
                return Some(destroy);
            }
            self.end(&destroy);
        }
    }

    /// When to ask for the next one again; `None` where only an end of those on their way, or a new one, changes anything.
    pub(super) fn due(&self) -> Option<Instant> {
        if !self.has_room() {
            return None;
        }
        let first = if self.ready.is_empty() { Some(self.later.first_key_value()?.0.0) } else { None };
        first.max(self.rests_until)
    }

    /// The sink has it.
    pub(super) fn passed(&mut self, destroy: &Destroy) {
        self.passed += 1;
        if self.is_down() {
            // They waited for the sink, which is back.
            self.ready.extend(std::mem::take(&mut self.later).into_values());
            self.rests_until = None;
        }
        self.failed_in_a_row = 0;
        self.end(destroy);
    }

    /// The sink has not got it.
    pub(super) fn failed(&mut self, destroy: &Destroy, failure: &Failure, now: Instant) -> Next {
        if self.withdrawn.contains(&destroy.id) {
            self.end(destroy);
            return Next::GivenUp("somebody has dropped it".to_owned());
        }
        let asked = match failure.retry {
            Retry::Never => {
                self.end(destroy);
                return Next::GivenUp(failure.why.clone());
            }
            Retry::After(asked) => asked.map(|asked| asked.min(self.limits.longest_rest)),
        };
        let key = place_of(destroy);
        let Some(letter) = self.places.get_mut(&key).and_then(VecDeque::front_mut) else {
            return Next::GivenUp("it is not on its way".to_owned());
        };
        letter.attempts += 1;
        self.troubled += usize::from(letter.attempts == 1);
        if letter.passed_before != self.passed {
            letter.passed_before = self.passed;
            letter.strikes += 1;
        }
        let (attempts, strikes) = (letter.attempts, letter.strikes);
        if strikes >= self.limits.strikes {
            self.end(destroy);
            return Next::GivenUp(format!("{} (attempt {attempts}; others passed meanwhile)", failure.why));
        }
        let delay = self.backoff(attempts - 1, self.limits.longest_backoff).max(asked.unwrap_or_default());
        self.on_their_way -= 1;
        self.failures += 1;
        self.later.insert((now + delay, self.failures), key);
        self.failed_in_a_row += 1;
        // Who asks for time asks for it from us, not for this one.
        let mut rest = asked;
        if self.is_down() {
            let beyond = u32::try_from(self.failed_in_a_row - DOWN).unwrap_or(u32::MAX);
            rest = rest.max(Some(self.backoff(beyond, self.limits.longest_probe)));
        }
        self.rests_until = self.rests_until.max(rest.map(|rest| now + rest));
        Next::Again(delay)
    }

    /// Does the sink fail, rather than one destroy? Then one at a time tries whether it is back.
    fn is_down(&self) -> bool {
        self.failed_in_a_row >= DOWN && self.troubled >= DOWN
    }

    fn has_room(&self) -> bool {
        self.on_their_way < if self.is_down() { 1 } else { self.limits.in_flight }
    }

    fn backoff(&mut self, failures: u32, longest: Duration) -> Duration {
        let whole = self.limits.first_backoff.saturating_mul(1 << failures.min(16)).min(longest);
        whole.mul_f64(0.5 + self.jitter.f64() / 2.0)
    }

    /// The first one of its place is done with, and the next one's turn comes.
    fn end(&mut self, destroy: &Destroy) {
        self.on_their_way -= 1;
        self.ids.remove(&destroy.id);
        self.withdrawn.remove(&destroy.id);
        let key = place_of(destroy);
        let Some(letters) = self.places.get_mut(&key) else { return };
        let ended = letters.pop_front();
        self.troubled -= usize::from(ended.is_some_and(|letter| letter.attempts > 0));
        if letters.is_empty() {
            self.places.remove(&key);
        } else {
            self.ready.push_back(key);
        }
    }
}

fn place_of(destroy: &Destroy) -> Key {
    Key::new(&destroy.pod.namespace, &destroy.pod.name)
}
