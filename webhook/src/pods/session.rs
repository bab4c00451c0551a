//! One time of leadership: everything in one loop, so that nothing is decided twice.

mod observe;
mod tell;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use eno_shared::Lookup;
use eno_shared::pods::backlog::Backlog;
use eno_shared::pods::destroy::PodRef;
use eno_shared::pods::node::confirms_end;
use eno_shared::pods::outbox::Entry;
use eno_shared::pods::tracker::{Now, Outcome, Place, SWEEP, Tracker};
use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered};
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use kube::Client;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::cluster::cluster_uid;
use super::live::{Live, Looked};
use super::metrics::PodMetrics;
use super::namespaces::Chosen;
use super::outbox::{Left, Outbox, PERIOD, Written};
use super::requests::{Asked, requests};
use super::selection::Namespaces;
use super::sinks::{Ack, Courier};
use super::watch::Watches;
use super::{Hint, Options, Parts};
use crate::controllers::Hint as SliceHint;
use crate::controllers::note::{LeaseName, Note};
use crate::controllers::report::Reporter;
use crate::leader::Leadership;
use observe::Doubt;

/// How many looks are under way at once.
const LOOKS: usize = 128;
/// How often pods are counted, and what found no place before is tried again.
const TICK: Duration = Duration::from_secs(1);
/// How long the last writes may take when the process ends.
const LAST_WRITES: Duration = Duration::from_secs(2);
/// How many acknowledgements may wait.
const ACKS: usize = 1024;

/// Why a session has ended.
pub(super) enum End {
    /// It was told to.
    Stopped,
    /// The API server is that of another cluster now.
    AnotherCluster,
}

pub(super) struct Session {
    client: Client,
    options: Options,
    leadership: Leadership,
    lease: LeaseName,
    reporter: Reporter,
    metrics: PodMetrics,
    slices: mpsc::Sender<SliceHint>,
    stop: CancellationToken,
    /// The uid of the cluster.
    cluster: String,
    tracker: Tracker,
    backlog: Backlog,
    outbox: Outbox,
    namespaces: Chosen,
    watches: Watches,
    live: Live,
    couriers: Vec<Courier>,
    sinks: Vec<Arc<str>>,
    acks: mpsc::Receiver<Ack>,
    /// Some courier's queue was full.
    offer_again: bool,
    requests: BoxStream<'static, Asked>,
    /// The uids of those that were carried out.
    known_requests: HashSet<String>,
    /// Carried out, and not noted yet.
    carried_out: Vec<Asked>,
    looks: FuturesUnordered<BoxFuture<'static, Looked>>,
    writing: FuturesUnordered<BoxFuture<'static, Written>>,
    /// Lists that nobody believes before it is known that this is the same cluster, which is being asked.
    doubts: FuturesUnordered<BoxFuture<'static, (Doubt, Result<String>)>>,
    /// Was it told that the outbox is full?
    full: bool,
}

impl Session {
    /// Begins with what the leader before has left.
    pub(super) async fn begin(parts: &Parts) -> Result<Self> {
        let Parts { client, options, leadership, lease, reporter, metrics, sink_metrics, slices, stop, .. } = parts;
        let cluster = cluster_uid(client).await?;
        let (outbox, left) = Outbox::load(client.clone(), &lease.namespace, &cluster, options.limits)
            .await
            .with_context(|| format!("reading the outbox in namespace {}", lease.namespace))?;
        let sinks = options.sinks.sinks(&cluster, reporter)?;
        let (ack, acks) = mpsc::channel(ACKS);
        let start = |sink| Courier::start(sink, options.sinks.limits.clone(), sink_metrics.clone(), ack.clone());
        let couriers: Vec<_> = sinks.into_iter().map(start).collect();
        let mut session = Session {
            client: client.clone(),
            leadership: leadership.clone(),
            lease: lease.clone(),
            reporter: reporter.clone(),
            metrics: metrics.clone(),
            slices: slices.clone(),
            stop: stop.clone(),
            cluster,
            tracker: Tracker::new(options.selection.scopes()),
            backlog: Backlog::default(),
            outbox,
            namespaces: Chosen::new(client, &options.selection),
            watches: Watches::new(client.clone(), &options.selection),
            live: Live::new(client.clone()),
            sinks: couriers.iter().map(|courier| Arc::clone(courier.name())).collect(),
            couriers,
            acks,
            offer_again: false,
            requests: requests(client, &lease.namespace),
            known_requests: HashSet::new(),
            carried_out: vec![],
            looks: FuturesUnordered::new(),
            writing: FuturesUnordered::new(),
            doubts: FuturesUnordered::new(),
            full: false,
            options: options.clone(),
        };
        session.take_over(left);
        Ok(session)
    }

    fn take_over(&mut self, left: Left) {
        let Left { entries, aside, refused } = left;
        self.metrics.unreadable(aside.len() + refused.len());
        for entry in &aside {
            warn!(%entry, "an entry of the outbox cannot be read; it is left as it is");
        }
        for (shard, why) in &refused {
            warn!(%shard, %why, "a shard of the outbox is not used");
        }
        let (count, now) = (entries.len(), now());
        for (uid, Entry { namespace, name, following, undelivered }) in entries {
            let pod = PodRef { namespace, name, uid };
            match following {
                Some(following) => self.tracker.restore(&pod, following),
                None => self.tracker.restore_ended(&pod, now),
            }
            undelivered.into_iter().for_each(|one| self.backlog.restore(one, &self.sinks, now.at));
        }
        if matches!(self.options.selection.namespaces, Namespaces::All | Namespaces::Named(_)) {
            // No list will tell of the others, which an earlier process may have followed.
            self.keep_to_watches();
        }
        self.offer_all();
        info!(pods = count, undelivered = self.backlog.depth().pending, "follows pods");
    }

    /// Follows until told to stop.
    pub(super) async fn run(mut self, hints: &mut mpsc::Receiver<Hint>) -> Result<End> {
        let (mut sweep, mut tick) = (interval(SWEEP), interval(TICK));
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.stop.clone();
        loop {
            self.begin_looks();
            self.note_changes();
            let write_due = self.outbox.due();
            tokio::select! {
                said = self.watches.next() => self.observe(said),
                change = self.namespaces.next() => self.observe_namespaces(change),
                Some(looked) = self.looks.next() => self.looked(looked),
                Some(ack) = self.acks.recv() => self.acknowledged(&ack),
                Some(hint) = hints.recv() => self.tracker.hinted(&hint.place, hint.uid.as_deref(), now()),
                () = at(write_due) => self.begin_write(),
                Some(written) = self.writing.next() => self.written(written),
                Some(asked) = self.requests.next() => self.carry_out(asked),
                Some((doubt, cluster)) = self.doubts.next() => {
                    if self.is_another_cluster(doubt, cluster) {
                        return Ok(End::AnotherCluster);
                    }
                }
                _ = sweep.tick() => self.tracker.sweep(now()),
                _ = tick.tick() => self.tick(),
                () = stop.cancelled() => {
                    // What is not noted in time is found out again, or told again.
                    let _ = tokio::time::timeout(LAST_WRITES, self.finish()).await;
                    return Ok(End::Stopped);
                }
            }
        }
    }

    fn has_room(&self) -> bool {
        self.backlog.has_room(self.options.limits.undelivered)
    }

    fn begin_looks(&mut self) {
        // Where there is no room for their ends, candidates wait.
        while self.looks.len() < LOOKS && self.has_room() {
            let Some(look) = self.tracker.take(now().tick) else { return };
            self.looks.push(self.live.clone().look(look).boxed());
        }
    }

    fn looked(&mut self, looked: Looked) {
        let Looked { look, pod, nodes } = looked;
        let Outcome { ended, failed, false_destroys } = self.tracker.looked(&look, &pod, now());
        let Place { namespace, name } = &look.place;
        self.metrics.looked(match &pod {
            Lookup::Found(_) => "found",
            Lookup::Missing => "missing",
            Lookup::Unknown(_) => "failed",
        });
        if let Some(why) = failed {
            warn!(%namespace, %name, why, "a pod that may be gone cannot be read; it is kept, and looked at again");
        }
        if false_destroys > 0 {
            self.metrics.false_destroys(false_destroys);
            warn!(%namespace, %name, "a pod whose end was told lives");
        }
        for one in ended {
            let node = one.record.node.as_deref().map(|name| nodes.get(name).map(Arc::as_ref));
            // Its node was not read where it was not known when the look began.
            let unread = Lookup::Unknown(String::new());
            let confirmed = confirms_end(node.map(|read| read.unwrap_or(&unread)));
            self.ended(one, confirmed);
        }
    }

    fn note_changes(&mut self) {
        let changed = self.tracker.take_changed();
        if !self.options.dry_run {
            changed.into_iter().for_each(|changed| self.outbox.note(changed));
        }
    }

    fn begin_write(&mut self) {
        if !self.leadership.leads() {
            return;
        }
        let (tracker, backlog) = (&self.tracker, &self.backlog);
        let entry = |place: &Place, uid: &str| {
            let entry = Entry {
                namespace: place.namespace.to_string(),
                name: place.name.to_string(),
                following: tracker.following(place, uid),
                undelivered: backlog.of_pod(uid),
            };
            entry.encode()
        };
        self.writing.extend(self.outbox.write(entry));
    }

    fn written(&mut self, written: Written) {
        let made = self.outbox.written(written);
        self.metrics.written(made);
    }

    fn tick(&mut self) {
        let now = now();
        if self.offer_again {
            self.offer_all();
        }
        if self.outbox.is_settled() {
            for asked in self.carried_out.drain(..) {
                tokio::spawn(asked.done(self.client.clone()));
            }
        }
        for overdue in self.tracker.overdue(self.options.overdue, now) {
            self.metrics.overdue();
            self.reporter.note(Note::pod_overdue(&overdue));
        }
        let (depth, unsaved) = (self.backlog.depth(), self.outbox.unsaved());
        let full = unsaved > 0 || !self.has_room();
        if full && !self.full {
            self.reporter.note(Note::outbox_full(&self.lease, depth.pending, unsaved));
        }
        self.full = full;
        self.metrics.counted(self.tracker.counts(), depth, unsaved, now.at);
    }

    /// Notes what is left to note.
    async fn finish(&mut self) {
        loop {
            self.note_changes();
            self.outbox.hurry();
            if self.outbox.is_settled() {
                return;
            }
            let write_due = self.outbox.due();
            tokio::select! {
                () = at(write_due) => self.begin_write(),
                Some(written) = self.writing.next() => self.written(written),
                () = tokio::time::sleep(PERIOD) => {}
            }
        }
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn now() -> Now {
    Now { at: Timestamp::now(), tick: Instant::now().into_std() }
}
