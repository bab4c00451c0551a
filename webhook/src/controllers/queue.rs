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

/// Room for so many slices is kept while there are none.
const ROOM: usize = 1024;

/// The queue.
#[derive(Debug, Default)]
pub struct Queue {
    /// Due at once.
    ready: Vec<Key>,
    due: DelayQueue<Key>,
    /// Every slice that is in the queue or being looked at.
    known: HashMap<Key, State>,
    failures: HashMap<Key, u32>,
    delays: LookAgainDelays,
}

/// Where a slice is.
#[derive(Debug)]
enum State {
    /// Among those that are due at once.
    Ready,
    /// Among those that are due then.
    Waiting(delay_queue::Key, Instant),
    /// Being looked at; when to look again, where that was asked for meanwhile.
    Busy(Option<Instant>),
}

impl Queue {
    /// An empty one that counts how long slices wait for their next look.
    #[must_use]
    pub fn counting(delays: LookAgainDelays) -> Self {
        Queue { delays, ..Queue::default() }
    }

    /// Asks for a look at once.
    pub fn add(&mut self, key: Key) {
        match self.known.get_mut(&key) {
            Some(State::Ready) => return,
            Some(State::Busy(again)) => {
                *again = Some(Instant::now());
                return;
            }
            Some(waiting @ State::Waiting(..)) => {
                if let State::Waiting(place, _) = std::mem::replace(waiting, State::Ready) {
                    self.due.remove(&place);
                }
            }
            None => {
                self.known.insert(key.clone(), State::Ready);
            }
        }
        self.ready.push(key);
    }

    /// Asks for a look at `at`, or earlier if that was asked for before.
    pub fn add_at(&mut self, key: Key, at: Instant) {
        if at <= Instant::now() {
            return self.add(key);
        }
        match self.known.get_mut(&key) {
            Some(State::Ready) => {}
            Some(State::Busy(again)) => *again = Some(again.map_or(at, |before| before.min(at))),
            Some(State::Waiting(place, before)) => {
                if at < *before {
                    self.due.reset_at(place, at);
                    *before = at;
                }
            }
            None => {
                let place = self.due.insert_at(key.clone(), at);
                self.known.insert(key, State::Waiting(place, at));
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
            self.known.insert(key.clone(), State::Busy(None));
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
        self.forget_asked(key);
        self.done(key, Some(Instant::now() + SETTLED));
    }

    /// The look at a slice has failed: it is due again after a delay that grows. Only this slice waits.
    pub fn failed(&mut self, key: &Key) -> Duration {
        // What was asked for meanwhile must not defeat the backoff.
        self.forget_asked(key);
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
        let mut meanwhile = None;
        if let Some(State::Busy(asked)) = self.known.get(key) {
            meanwhile = *asked;
            self.known.remove(key);
        }
        if self.known.is_empty() && self.known.capacity() > ROOM {
            // A look at all slices has ended.
            self.known.shrink_to(ROOM);
        }
        if let Some(at) = [again, meanwhile].into_iter().flatten().min() {
            self.delays.observe(at.saturating_duration_since(Instant::now()));
            self.add_at(key.clone(), at);
        }
    }

    fn forget_asked(&mut self, key: &Key) {
        if let Some(State::Busy(again)) = self.known.get_mut(key) {
            *again = None;
        }
    }

    /// How many slices wait or are being looked at.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.known.len()
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
    async fn the_end_of_a_look_that_the_queue_does_not_know_of_takes_nothing_out_of_it() {
        let (mut queue, start) = (Queue::default(), Instant::now());
        queue.add_at(key("done"), start + Duration::from_secs(5));
        queue.add_at(key("changed"), start + Duration::from_secs(7));
        queue.done(&key("done"), None);
        queue.changed(&key("changed"));
        assert_eq!(names(&queue.take().await), ["changed"], "at the earlier of both times");
        assert_eq!(start.elapsed(), FIRST_BACKOFF);
        assert_eq!(names(&queue.take().await), ["done"]);
        assert_eq!(start.elapsed(), Duration::from_secs(5));
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
            queue.known.clear();
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
