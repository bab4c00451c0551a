//! Brings destroys to one sink: in order, again where that may help, and never one at the cost of another.
//!
//! What fails is tried again after a delay that grows. A sink that is down is waited for, however long it takes: one destroy
//! at a time tries whether it is back. A destroy that keeps failing while others pass is given up, as is one that the sink
//! refuses for good: it becomes a dead letter.

mod line;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eno_shared::pods::destroy::Destroy;
use fastrand::Rng;
use futures::future::OptionFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use futures::{FutureExt, future::BoxFuture};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tracing::{debug, info, warn};

use super::metrics::{Attempt, SinkMetrics};
use super::{Ack, Failure, Outcome, Sink};
use line::{Line, Next};

/// Bounds of a courier.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many destroys may wait.
    pub queue: usize,
    /// How many attempts run at once.
    pub in_flight: usize,
    /// The delay after a first failure, of which the half is chance; each further one doubles it.
    pub first_backoff: Duration,
    /// The longest of these delays.
    pub longest_backoff: Duration,
    /// How long a sink that is down is left alone at most before one attempt.
    pub longest_probe: Duration,
    /// How long a sink may ask to be left alone.
    pub longest_rest: Duration,
    /// After so many failures while others passed, a destroy is given up.
    pub strikes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            queue: 20_000,
            in_flight: 32,
            first_backoff: Duration::from_millis(500),
            longest_backoff: Duration::from_secs(60),
            longest_probe: Duration::from_secs(30),
            longest_rest: Duration::from_secs(300),
            strikes: 10,
        }
    }
}

/// The queue of one sink, and what empties it; both end when it is dropped.
pub struct Courier {
    name: Arc<str>,
    queue: Arc<Queue>,
    metrics: SinkMetrics,
    working: JoinHandle<()>,
}

struct Queue {
    line: Mutex<Line>,
    changed: Notify,
}

impl Queue {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Courier {
    /// Starts one. It acknowledges on `acks` what the sink has taken or will not take.
    #[must_use]
    pub fn start(sink: Arc<dyn Sink>, limits: Limits, metrics: SinkMetrics, acks: mpsc::Sender<Ack>) -> Self {
        let name: Arc<str> = sink.name().into();
        let queue = Arc::new(Queue { line: Mutex::new(Line::new(limits, Rng::new())), changed: Notify::new() });
        metrics.waiting(&name, 0);
        let worker =
            Worker { sink, name: name.clone(), queue: queue.clone(), metrics: metrics.clone(), acks, failing: false };
        Courier { name, queue, metrics, working: tokio::spawn(worker.run()) }
    }

    /// The sink's name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Takes it over for delivery; `false` where the queue is full: offer it again later, the outbox keeps it. One that is
    /// in the queue already is not taken twice.
    #[must_use]
    pub fn offer(&self, destroy: Arc<Destroy>) -> bool {
        let mut line = self.queue.line();
        let taken = line.push(destroy);
        self.metrics.waiting(&self.name, line.len());
        drop(line);
        self.queue.changed.notify_one();
        taken
    }

    /// Nobody is to be told of it any more.
    pub fn withdraw(&self, id: &str) {
        self.queue.line().withdraw(id);
        // What waits behind it may have its turn.
        self.queue.changed.notify_one();
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        self.working.abort();
        self.metrics.waiting(&self.name, 0);
    }
}

struct Worker {
    sink: Arc<dyn Sink>,
    name: Arc<str>,
    queue: Arc<Queue>,
    metrics: SinkMetrics,
    acks: mpsc::Sender<Ack>,
    /// Has its failing been told?
    failing: bool,
}

type Tried = (Arc<Destroy>, Result<(), Failure>);

impl Worker {
    /// Works until nobody listens to what became of the destroys.
    async fn run(mut self) {
        let mut attempts = FuturesUnordered::new();
        loop {
            let due = {
                let mut line = self.queue.line();
                while let Some(destroy) = line.take(Instant::now()) {
                    attempts.push(attempt(self.sink.clone(), destroy));
                }
                line.due()
            };
            tokio::select! {
                Some((destroy, result)) = attempts.next() => {
                    if let Some(ack) = self.tried(&destroy, result)
                        && self.acks.send(ack).await.is_err()
                    {
                        return;
                    }
                }
                Some(()) = OptionFuture::from(due.map(sleep_until)) => {}
                () = self.queue.changed.notified() => {}
                () = self.acks.closed() => return,
            }
        }
    }

    /// What an attempt came to, and whom to tell.
    fn tried(&mut self, destroy: &Destroy, result: Result<(), Failure>) -> Option<Ack> {
        let mut line = self.queue.line();
        let next = match &result {
            Ok(()) => {
                line.passed(destroy);
                None
            }
            Err(failure) => Some(line.failed(destroy, failure, Instant::now())),
        };
        self.metrics.waiting(&self.name, line.len());
        drop(line);
        let (sink, id, pod) = (&*self.name, &*destroy.id, &destroy.pod);
        let (attempt, outcome) = match next {
            None => {
                if std::mem::take(&mut self.failing) {
                    info!(sink, "the sink takes destroys again");
                }
                debug!(sink, id, pod = pod.name, "a destroy is delivered");
                self.metrics.delivered(sink, destroy.observed_at);
                (Attempt::Delivered, Some(Outcome::Delivered))
            }
            Some(Next::Again(delay)) => {
                let why = result.err().map(|failure| failure.why).unwrap_or_default();
                if std::mem::replace(&mut self.failing, true) {
                    debug!(sink, id, pod = pod.name, ?delay, why, "a destroy is not delivered yet");
                } else {
                    warn!(sink, id, pod = pod.name, ?delay, why, "a destroy is not delivered yet; it is tried again");
                }
                (Attempt::Retried, None)
            }
            Some(Next::GivenUp(why)) => {
                warn!(sink, id, namespace = pod.namespace, pod = pod.name, why, "a destroy becomes a dead letter");
                (Attempt::DeadLetter, Some(Outcome::DeadLetter(why)))
            }
        };
        self.metrics.attempted(sink, attempt);
        outcome.map(|outcome| Ack { id: destroy.id.clone(), sink: self.name.clone(), outcome })
    }
}

fn attempt(sink: Arc<dyn Sink>, destroy: Arc<Destroy>) -> BoxFuture<'static, Tried> {
    async move {
        // A sink that panics over one destroy goes on with the others.
        let result = AssertUnwindSafe(sink.deliver(destroy.clone())).catch_unwind().await;
        (destroy, result.unwrap_or_else(|_| Err(Failure::passing("the sink panicked"))))
    }
    .boxed()
}

#[cfg(test)]
mod tests;
