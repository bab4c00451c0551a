//! What there is to show: of a feed, whose changes become events; or of files, which do not change.

use std::collections::BTreeMap;

use eno_shared::pods::outbox::Entry;
use jiff::{SignedDuration, Timestamp};

use super::keys::Tab;
use super::model::{Event, Link};
use super::row::{Place, Row};
use crate::cluster::Cluster;
use crate::dump::Dump;
use crate::failure::Failure;
use crate::item::Item;
use crate::item::composition::CompositionItem;
use crate::item::pod::PodItem;
use crate::live::board::{Board, Judged, Turn};
use crate::live::{Change, Connection, Feed, Wants};
use crate::outbox;
use crate::query::{Depth, Query};
use crate::snapshot::Snapshot;
use crate::surroundings::Pod;

/// Where it comes from.
enum Origin {
    /// The API server.
    Feed(Box<Feed>),
    /// Files.
    Still(Box<Snapshot>, BTreeMap<Place, Pod>),
}

/// What there is, and what was told of it.
pub(super) struct Facts {
    origin: Origin,
    /// All, where there is none.
    namespace: Option<String>,
    patience: SignedDuration,
    slices: Board<Item>,
    compositions: Board<CompositionItem>,
    pods: BTreeMap<Place, Row>,
}

impl Facts {
    /// Of a cluster, from now on; what the webhook keeps of pods is in the namespace `home`.
    ///
    /// # Errors
    /// Neither slices nor compositions can be read.
    pub async fn of_cluster(
        cluster: &Cluster,
        namespace: Option<String>,
        patience: SignedDuration,
        home: &str,
    ) -> Result<Self, Failure> {
        let outbox = match outbox::Place::new(cluster, home)?.home().await {
            Ok(home) => Some(home),
            // Not everyone may read it: it says more of pods, and is not needed.
            Err(failure) => {
                cluster.warnings.warn(format!("cannot read what eno-webhook keeps of pods: {failure}"));
                None
            }
        };
        let wants = Wants { query: query(namespace.clone()), pods: true, outbox, ..Wants::default() };
        let feed = Feed::start(cluster, wants).await?;
        Ok(Self::new(Origin::Feed(Box::new(feed)), namespace, patience))
    }

    /// Of files.
    ///
    /// # Errors
    /// The slices cannot be read.
    pub fn of_dump(dump: &Dump, namespace: Option<String>, patience: SignedDuration) -> Result<Self, Failure> {
        let pods = dump.pods(namespace.as_deref());
        let snapshot = dump.snapshot(&query(namespace.clone()))?;
        Ok(Self::new(Origin::Still(Box::new(snapshot), pods), namespace, patience))
    }

    fn new(origin: Origin, namespace: Option<String>, patience: SignedDuration) -> Self {
        let (slices, compositions) = (Board::new(patience), Board::new(patience));
        Facts { origin, namespace, patience, slices, compositions, pods: BTreeMap::new() }
    }

    fn snapshot(&self) -> &Snapshot {
        match &self.origin {
            Origin::Feed(feed) => feed.snapshot(),
            Origin::Still(snapshot, _) => snapshot,
        }
    }

    /// The moment as of which it is judged.
    pub fn now(&self) -> Timestamp {
        self.snapshot().now
    }

    /// Does it change?
    pub fn is_live(&self) -> bool {
        matches!(self.origin, Origin::Feed(_))
    }

    /// Is it true now?
    pub fn link(&self) -> Link {
        match &self.origin {
            Origin::Still(..) => Link::Offline,
            Origin::Feed(feed) => match feed.connection() {
                Connection::Live => Link::Live,
                Connection::Stale { since, why } => Link::Stale { since: *since, why: why.clone() },
            },
        }
    }

    /// All there is.
    pub fn all(&mut self) -> Vec<Event> {
        let snapshot = match &self.origin {
            Origin::Feed(feed) => feed.snapshot(),
            Origin::Still(snapshot, _) => snapshot,
        };
        self.slices.fill(snapshot);
        self.compositions.fill(snapshot);
        let slices = self.slices.items().map(|(place, item)| (place.clone(), Some(Row::of_slice(item))));
        let compositions =
            self.compositions.items().map(|(place, item)| (place.clone(), Some(Row::of_composition(item))));
        let mut events = vec![
            Event::Turned(Tab::Slices, slices.collect()),
            Event::Turned(Tab::Compositions, compositions.collect()),
        ];
        events.extend(self.turned_pods());
        events
    }

    /// Waits for a change; files have none.
    pub async fn changed(&mut self) -> Change {
        match &mut self.origin {
            Origin::Feed(feed) => feed.changed().await,
            Origin::Still(..) => std::future::pending().await,
        }
    }

    /// What a change makes different, and what time alone does.
    pub fn take_in(&mut self, change: &Change) -> Vec<Event> {
        let Origin::Feed(feed) = &mut self.origin else { return vec![] };
        feed.tick();
        let slices = turned(&mut self.slices, feed.snapshot(), change, Row::of_slice);
        let compositions = turned(&mut self.compositions, feed.snapshot(), change, Row::of_composition);
        let mut events = vec![Event::Ticked(feed.snapshot().now)];
        events.extend((!slices.is_empty()).then_some(Event::Turned(Tab::Slices, slices)));
        events.extend((!compositions.is_empty()).then_some(Event::Turned(Tab::Compositions, compositions)));
        events.extend(self.turned_pods());
        events.extend(change.connection.then(|| Event::Linked(self.link())));
        events
    }

    /// Pods are few: all are judged again, and those told of that are shown otherwise. A name has one row: that of the pod
    /// that exists, else of one that the webhook follows or has yet to tell of.
    fn turned_pods(&mut self) -> Option<Event> {
        let (snapshot, pods) = match &self.origin {
            Origin::Feed(feed) => (feed.snapshot(), feed.pods()),
            Origin::Still(snapshot, pods) => (snapshot.as_ref(), pods),
        };
        let follow =
            |uid: &str, entry: &Entry, pod: Option<&Pod>| PodItem::new(uid, entry, pod, snapshot.now, self.patience);
        let row = |pod: &Pod| {
            let row = Row::of_pod(pod, &snapshot.namespaces, snapshot.now, self.patience);
            let uid = &pod.metadata.uid;
            snapshot.outbox.get(uid).map(|entry| follow(uid, entry, Some(pod))).iter().fold(row, Row::with_end)
        };
        let followed = snapshot.outbox.entries().into_iter().map(|(uid, entry)| follow(uid, entry, None));
        let followed = followed.filter(|item| self.namespace.as_deref().is_none_or(|home| item.concerns(home)));
        let mut now: BTreeMap<Place, Row> =
            followed.map(|item| Row::of_followed(&item)).map(|row| (row.place.clone(), row)).collect();
        now.extend(pods.iter().map(|(place, pod)| (place.clone(), row(pod))));
        let gone = self.pods.keys().filter(|place| !now.contains_key(*place)).map(|place| (place.clone(), None));
        let turned = now.iter().filter(|(place, row)| self.pods.get(*place) != Some(row));
        let turns: Vec<_> = gone.chain(turned.map(|(place, row)| (place.clone(), Some(row.clone())))).collect();
        self.pods = now;
        (!turns.is_empty()).then_some(Event::Turned(Tab::Pods, turns))
    }
}

/// All that is shown, and what a composition's progress rests on.
fn query(namespace: Option<String>) -> Query {
    Query { namespace, depth: Depth::Undone, slices_may_fail: true, ..Query::default() }
}

fn turned<I: Judged>(
    board: &mut Board<I>,
    snapshot: &Snapshot,
    change: &Change,
    row: fn(&I) -> Row,
) -> Vec<(Place, Option<Row>)> {
    let turns = board.update(snapshot, change);
    let row = |turn| match turn {
        Turn::Added(place) | Turn::Modified(place, _) => {
            let shown = board.get(&place).map(row);
            (place, shown)
        }
        Turn::Deleted(place, _) | Turn::Left(place, _) => (place, None),
    };
    turns.into_iter().map(row).collect()
}
