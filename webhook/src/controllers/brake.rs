//! Stops the collecting of suspiciously many slices, until a live look agrees.
//!
//! A wrong kubeconfig, a lost right or a vanished kind must never empty a cluster. Only collecting is braked: a release
//! has its own proof in every single slice.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use crate::store::Key;

/// Over how long a time collected slices are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// How many slices may go within a minute unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// So many always may.
    pub slices: usize,
    /// More may, while they are less than this share of those known, in percent.
    pub percent: usize,
}

/// What to do with slices that are to be collected.
#[derive(Debug, PartialEq, Eq)]
pub enum Brake {
    /// Go on.
    Open,
    /// Stop: too many. `first` is true for the first time since collecting was last allowed.
    Closed {
        /// Say so, and take the live look.
        first: bool,
    },
}

/// The brake. Once it has closed, nothing goes but what a live look has agreed to.
#[derive(Debug)]
pub struct Collecting {
    limits: Limits,
    /// When how many were let through.
    recent: VecDeque<(Instant, usize)>,
    /// The most slices known within the window: those that went still count.
    known: usize,
    closed: bool,
    /// Slices that wait for the live look.
    braked: HashSet<Key>,
    /// Slices that a live look has agreed to, and when.
    agreed: HashMap<Key, Instant>,
}

impl Collecting {
    /// With these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Collecting {
            limits,
            recent: VecDeque::new(),
            known: 0,
            closed: false,
            braked: HashSet::new(),
            agreed: HashMap::new(),
        }
    }

    /// May these be collected now, of so many known?
    ///
    /// All of them count at once: a look at a thousand is not let through in tens.
    pub fn ask(&mut self, keys: &[Key], known: usize, now: Instant) -> Brake {
        while self.recent.front().is_some_and(|(when, _)| now.duration_since(*when) > WINDOW) {
            self.recent.pop_front();
        }
        if self.recent.is_empty() {
            self.known = 0;
        }
        self.known = self.known.max(known);
        self.agreed.retain(|_, when| now.duration_since(*when) <= WINDOW);
        let agreed = keys.iter().filter(|key| self.agreed.contains_key(*key)).count();
        let unasked = keys.len() - agreed;
        let recent: usize = self.recent.iter().map(|(_, count)| count).sum();
        let many = recent + unasked;
        let too_many = many > self.limits.slices && many * 100 > self.limits.percent * self.known;
        if unasked > 0 && (self.closed || too_many) {
            self.braked.extend(keys.iter().cloned());
            let first = !std::mem::replace(&mut self.closed, true);
            return Brake::Closed { first };
        }
        if unasked > 0 {
            self.recent.push_back((now, unasked));
        }
        Brake::Open
    }

    /// How many slices wait for a live look.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.braked.len()
    }

    /// A live look says that these are garbage. Returns the slices that waited for it: those it agrees to, and the others.
    pub fn open(&mut self, garbage: &HashSet<Key>, now: Instant) -> (Vec<Key>, Vec<Key>) {
        self.closed = false;
        let (agreed, others): (Vec<_>, Vec<_>) = self.braked.drain().partition(|key| garbage.contains(key));
        self.agreed.extend(agreed.iter().map(|key| (key.clone(), now)));
        (agreed, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { slices: 100, percent: 30 };

    fn keys(from: usize, to: usize) -> Vec<Key> {
        (from..to).map(|n| Key { namespace: "ns".into(), name: format!("s{n}").into() }).collect()
    }

    fn ask(brake: &mut Collecting, keys: &[Key], known: usize, now: Instant) -> Brake {
        brake.ask(keys, known, now)
    }

    #[test]
    fn few_slices_always_go() {
        let mut brake = Collecting::new(LIMITS);
        assert_eq!(ask(&mut brake, &keys(0, 100), 100, Instant::now()), Brake::Open);
    }

    #[test]
    fn many_slices_go_while_they_are_a_small_share() {
        let mut brake = Collecting::new(LIMITS);
        assert_eq!(ask(&mut brake, &keys(0, 300), 1000, Instant::now()), Brake::Open);
        assert_eq!(ask(&mut brake, &keys(300, 301), 700, Instant::now()), Brake::Closed { first: true });
        assert_eq!(ask(&mut brake, &keys(301, 302), 700, Instant::now()), Brake::Closed { first: false });
    }

    #[test]
    fn small_batches_add_up_within_a_minute_and_not_beyond() {
        let (mut brake, start) = (Collecting::new(LIMITS), Instant::now());
        for batch in 0..10 {
            assert_eq!(ask(&mut brake, &keys(batch * 10, batch * 10 + 10), 100, start), Brake::Open);
        }
        let later = start + WINDOW + Duration::from_secs(1);
        assert_eq!(ask(&mut brake, &keys(100, 200), 100, later), Brake::Open);
        assert_eq!(ask(&mut brake, &keys(200, 210), 100, later), Brake::Closed { first: true });
    }

    #[test]
    fn only_what_a_live_look_agreed_to_goes_on() {
        let (mut brake, now) = (Collecting::new(LIMITS), Instant::now());
        let all = keys(0, 200);
        assert_eq!(ask(&mut brake, &all, 200, now), Brake::Closed { first: true });
        let (agreed, others) = brake.open(&all.iter().take(150).cloned().collect(), now);
        assert_eq!((agreed.len(), others.len(), brake.waiting()), (150, 50, 0));
        assert_eq!(ask(&mut brake, &all[..150], 200, now), Brake::Open);
        assert_eq!(ask(&mut brake, &keys(500, 601), 200, now), Brake::Closed { first: true });
    }

    #[test]
    fn nothing_slips_through_in_small_batches_while_it_is_closed() {
        let (mut brake, now) = (Collecting::new(LIMITS), Instant::now());
        assert_eq!(ask(&mut brake, &keys(0, 128), 160, now), Brake::Closed { first: true });
        assert_eq!(ask(&mut brake, &keys(128, 150), 160, now), Brake::Closed { first: false });
        assert_eq!(brake.waiting(), 150);
        let much_later = now + 10 * WINDOW;
        assert_eq!(ask(&mut brake, &keys(200, 201), 160, much_later), Brake::Closed { first: false });
    }
}
