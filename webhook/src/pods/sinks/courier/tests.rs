//! Couriers in paused time, with sinks that answer as they are told.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::sleep;

use super::*;
use crate::pods::sinks::Retry;
use crate::pods::sinks::fixtures::destroy;

const HOUR: Duration = Duration::from_secs(3600);

type Answer = dyn Fn(&Told) -> Result<(), Failure> + Send + Sync;

/// An attempt, as the sink sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    at: Duration,
    name: String,
    uid: String,
}

/// A sink that answers each attempt after a time.
struct Scripted {
    begun: Instant,
    takes: Duration,
    answer: Box<Answer>,
    told: Mutex<Vec<Told>>,
    busy: AtomicUsize,
    busiest: AtomicUsize,
}

impl Scripted {
    fn new(takes: Duration, answer: impl Fn(&Told) -> Result<(), Failure> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Scripted {
            begun: Instant::now(),
            takes,
            answer: Box::new(answer),
            told: Mutex::default(),
            busy: AtomicUsize::new(0),
            busiest: AtomicUsize::new(0),
        })
    }

    fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    fn names(&self) -> Vec<String> {
        self.told().into_iter().map(|told| told.name).collect()
    }
}

impl Sink for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn deliver(&self, destroy: Arc<Destroy>) -> BoxFuture<'_, Result<(), Failure>> {
        async move {
            let told = Told { at: self.begun.elapsed(), name: destroy.pod.name.clone(), uid: destroy.pod.uid.clone() };
            self.told.lock().unwrap().push(told.clone());
            let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
            self.busiest.fetch_max(busy, Ordering::SeqCst);
            sleep(self.takes).await;
            self.busy.fetch_sub(1, Ordering::SeqCst);
            (self.answer)(&told)
        }
        .boxed()
    }
}

fn start(sink: &Arc<Scripted>, limits: Limits) -> (Courier, mpsc::Receiver<Ack>) {
    let (acks, acked) = mpsc::channel(1);
    (Courier::start(sink.clone(), limits, SinkMetrics::default(), acks), acked)
}

/// Offers the ends of so many pods of different names, and returns their ids.
fn offer(courier: &Courier, count: usize) -> HashSet<String> {
    let offer = |index| {
        let destroy = destroy(&format!("pod-{index}"), &format!("uid-{index}"));
        assert!(courier.offer(Arc::new(destroy.clone())));
        destroy.id
    };
    (0..count).map(offer).collect()
}

async fn delivered(acked: &mut mpsc::Receiver<Ack>, count: usize) -> HashSet<String> {
    let mut ids = HashSet::new();
    for _ in 0..count {
        let ack = acked.recv().await.unwrap();
        assert_eq!(ack.outcome, Outcome::Delivered);
        assert!(ids.insert(ack.id), "acknowledged once");
    }
    ids
}

fn down() -> Result<(), Failure> {
    Err(Failure::passing("down"))
}

#[tokio::test(start_paused = true)]
async fn tells_each_once_and_acknowledges_it() {
    let sink = Scripted::new(Duration::ZERO, |_| Ok(()));
    let (courier, mut acked) = start(&sink, Limits::default());
    let ids = offer(&courier, 100);
    assert_eq!(delivered(&mut acked, 100).await, ids);
    assert_eq!(sink.told().len(), 100);
}

#[tokio::test(start_paused = true)]
async fn ends_of_one_name_are_told_in_order_though_the_first_one_fails() {
    let sink = Scripted::new(Duration::from_millis(5), |told| {
        if told.uid == "old" && told.at < Duration::from_secs(10) { down() } else { Ok(()) }
    });
    let (courier, mut acked) = start(&sink, Limits::default());
    for (name, uid) in [("web-0", "old"), ("web-0", "new"), ("web-1", "other")] {
        assert!(courier.offer(Arc::new(destroy(name, uid))));
    }
    delivered(&mut acked, 3).await;
    let uids: Vec<_> = sink.told().into_iter().map(|told| told.uid).collect();
    let old = uids.iter().rposition(|uid| uid == "old").unwrap();
    assert!(old > 2 && uids.iter().position(|uid| uid == "new").unwrap() == old + 1, "{uids:?}");
    assert_eq!(uids[1], "other", "another name does not wait");
}

#[tokio::test(start_paused = true)]
async fn a_poisoned_destroy_delays_no_other_and_is_given_up() {
    let sink = Scripted::new(Duration::from_millis(5), |told| if told.name == "pod-0" { down() } else { Ok(()) });
    let (courier, mut acked) = start(&sink, Limits::default());
    offer(&courier, 1);
    // Another pod ends more often than the shortest delay, so that some pass before each attempt.
    let mut dead = None;
    for index in 1..10_000 {
        let (name, begun) = (format!("pod-{index}"), Instant::now());
        assert!(courier.offer(Arc::new(destroy(&name, &name))));
        loop {
            let ack = acked.recv().await.unwrap();
            match ack.outcome {
                Outcome::Delivered => break,
                Outcome::DeadLetter(why) => dead = Some(why),
            }
        }
        assert!(begun.elapsed() < Duration::from_millis(50), "{name} took {:?}", begun.elapsed());
        if dead.is_some() {
            break;
        }
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(dead.unwrap(), "down (attempt 11; others passed meanwhile)");
    let attempts = sink.names().iter().filter(|name| *name == "pod-0").count();
    assert_eq!(attempts, 11, "the first one proves nothing");
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_for_good_is_a_dead_letter_at_once() {
    let sink =
        Scripted::new(Duration::ZERO, |told| if told.uid == "bad" { Err(Failure::lasting("400")) } else { Ok(()) });
    let (courier, mut acked) = start(&sink, Limits::default());
    for uid in ["bad", "good"] {
        assert!(courier.offer(Arc::new(destroy("web-0", uid))));
    }
    assert_eq!(acked.recv().await.unwrap().outcome, Outcome::DeadLetter("400".to_owned()));
    assert_eq!(acked.recv().await.unwrap().outcome, Outcome::Delivered);
    assert!(courier.offer(Arc::new(destroy("web-0", "bad"))), "it can be sent again");
    assert_eq!(acked.recv().await.unwrap().outcome, Outcome::DeadLetter("400".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_is_down_is_waited_for_and_hardly_troubled() {
    let sink = Scripted::new(Duration::from_millis(1), |told| if told.at < HOUR { down() } else { Ok(()) });
    let (courier, mut acked) = start(&sink, Limits::default());
    let ids = offer(&courier, 1000);
    assert_eq!(delivered(&mut acked, 1000).await, ids, "none is given up");
    let (during, after): (Vec<_>, Vec<_>) = sink.told().into_iter().partition(|told| told.at < HOUR);
    // 32 at first, then one every 15 to 30 s.
    assert!((32 + 120..32 + 300).contains(&during.len()), "{} attempts while it was down", during.len());
    assert_eq!(after.len(), 1000);
    let took = sink.begun.elapsed() - HOUR;
    assert!(took < Duration::from_secs(32), "all are told within {took:?} of its return");
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_asks_for_time_gets_it_from_all_but_not_for_ever() {
    for (asked, got) in [(20, 20), (100_000, 300)] {
        let sink = Scripted::new(Duration::ZERO, move |told| {
            let busy = Failure { retry: Retry::After(Some(Duration::from_secs(asked))), why: "429".to_owned() };
            if told.at.is_zero() { Err(busy) } else { Ok(()) }
        });
        let (courier, mut acked) = start(&sink, Limits { in_flight: 1, ..Limits::default() });
        offer(&courier, 3);
        delivered(&mut acked, 3).await;
        let at: Vec<_> = sink.told().into_iter().map(|told| told.at.as_secs()).collect();
        assert_eq!(at, [0, got, got, got]);
    }
}

#[tokio::test(start_paused = true)]
async fn delays_grow_to_a_bound_and_the_half_of_each_is_chance() {
    let sink = Scripted::new(Duration::ZERO, |told| if told.at < HOUR { down() } else { Ok(()) });
    let (courier, mut acked) = start(&sink, Limits::default());
    offer(&courier, 1);
    delivered(&mut acked, 1).await;
    let at: Vec<_> = sink.told().into_iter().map(|told| told.at).collect();
    for (index, pair) in at.windows(2).enumerate() {
        let whole = Duration::from_millis(500 << index.min(7)).min(Duration::from_secs(60));
        let delay = pair[1] - pair[0];
        // Timers tick in milliseconds.
        assert!(delay >= whole / 2 && delay <= whole + Duration::from_millis(1), "delay {index} is {delay:?}");
    }
    let late: HashSet<_> = at.windows(2).skip(7).map(|pair| pair[1] - pair[0]).collect();
    assert!(late.len() > 10, "they differ");
}

#[tokio::test(start_paused = true)]
async fn a_slow_sink_has_so_many_attempts_at_once_and_no_more() {
    let sink = Scripted::new(Duration::from_secs(8), |_| Ok(()));
    let (courier, mut acked) = start(&sink, Limits { in_flight: 4, ..Limits::default() });
    offer(&courier, 16);
    delivered(&mut acked, 16).await;
    assert_eq!(sink.busiest.load(Ordering::SeqCst), 4);
    assert_eq!(sink.begun.elapsed().as_secs(), 32);
}

#[tokio::test(start_paused = true)]
async fn the_queue_has_a_bound_and_takes_nothing_twice() {
    let sink = Scripted::new(Duration::from_secs(1), |_| Ok(()));
    let (courier, mut acked) = start(&sink, Limits { queue: 2, ..Limits::default() });
    let [a, b, c] = ["a", "b", "c"].map(|name| Arc::new(destroy(name, name)));
    assert!(courier.offer(a.clone()) && courier.offer(b) && courier.offer(a.clone()));
    assert!(!courier.offer(c.clone()), "it is full");
    delivered(&mut acked, 2).await;
    assert!(courier.offer(c), "there is room again");
    delivered(&mut acked, 1).await;
    assert_eq!(sink.names(), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_panics_over_one_destroy_goes_on_with_the_others() {
    let sink = Scripted::new(Duration::ZERO, |told| {
        assert!(told.name != "pod-0" || told.at > Duration::from_secs(5), "it does not like this one");
        Ok(())
    });
    let (courier, mut acked) = start(&sink, Limits::default());
    let ids = offer(&courier, 3);
    assert_eq!(delivered(&mut acked, 3).await, ids);
}

#[tokio::test(start_paused = true)]
async fn what_is_withdrawn_is_not_sent_again_and_keeps_nobody_waiting() {
    let sink = Scripted::new(Duration::from_millis(5), |told| if told.uid == "old" { down() } else { Ok(()) });
    let (courier, mut acked) = start(&sink, Limits::default());
    let [old, new] = ["old", "new"].map(|uid| Arc::new(destroy("web-0", uid)));
    for one in [&old, &new] {
        assert!(courier.offer(one.clone()));
    }
    sleep(Duration::from_secs(10)).await;
    courier.withdraw(&old.id);
    let attempts = sink.told().len();
    let ack = acked.recv().await.unwrap();
    assert_eq!((ack.id, ack.outcome), (new.id.clone(), Outcome::Delivered));
    assert_eq!(sink.told().len(), attempts + 1, "the old one was not tried again");
    // A person may think better of it.
    assert!(courier.offer(old.clone()));
    sleep(Duration::from_secs(1)).await;
    assert!(sink.told().len() > attempts + 1);
}

#[tokio::test(start_paused = true)]
async fn ends_with_its_owner() {
    let sink = Scripted::new(Duration::from_secs(1), |_| Ok(()));
    let (courier, mut acked) = start(&sink, Limits { in_flight: 1, ..Limits::default() });
    offer(&courier, 10);
    delivered(&mut acked, 3).await;
    drop(courier);
    assert!(acked.recv().await.is_none_or(|ack| ack.outcome == Outcome::Delivered), "at most one was on its way");
    sleep(HOUR).await;
    assert!(acked.recv().await.is_none());
    assert!(sink.told().len() <= 5);
}
