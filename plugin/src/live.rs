//! The live source: one snapshot, kept current by watches.
//!
//! ```text
//!  watch (slices: metadata only) ─┐
//!  watch (compositions)          ─┼─▶ facts ─▶ Snapshot ─▶ Board (judges what changed) ─▶ -w, top
//!  watch (symphonies, pods, …)   ─┘     └─ reads whole what the rules need whole
//! ```
//!
//! A [`Feed`] has no task of its own: it works while somebody waits for [`Feed::changed`].

pub mod board;
mod facts;
mod start;
mod wants;
mod watch;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Display;
use std::time::Duration;

use eno_shared::Lookup;
use eno_shared::api::Symphony;
use eno_shared::client::ReadError;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::cluster::Cluster;
use crate::outbox::Outbox;
use crate::snapshot::{Seen, Snapshot};
use crate::surroundings::{Listing, Namespace, Pod};
use facts::Facts;
pub use wants::{Home, Wants};
use watch::{News, Subject};

/// What became of reading a slice whole.
type SliceRead = (Place, Result<Option<Seen>, ReadError>);

/// Namespace and name.
pub type Place = (String, String);

/// Changes come in bursts: the next is told not before this.
const PAUSE: Duration = Duration::from_millis(200);
/// A change is told before its slices are read, where that takes longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What may be judged otherwise now: neighbours of what has changed are among it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Slices, also those that are gone.
    pub slices: BTreeSet<Place>,
    /// Compositions, also those that are gone.
    pub compositions: BTreeSet<Place>,
    /// Some symphony.
    pub symphonies: bool,
    /// Some pod, or what is kept of some.
    pub pods: bool,
    /// Pods that are followed, also those that are not any more: as [`crate::item::pod::places`] names them.
    pub followed: BTreeSet<Place>,
    /// The connection was lost, or is there again.
    pub connection: bool,
}

/// Is what was heard true now?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// It is.
    Live,
    /// It was true then.
    Stale {
        /// When the connection was lost.
        since: Timestamp,
        /// Why.
        why: String,
    },
}

/// A snapshot that is kept current.
pub struct Feed {
    cluster: Cluster,
    facts: Facts,
    news: Receiver<(Subject, News)>,
    /// They end with the feed.
    _watches: JoinSet<()>,
    /// What has been listed at least once: only that can be stale.
    listed: BTreeSet<Subject>,
    lost: BTreeMap<Subject, (Timestamp, String)>,
    connection: Connection,
    /// Slices that are to be read whole.
    to_read: VecDeque<Place>,
    reads: FuturesUnordered<BoxFuture<'static, SliceRead>>,
    change: Change,
    /// Since when there is something to tell.
    unsaid: Option<Instant>,
    told: Instant,
}

impl Feed {
    /// Waits for the next change. Nothing is lost where nobody waits to the end.
    pub async fn changed(&mut self) -> Change {
        loop {
            let at = self.unsaid.map(|since| {
                let read = self.reads.is_empty() && self.to_read.is_empty();
                let soon = since.max(self.told + PAUSE);
                if read { soon } else { soon.max(since + PATIENCE) }
            });
            tokio::select! {
                // However much is heard, it is told in time.
                biased;
                () = sleep_until(at.unwrap_or(self.told)), if at.is_some() => {
                    // What was heard since may ask for reads, which the change waits for.
                    if self.facts.is_unsettled() {
                        self.tick();
                        self.settle();
                    } else {
                        return self.take();
                    }
                }
                Some((place, read)) = self.reads.next(), if !self.reads.is_empty() => self.read(place, read),
                Some((subject, news)) = self.news.recv() => self.hear(subject, news),
            }
        }
    }

    /// What is known.
    pub fn snapshot(&self) -> &Snapshot {
        &self.facts.snapshot
    }

    /// From now on it is judged as of the present moment.
    pub fn tick(&mut self) {
        self.facts.snapshot.now = Timestamp::now();
    }

    /// The namespace, where only one is watched.
    pub fn namespace(&self) -> &Lookup<Namespace> {
        &self.facts.namespace
    }

    /// The symphonies.
    pub fn symphonies(&self) -> &Listing<Symphony> {
        &self.facts.symphonies
    }

    /// The pods of synthesizers, of all namespaces that are watched.
    pub fn pods(&self) -> &BTreeMap<Place, Pod> {
        &self.facts.snapshot.pods
    }

    /// Is it true now?
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    fn hear(&mut self, subject: Subject, news: News) {
        match news {
            News::Lost(error) => return self.lose(subject, error),
            News::Polls(error) => {
                self.found(subject);
                if let Some(error) = error.filter(|_| subject != Subject::Namespaces) {
                    let what = subject.plural();
                    self.cluster.warnings.warn(format!("cannot watch {what}, only list them now and then: {error}"));
                }
            }
            News::Follows => self.found(subject),
            News::All(objects) => {
                self.listed.insert(subject);
                self.found(subject);
                self.all(subject, objects);
            }
            News::Exists(object) => match subject {
                Subject::Slices => self.facts.slice_exists(object),
                Subject::Compositions => self.facts.composition_exists(object),
                Subject::Namespaces => self.facts.namespace_exists(object),
                Subject::Symphonies => {
                    self.change.symphonies = true;
                    self.facts.symphony_exists(object);
                }
                Subject::Pods => {
                    self.change.pods = true;
                    self.facts.pod_exists(object);
                }
                Subject::Outbox => {
                    self.change.pods = true;
                    self.facts.shard_exists(object);
                }
            },
            News::Gone(object) => match subject {
                Subject::Slices => self.facts.slice_gone(object),
                Subject::Compositions => self.facts.composition_gone(&object),
                Subject::Namespaces => self.facts.namespace_gone(facts::named(&object).1),
                Subject::Symphonies => {
                    self.change.symphonies = true;
                    self.facts.symphony_gone(&facts::named(&object));
                }
                Subject::Pods => {
                    self.change.pods = true;
                    self.facts.snapshot.pods.remove(&facts::named(&object));
                }
                Subject::Outbox => {
                    self.change.pods = true;
                    self.facts.snapshot.outbox.remove(&facts::named(&object).1);
                }
            },
        }
        self.note();
    }

    fn all(&mut self, subject: Subject, objects: Vec<serde_json::Value>) {
        match subject {
            Subject::Slices => self.facts.all_slices(objects),
            Subject::Compositions => self.facts.all_compositions(objects),
            Subject::Namespaces => self.facts.all_namespaces(objects),
            Subject::Symphonies => {
                self.change.symphonies = true;
                self.facts.all_symphonies(objects);
            }
            Subject::Pods => {
                self.change.pods = true;
                self.facts.snapshot.pods.clear();
                objects.into_iter().for_each(|pod| self.facts.pod_exists(pod));
            }
            Subject::Outbox => {
                self.change.pods = true;
                self.facts.snapshot.outbox = Outbox::default();
                objects.into_iter().for_each(|shard| self.facts.shard_exists(shard));
            }
        }
    }

    /// A watch hears nothing. What never was listed cannot be stale: it is unknown.
    fn lose(&mut self, subject: Subject, error: impl Display) {
        if self.listed.contains(&subject) {
            self.lost.entry(subject).or_insert_with(|| (Timestamp::now(), error.to_string()));
            self.connect();
        }
    }

    /// A watch hears again.
    fn found(&mut self, subject: Subject) {
        if self.lost.remove(&subject).is_some() {
            self.facts.retry();
            self.connect();
        }
    }

    fn connect(&mut self) {
        let now = match self.lost.values().min() {
            None => Connection::Live,
            Some((since, why)) => Connection::Stale { since: *since, why: why.clone() },
        };
        if now != self.connection {
            self.connection = now;
            self.change.connection = true;
            self.note();
        }
    }

    /// Is there something to tell?
    fn note(&mut self) {
        let Change { slices: _, compositions: _, followed: _, symphonies, pods, connection } = &self.change;
        if *symphonies || *pods || *connection || self.facts.is_unsettled() {
            self.unsaid.get_or_insert_with(Instant::now);
        }
    }

    /// Says what may be judged otherwise, and begins to read what must be read for that.
    fn settle(&mut self) {
        self.to_read.extend(self.facts.settle(&mut self.change));
        self.read_more();
    }

    fn read_more(&mut self) {
        while self.reads.len() < self.cluster.concurrency
            && let Some(place) = self.to_read.pop_front()
        {
            let cluster = self.cluster.clone();
            self.reads.push(Box::pin(async move {
                let read = cluster.whole(Some(&place.0), &place.1).await;
                (place, read)
            }));
        }
    }

    fn read(&mut self, place: Place, read: Result<Option<Seen>, ReadError>) {
        match read {
            Ok(Some(seen)) => self.facts.slice_read(&place, Ok(seen)),
            // The watch will say so.
            Ok(None) => self.facts.slice_not_read(place),
            Err(ReadError::Decode(error)) => {
                let why = format!("resourceslice {}: {error}", place.1);
                self.cluster.warnings.warn(&why);
                self.facts.slice_read(&place, Err(why));
            }
            Err(error) => {
                let (namespace, name) = &place;
                // Of a lost connection the watches tell.
                if matches!(error, ReadError::Api(_)) {
                    let text = format!("cannot get resourceslice {name} in namespace \"{namespace}\": {error}");
                    self.cluster.warnings.warn(text);
                }
                self.facts.slice_not_read(place);
            }
        }
        self.note();
        self.read_more();
    }

    fn take(&mut self) -> Change {
        self.unsaid = None;
        self.told = Instant::now();
        self.tick();
        if self.change.pods {
            self.facts.settle_pods(&mut self.change);
        }
        std::mem::take(&mut self.change)
    }
}
