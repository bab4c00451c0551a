//! The first picture: all lists, and what must be read whole.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use eno_shared::Lookup;
use eno_shared::api::{Composition, ResourceSlice, Symphony};
use eno_shared::client::ReadError;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc::channel;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::facts::Facts;
use super::watch::{News, Subject};
use super::{Change, Connection, Feed, Wants};
use crate::cluster::{Cluster, goes_into_url};
use crate::failure::Failure;

/// News that is waiting to be heard. More make the watches wait.
const WAITING: usize = 256;

impl Feed {
    /// Lists, reads whole what must be, and begins to watch.
    ///
    /// # Errors
    /// Where the slices cannot be listed, or, with [`Query::slices_may_fail`], neither they nor compositions can. What else
    /// cannot be read is a warning, and Unknown.
    pub async fn start(cluster: &Cluster, wants: Wants) -> Result<Self, Failure> {
        wants.query.namespace.iter().try_for_each(|namespace| goes_into_url("namespace", namespace))?;
        let (ear, news) = channel(WAITING);
        let mut watches = JoinSet::new();
        let all = wants.watches(cluster.timeout);
        let mut awaited: BTreeSet<Subject> = all.iter().map(|watch| watch.subject).collect();
        for watch in all {
            watches.spawn(watch.run(cluster.client.clone(), ear.clone()));
        }
        let only_pods = wants.only_pods;
        let cluster_uid = wants.outbox.map(|home| home.cluster_uid).unwrap_or_default();
        let mut feed = Feed {
            cluster: cluster.clone(),
            facts: Facts::new(wants.query, cluster.warnings.clone()),
            news,
            _watches: watches,
            listed: BTreeSet::new(),
            lost: BTreeMap::new(),
            connection: Connection::Live,
            to_read: VecDeque::new(),
            reads: FuturesUnordered::new(),
            change: Change::default(),
            unsaid: None,
            told: Instant::now(),
        };
        feed.facts.cluster_uid = cluster_uid;
        let mut refused = BTreeMap::new();
        while !awaited.is_empty() {
            let Some((subject, news)) = feed.news.recv().await else { break };
            match news {
                News::Lost(error) if awaited.remove(&subject) => {
                    refused.insert(subject, error);
                }
                news => {
                    awaited.remove(&subject);
                    feed.hear(subject, news);
                }
            }
        }
        if only_pods && let Some(error) = refused.remove(&Subject::Outbox) {
            return Err(Failure::core(&error, Subject::Outbox.plural(), &cluster.host));
        }
        feed.without(refused)?;
        feed.tick();
        feed.settle();
        while let Some((place, read)) = feed.reads.next().await {
            feed.read(place, read);
            feed.settle();
        }
        feed.take();
        Ok(feed)
    }

    /// What could not be listed at all.
    fn without(&mut self, mut refused: BTreeMap<Subject, ReadError>) -> Result<(), Failure> {
        let namespace = self.facts.query.namespace.clone();
        let no_compositions = refused.remove(&Subject::Compositions);
        if let Some(error) = refused.remove(&Subject::Slices) {
            if !self.facts.query.slices_may_fail || no_compositions.is_some() {
                return Err(Failure::read::<ResourceSlice>(&error, &self.cluster.host));
            }
            let why = self.cluster.cannot_list::<ResourceSlice>(namespace.as_deref(), &error);
            self.facts.snapshot.slices_incomplete = Some(why);
        }
        if let Some(error) = no_compositions {
            self.facts.no_compositions(self.cluster.cannot_list::<Composition>(namespace.as_deref(), &error));
        }
        if let Some(error) = refused.remove(&Subject::Symphonies) {
            let why = self.cluster.cannot_list::<Symphony>(namespace.as_deref(), &error);
            self.facts.symphonies.incomplete = Some(why);
        }
        if let Some(error) = refused.remove(&Subject::Pods) {
            self.cluster.warnings.warn(format!("cannot list pods of synthesizers: {error}"));
        }
        if let Some(error) = refused.remove(&Subject::Outbox) {
            self.cluster.warnings.warn(format!("cannot read what eno-webhook keeps of pods: {error}"));
        }
        // Not every user may read namespaces. What is not known is not shown.
        if let Some(error) = refused.remove(&Subject::Namespaces) {
            self.facts.namespace = Lookup::Unknown(error.to_string());
        }
        Ok(())
    }
}
