//! Slices whose deletion is held: since when, and which of them for too long.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use eno_shared::api::ResourceSlice;
use eno_shared::stuck::{Blocker, slice_blockers};
use eno_shared::{Compositions, Judgement, Verdict};
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::store::Key;

/// The slices that are held.
#[derive(Debug)]
pub struct Held {
    limit: Duration,
    since: HashMap<Key, Timestamp>,
    warned: HashSet<Key>,
}

impl Held {
    /// Those held longer than `limit` are to be reported.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Held { limit, since: HashMap::new(), warned: HashSet::new() }
    }

    /// Takes note of a judgement. Returns when the slice is to be looked at again, were nothing to happen before.
    pub fn judged(
        &mut self,
        key: &Key,
        slice: &ResourceSlice,
        judgement: &Judgement,
        now: Timestamp,
    ) -> Option<Instant> {
        match (judgement.verdict, slice.metadata.deletion_timestamp) {
            (Verdict::Hold, Some(deleted)) => {
                self.since.insert(key.clone(), deleted);
                self.again(key, now)
            }
            _ => {
                self.forget(key);
                None
            }
        }
    }

    /// The slice is gone, or not held any more.
    pub fn forget(&mut self, key: &Key) {
        self.since.remove(key);
        self.warned.remove(key);
    }

    /// Forgets all: another process sees to them.
    pub fn clear(&mut self) {
        self.since.clear();
        self.warned.clear();
    }

    /// When the slice will have been held for too long; never again once that was reported.
    #[must_use]
    pub fn again(&self, key: &Key, now: Timestamp) -> Option<Instant> {
        let since = self.since.get(key).filter(|_| !self.warned.contains(key))?;
        let limit = SignedDuration::try_from(self.limit).unwrap_or(SignedDuration::MAX);
        let left = limit.saturating_sub(now.duration_since(*since));
        Some(Instant::now() + Duration::try_from(left).unwrap_or_default())
    }

    /// Is the slice held for too long, and that was not reported yet?
    #[must_use]
    pub fn is_overdue(&self, key: &Key, now: Timestamp) -> bool {
        self.since.get(key).is_some_and(|since| !self.warned.contains(key) && self.exceeds(*since, now))
    }

    /// What blocks a slice that is held for too long; only once.
    pub fn overdue(
        &mut self,
        key: &Key,
        slice: &ResourceSlice,
        judgement: &Judgement,
        compositions: &Compositions,
        terminating: bool,
        now: Timestamp,
    ) -> Option<Vec<Blocker>> {
        if judgement.verdict != Verdict::Hold || !self.is_overdue(key, now) {
            return None;
        }
        self.warned.insert(key.clone());
        Some(slice_blockers(slice, judgement, compositions, Some(terminating)))
    }

    /// For how long the oldest has been held.
    #[must_use]
    pub fn oldest(&self, now: Timestamp) -> Duration {
        let oldest = self.since.values().min().map(|since| now.duration_since(*since));
        oldest.and_then(|age| Duration::try_from(age).ok()).unwrap_or_default()
    }

    fn exceeds(&self, since: Timestamp, now: Timestamp) -> bool {
        Duration::try_from(now.duration_since(since)).is_ok_and(|age| age >= self.limit)
    }
}
