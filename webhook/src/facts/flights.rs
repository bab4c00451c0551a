//! Live reads of one thing that many calls wait for at once: each read answers all that came before it began.
//!
//! A call must not use a read that began before the call came: it may be of a time before the change that the call follows. So
//! those that come while [`AT_ONCE`] reads are under way share the next one, which begins when one of these has ended.

use std::collections::HashMap;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, select_all};

/// How many reads of one thing are under way at once. With one, a call that comes in the middle of a read takes half a read
/// longer than it would alone; two are enough for calls that come one by one.
const AT_ONCE: usize = 2;
/// How long a read waits for one of those before to end: reads that hang must not hold up the others.
const PATIENCE: Duration = Duration::from_millis(25);

/// The reads under way, by what they are of.
pub(super) struct Flights<K, T>(Arc<Mutex<Air<K, T>>>);

struct Air<K, T> {
    /// How many reads there were.
    count: u64,
    flights: HashMap<K, Vec<Flight<T>>>,
}

/// A read that has not ended.
struct Flight<T> {
    number: u64,
    /// Has it begun? At most one of a thing has not, the newest.
    begun: bool,
    answer: Answer<T>,
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
        let mut air = lock(&self.0);
        let Air { count, flights } = &mut *air;
        let flights = flights.entry(key.clone()).or_default();
        if let Some(waiting) = flights.iter().find(|flight| !flight.begun) {
            return waiting.answer.clone();
        }
        *count += 1;
        let number = *count;
        let mut before = vec![];
        if flights.len() >= AT_ONCE {
            before.extend(flights.iter().map(|flight| flight.answer.clone()));
        }
        let (all, of) = (Arc::clone(&self.0), key);
        let answer = async move {
            if !before.is_empty() {
                // How they end does not matter.
                let ends = before.into_iter().map(|flight| AssertUnwindSafe(flight).catch_unwind());
                let _ = tokio::time::timeout(PATIENCE, select_all(ends)).await;
            }
            let _airborne = Airborne::begin(all, of, number);
            read().await
        };
        let answer = answer.boxed().shared();
        flights.push(Flight { number, begun: false, answer: answer.clone() });
        drop(air);
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
        Flights(Arc::new(Mutex::new(Air { count: 0, flights: HashMap::new() })))
    }
}

/// A read that has begun. Nobody joins it; when it ends, in whatever way, it is forgotten.
struct Airborne<K: Eq + Hash, T> {
    all: Arc<Mutex<Air<K, T>>>,
    of: K,
    number: u64,
}

impl<K: Eq + Hash, T> Airborne<K, T> {
    fn begin(all: Arc<Mutex<Air<K, T>>>, of: K, number: u64) -> Self {
        let airborne = Airborne { all, of, number };
        let mut air = lock(&airborne.all);
        let flights = air.flights.get_mut(&airborne.of).into_iter().flatten();
        flights.filter(|flight| flight.number == number).for_each(|flight| flight.begun = true);
        drop(air);
        airborne
    }
}

impl<K: Eq + Hash, T> Drop for Airborne<K, T> {
    fn drop(&mut self) {
        let mut air = lock(&self.all);
        let Some(flights) = air.flights.get_mut(&self.of) else { return };
        let own = flights.iter().position(|flight| flight.number == self.number).map(|index| flights.remove(index));
        if flights.is_empty() {
            air.flights.remove(&self.of);
        }
        // Where this was the last one who waited for another read, that ends with it, and comes here.
        drop(air);
        drop(own);
    }
}

fn lock<K, T>(air: &Mutex<Air<K, T>>) -> MutexGuard<'_, Air<K, T>> {
    air.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::watch;

    use super::*;

    /// A thing whose value changes, and whose reads end when they are let.
    #[derive(Clone)]
    struct Thing {
        flights: Flights<&'static str, usize>,
        value: Arc<AtomicUsize>,
        reads: Arc<AtomicUsize>,
        ended: Arc<watch::Sender<BTreeSet<usize>>>,
    }

    impl Thing {
        fn new() -> Self {
            let ended = Arc::new(watch::Sender::new(BTreeSet::new()));
            Thing { flights: Flights::default(), value: Arc::default(), reads: Arc::default(), ended }
        }

        /// A call that comes now.
        fn call(&self) -> tokio::task::JoinHandle<usize> {
            let thing = self.clone();
            tokio::spawn(self.flights.read("web", move || async move {
                let number = thing.reads.fetch_add(1, Ordering::SeqCst);
                let seen = thing.value.load(Ordering::SeqCst);
                thing.ended.subscribe().wait_for(|ended| ended.contains(&number)).await.unwrap();
                seen
            }))
        }

        fn end(&self, reads: impl IntoIterator<Item = usize>) {
            self.ended.send_modify(|ended| ended.extend(reads));
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
        thing.end(0..2);
        assert_eq!(first.await.unwrap(), 0);
        for call in later {
            assert_eq!(call.await.unwrap(), 1);
        }
        assert_eq!(thing.reads.load(Ordering::SeqCst), 2, "three calls share one read");
        assert!(lock(&thing.flights.0).flights.is_empty(), "nothing is kept of reads that have ended");
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
        thing.end(0..1);
        thing.begun(3).await;
        assert!(start.elapsed() < PATIENCE, "the end of the first has let it begin, and not the time");
        thing.end(0..3);
        for call in [first, second, third] {
            call.await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_is_overtaken_is_still_counted() {
        let (thing, start) = (Thing::new(), tokio::time::Instant::now());
        let slow = thing.call();
        thing.begun(1).await;
        let quick = thing.call();
        thing.begun(2).await;
        let third = thing.call();
        thing.end([1]);
        quick.await.unwrap();
        thing.begun(3).await;
        let fourth = thing.call();
        tokio::time::sleep(PATIENCE / 5).await;
        assert_eq!(thing.reads.load(Ordering::SeqCst), 3, "the slow one and the third are under way");
        thing.end([0]);
        thing.begun(4).await;
        assert!(start.elapsed() < PATIENCE, "the end of another has let each begin, and not the time");
        thing.end([2, 3]);
        for call in [slow, third, fourth] {
            call.await.unwrap();
        }
        assert!(lock(&thing.flights.0).flights.is_empty(), "nothing is kept of reads that have ended");
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
        thing.end(0..3);
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
        thing.end(0..2);
        assert_eq!(third.await.unwrap(), 0);
        assert_eq!(thing.reads.load(Ordering::SeqCst), 2);
    }
}
