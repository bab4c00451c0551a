//! Which slices are to be looked at, and when.
//!
//! A slice is in the queue once, at the earliest time that anybody asked for. While it is being looked at it is not
//! handed out again: a trigger that comes meanwhile counts when the look has ended.

use std::collections::HashMap;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::poll_fn;
use tokio::time::Instant;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue;

use super::metrics::LookAgainDelays;
use crate::store::Key;

/// The first delay after a failure; each further one doubles it.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
/// The longest delay after failures.
const LONGEST_BACKOFF: Duration = Duration::from_secs(300);

/// After how long the place of a slice that went is looked at once more.
const SETTLED: Duration = Duration::from_secs(2);

/// The queue.
#[derive(Debug, Default)]
pub struct Queue {
    /// Due at once.
    ready: Vec<Key>,
    due: DelayQueue<Key>,
    /// Where a slice waits, and until when; nowhere else where it is ready.
    waiting: HashMap<Key, Option<(delay_queue::Key, Instant)>>,
    /// Being looked at; when to look again, where that was asked for meanwhile.
    busy: HashMap<Key, Option<Instant>>,
    failures: HashMap<Key, u32>,
    delays: LookAgainDelays,
}

impl Queue {
    /// An empty one that counts how long slices wait for their next look.
    #[must_use]
    pub fn counting(delays: LookAgainDelays) -> Self {
        Queue { delays, ..Queue::default() }
    }

    /// Asks for a look at once.
    pub fn add(&mut self, key: Key) {
        if let Some(again) = self.busy.get_mut(&key) {
            *again = Some(Instant::now());
            return;
        }
        match self.waiting.insert(key.clone(), None) {
            Some(None) => return,
            Some(Some((place, _))) => {
                self.due.remove(&place);
            }
            None => {}
        }
        self.ready.push(key);
    }

    /// Asks for a look at `at`, or earlier if that was asked for before.
    pub fn add_at(&mut self, key: Key, at: Instant) {
        if at <= Instant::now() {
            return self.add(key);
        }
        if let Some(again) = self.busy.get_mut(&key) {
            *again = Some(again.map_or(at, |before| before.min(at)));
            return;
        }
        match self.waiting.get_mut(&key) {
            Some(None) => {}
            Some(Some((_, before))) if *before <= at => {}
            Some(Some((place, before))) => {
                self.due.reset_at(place, at);
                *before = at;
            }
            None => {
                let place = self.due.insert_at(key.clone(), at);
                self.waiting.insert(key, Some((place, at)));
            }
        }
    }

    /// Waits until a slice is due, and takes it together with all others that are.
    pub async fn take(&mut self) -> Vec<Key> {
        // Nothing is taken before the last await: whoever gives up waiting loses nothing.
        if self.ready.is_empty() {
            let expired = poll_fn(|context| match self.due.poll_expired(context) {
                // An empty queue waits for somebody to add something.
                Poll::Ready(None) => Poll::Pending,
                other => other,
            });
            if let Some(expired) = expired.await {
                self.ready.push(expired.into_inner());
            }
        }
        while let Some(Some(expired)) = poll_fn(|context| self.due.poll_expired(context)).now_or_never() {
            self.ready.push(expired.into_inner());
        }
        for key in &self.ready {
            self.waiting.remove(key);
            self.busy.insert(key.clone(), None);
        }
        std::mem::take(&mut self.ready)
    }

    /// The look at a slice has ended well; `again` says when the next one is due, if one is.
    pub fn done(&mut self, key: &Key, again: Option<Instant>) {
        self.failures.remove(key);
        self.ended(key, again);
    }

    /// The slice is gone by our own hand. What was asked for meanwhile is our own echo; one more look is enough, later, in
    /// case another slice took its name.
    pub fn settled(&mut self, key: &Key) {
        if let Some(again) = self.busy.get_mut(key) {
            *again = None;
        }
        self.done(key, Some(Instant::now() + SETTLED));
    }

    /// The look at a slice has failed: it is due again after a delay that grows. Only this slice waits.
    pub fn failed(&mut self, key: &Key) -> Duration {
        // What was asked for meanwhile must not defeat the backoff.
        if let Some(again) = self.busy.get_mut(key) {
            *again = None;
        }
        self.changed(key)
    }

    /// The slice was not as the store has it: it is due when the store hears of it, and at the latest after a delay that
    /// grows, since a watch may stand still.
    pub fn changed(&mut self, key: &Key) -> Duration {
        let failures = self.failures.entry(key.clone()).or_default();
        let delay = FIRST_BACKOFF.saturating_mul(1 << (*failures).min(16)).min(LONGEST_BACKOFF);
        *failures = failures.saturating_add(1);
        self.ended(key, Some(Instant::now() + delay));
        delay
    }

    fn ended(&mut self, key: &Key, again: Option<Instant>) {
        let meanwhile = self.busy.remove(key).flatten();
        if let Some(at) = [again, meanwhile].into_iter().flatten().min() {
            self.delays.observe(at.saturating_duration_since(Instant::now()));
            self.add_at(key.clone(), at);
        }
    }

    /// How many slices wait or are being looked at.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.waiting.len() + self.busy.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    fn key(name: &str) -> Key {
        Key::new("ns", name)
    }

    fn names(keys: &[Key]) -> Vec<&str> {
        keys.iter().map(|key| &*key.name).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn hands_out_each_slice_once_at_the_earliest_time_asked_for() {
        let (mut queue, start) = (Queue::default(), Instant::now());
        queue.add_at(key("a"), start + Duration::from_secs(9));
        queue.add_at(key("a"), start + Duration::from_secs(3));
        queue.add_at(key("a"), start + Duration::from_secs(7));
        assert_eq!(names(&queue.take().await), ["a"]);
        assert_eq!(start.elapsed().as_secs(), 3);
        queue.done(&key("a"), None);
        assert_eq!(queue.backlog(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn takes_all_that_are_due() {
        let mut queue = Queue::default();
        ["a", "b", "c"].into_iter().for_each(|name| queue.add(key(name)));
        queue.add_at(key("later"), Instant::now() + Duration::from_secs(60));
        queue.add_at(key("past"), Instant::now());
        assert_eq!(names(&queue.take().await), ["a", "b", "c", "past"]);
        assert_eq!(queue.backlog(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_trigger_during_a_look_counts_when_it_has_ended() {
        let mut queue = Queue::default();
        queue.add(key("a"));
        queue.take().await;
        queue.add(key("a"));
        assert!(queue.take().now_or_never().is_none(), "it is being looked at");
        queue.done(&key("a"), None);
        assert_eq!(names(&queue.take().await), ["a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn our_own_echo_does_not_count() {
        let (mut queue, start) = (Queue::default(), Instant::now());
        queue.add(key("a"));
        queue.take().await;
        queue.add(key("a"));
        queue.settled(&key("a"));
        queue.take().await;
        assert_eq!(start.elapsed(), SETTLED + Duration::from_millis(0), "one more look, later");
    }

    #[tokio::test(start_paused = true)]
    async fn failures_delay_only_the_slice_that_fails_ever_longer() {
        let mut queue = Queue::default();
        let mut delays = vec![];
        for _ in 0..12 {
            queue.add(key("bad"));
            queue.take().await;
            queue.add(key("bad"));
            delays.push(queue.failed(&key("bad")));
            queue.add(key("good"));
            let start = Instant::now();
            assert_eq!(names(&queue.take().await), ["good"]);
            assert!(start.elapsed() < FIRST_BACKOFF);
            queue.done(&key("good"), None);
            assert_eq!(names(&queue.take().await), ["bad"]);
            queue.done(&key("unknown"), None);
            queue.busy.clear();
        }
        assert!(
            delays.windows(2).all(|pair| pair[0] <= pair[1]) && *delays.last().unwrap() == LONGEST_BACKOFF,
            "{delays:?}"
        );
        queue.add(key("bad"));
        queue.take().await;
        queue.done(&key("bad"), None);
        queue.add(key("bad"));
        queue.take().await;
        assert_eq!(queue.failed(&key("bad")), FIRST_BACKOFF, "success forgets failures");
    }
}
