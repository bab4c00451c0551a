//! Live reads of one thing that many calls wait for at once: each read answers all that came before it began.
//!
//! A call must not use a read that began before the call came: it may be of a time before the change that the call follows. So
//! those that come while [`AT_ONCE`] reads are under way share the next one, which begins when one of these has ended.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::mem::take;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

/// How many reads of one thing are under way at once. With one, a call that comes in the middle of a read takes half a read
/// longer than it would alone; two are enough for calls that come one by one.
const AT_ONCE: usize = 2;
/// How long a read waits for those before: one that hangs must not hold up the others.
const PATIENCE: Duration = Duration::from_millis(25);

/// The reads under way, by what they are of.
pub(super) struct Flights<K, T>(Arc<Mutex<HashMap<K, Last<T>>>>);

/// The last reads of a thing.
struct Last<T> {
    /// Of the newest.
    number: u64,
    /// Has the newest begun?
    begun: bool,
    /// At most as many as may be under way at once, the newest at the end.
    answers: VecDeque<Answer<T>>,
}

type Answer<T> = Shared<BoxFuture<'static, T>>;

impl<K, T> Flights<K, T>
where
    K: Clone + Eq + Hash + Send + 'static,
    T: Clone + Send + Sync + 'static,
{
    /// What `read` answers, of a read that begins after this was asked: this one, or another's. It goes on when the caller
    /// has left.
    pub(super) fn read<R>(&self, key: K, read: impl FnOnce() -> R + Send + 'static) -> Answer<T>
    where
        R: Future<Output = T> + Send,
    {
        let mut flights = lock(&self.0);
        let last = flights.get_mut(&key);
        let waiting = last.as_ref().filter(|last| !last.begun).and_then(|last| last.answers.back());
        if let Some(waiting) = waiting {
            return waiting.clone();
        }
        let (number, mut answers) =
            last.map_or_else(Default::default, |last| (last.number + 1, take(&mut last.answers)));
        let before = if answers.len() < AT_ONCE { None } else { answers.pop_front() };
        let (all, of) = (Arc::clone(&self.0), key.clone());
        let answer = async move {
            if let Some(before) = before {
                // How it ends does not matter.
                let _ = tokio::time::timeout(PATIENCE, AssertUnwindSafe(before).catch_unwind()).await;
            }
            let _airborne = Airborne::begin(all, of, number);
            read().await
        };
        let answer = answer.boxed().shared();
        answers.push_back(answer.clone());
        flights.insert(key, Last { number, begun: false, answers });
        drop(flights);
        tokio::spawn(answer.clone());
        answer
    }
}

impl<K, T> Clone for Flights<K, T> {
    fn clone(&self) -> Self {
        Flights(Arc::clone(&self.0))
    }
}

impl<K, T> Default for Flights<K, T> {
    fn default() -> Self {
        Flights(Arc::default())
    }
}

/// A read that has begun. Nobody joins it; when the newest ends, in whatever way, all are forgotten.
struct Airborne<K: Eq + Hash, T> {
    all: Arc<Mutex<HashMap<K, Last<T>>>>,
    of: K,
    number: u64,
}

impl<K: Eq + Hash, T> Airborne<K, T> {
    fn begin(all: Arc<Mutex<HashMap<K, Last<T>>>>, of: K, number: u64) -> Self {
        if let Some(last) = lock(&all).get_mut(&of).filter(|last| last.number == number) {
            last.begun = true;
        }
        Airborne { all, of, number }
    }
}

impl<K: Eq + Hash, T> Drop for Airborne<K, T> {
    fn drop(&mut self) {
        let mut flights = lock(&self.all);
        if flights.get(&self.of).is_some_and(|last| last.number == self.number) {
            flights.remove(&self.of);
        }
    }
}

fn lock<K, T>(flights: &Mutex<HashMap<K, Last<T>>>) -> MutexGuard<'_, HashMap<K, Last<T>>> {
    flights.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::watch;

    use super::*;

    /// A thing whose value changes, and whose reads end when they are let.
    #[derive(Clone)]
    struct Thing {
        flights: Flights<&'static str, usize>,
        value: Arc<AtomicUsize>,
        reads: Arc<AtomicUsize>,
        ended: Arc<watch::Sender<usize>>,
    }

    impl Thing {
        fn new() -> Self {
            let ended = Arc::new(watch::Sender::new(0));
            Thing { flights: Flights::default(), value: Arc::default(), reads: Arc::default(), ended }
        }

        /// A call that comes now.
        fn call(&self) -> tokio::task::JoinHandle<usize> {
            let thing = self.clone();
            tokio::spawn(self.flights.read("web", move || async move {
                let number = thing.reads.fetch_add(1, Ordering::SeqCst);
                let seen = thing.value.load(Ordering::SeqCst);
                thing.ended.subscribe().wait_for(|ended| *ended > number).await.unwrap();
                seen
            }))
        }

        async fn begun(&self, reads: usize) {
            while self.reads.load(Ordering::SeqCst) < reads {
                // Paused, time passes by itself where nothing else is to be done.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_never_gets_what_was_read_before_it_came() {
        let thing = Thing::new();
        let first = thing.call();
        thing.begun(1).await;
        thing.value.store(1, Ordering::SeqCst);
        let later = [thing.call(), thing.call(), thing.call()];
        thing.ended.send_replace(2);
        assert_eq!(first.await.unwrap(), 0);
        for call in later {
            assert_eq!(call.await.unwrap(), 1);
        }
        assert_eq!(thing.reads.load(Ordering::SeqCst), 2, "three calls share one read");
        assert!(lock(&thing.flights.0).is_empty(), "nothing is kept of reads that have ended");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_in_the_middle_of_a_read_begins_another_and_the_next_one_waits() {
        let (thing, start) = (Thing::new(), tokio::time::Instant::now());
        let first = thing.call();
        thing.begun(1).await;
        let second = thing.call();
        thing.begun(2).await;
        let third = thing.call();
        tokio::time::sleep(PATIENCE / 2).await;
        assert_eq!(thing.reads.load(Ordering::SeqCst), AT_ONCE);
        thing.ended.send_replace(1);
        thing.begun(3).await;
        assert!(start.elapsed() < PATIENCE, "the end of the first has let it begin, and not the time");
        thing.ended.send_replace(3);
        for call in [first, second, third] {
            call.await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_hangs_holds_up_no_other() {
        let thing = Thing::new();
        let hanging = thing.call();
        thing.begun(1).await;
        let next = thing.call();
        thing.begun(2).await;
        thing.value.store(1, Ordering::SeqCst);
        let last = thing.call();
        thing.begun(3).await;
        thing.ended.send_replace(3);
        assert_eq!((hanging.await.unwrap(), next.await.unwrap(), last.await.unwrap()), (0, 0, 1));
    }

    #[tokio::test]
    async fn a_read_that_fails_is_not_joined() {
        let flights = Flights::<&str, usize>::default();
        let failed = tokio::spawn(flights.read("web", || async { panic!("a bug") }));
        assert!(failed.await.unwrap_err().is_panic());
        assert_eq!(flights.read("web", || async { 1 }).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_goes_on_without_the_one_who_asked_first() {
        let thing = Thing::new();
        let first = thing.call();
        thing.begun(1).await;
        let (second, third) = (thing.call(), thing.call());
        first.abort();
        second.abort();
        thing.ended.send_replace(2);
        assert_eq!(third.await.unwrap(), 0);
        assert_eq!(thing.reads.load(Ordering::SeqCst), 2);
    }
}
