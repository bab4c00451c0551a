//! The controllers that finish what deletion and synthesis leave: they collect garbage slices and release finalizers.
//!
//! Every replica watches; only the leader writes. A slice that a watch, a composition's change or an admission brings up is
//! looked at twice: first in the [`store`](crate::store), then, if that would change it, at the API server itself. The write
//! is guarded by what was judged. No look blocks another, and a slice on which everything fails delays only itself.
//!
//! ```text
//! watches ─▶ store ─▶ queue ─▶ first look ─▶ brake ─▶ second look, live ─▶ guarded write
//!               ▲        ▲                                   │
//!               └ hints ─┴──────────── again, when? ─────────┘
//! ```

pub mod brake;
mod held;
pub mod look;
pub mod metrics;
mod queue;
pub mod report;
mod resynthesis;
mod suspicion;
mod watches;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::api::{Composition, Metadata, ResourceSlice};
use eno_shared::{Compositions, Judgement, Lookup, Reason, Verdict, judge};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use kube::Client;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tracing::{debug, info, warn};

use crate::leader::Leadership;
use crate::store::{Key, Store, scopes};
use brake::{Brake, Collecting};
use held::Held;
use look::{Candidate, Looked, Looker, Outcome, is_needed};
use queue::Queue;
use report::{LeaseName, Note, Reporter};
use resynthesis::Resynthesis;
use suspicion::Suspicion;
use watches::{Change, Named, Seen, watches};

/// How many slices one look takes.
const BATCH: usize = 128;
/// How many looks are under way at once.
const LOOKS: usize = 8;
/// A look that found the slice changed is repeated after this, if the watch does not bring it up before.
const SETTLE: Duration = Duration::from_secs(1);
/// How often slices are counted for the metrics.
const TICK: Duration = Duration::from_secs(1);
/// After how long what the store or another says is looked at again, where it is not clear who is right.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which controllers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Enabled {
    /// Collect garbage slices (part A).
    pub cleanup: bool,
    /// Release finalizers (part B), put them back where they are needed, and ask for a new synthesis.
    pub release: bool,
}

impl Enabled {
    /// Does any controller run?
    #[must_use]
    pub fn any(self) -> bool {
        self.cleanup || self.release
    }
}

/// What the controllers are told.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which run.
    pub enabled: Enabled,
    /// Only say what would be done.
    pub dry_run: bool,
    /// The namespaces of compositions; all where empty.
    pub namespaces: Vec<String>,
    /// How many slices may be collected within a minute unasked.
    pub brake: brake::Limits,
    /// Writes in flight.
    pub writes: usize,
    /// How often all slices are looked at, for what slipped.
    pub sweep: Duration,
    /// A slice that is held longer is reported.
    pub held_warning: Duration,
    /// What Events are about that concern no single composition.
    pub lease: LeaseName,
}

/// Runs the controllers for ever. `leadership` says whether this process may write; `hints` names slices to look at soon.
pub async fn run(
    client: Client,
    options: Options,
    mut leadership: Leadership,
    mut hints: mpsc::Receiver<Key>,
    reporter: Reporter,
) {
    let mut seen = watches(&client, &options.namespaces).ready_chunks(256);
    let mut sweep = interval(options.sweep);
    let mut tick = interval(TICK);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut controller = Controller::new(client, options, leadership.clone(), reporter);
    controller.leadership_changed();
    loop {
        let may_look = controller.may_look();
        tokio::select! {
            Some(events) = seen.next() => events.into_iter().for_each(|event| controller.observe(event)),
            keys = controller.queue.take(BATCH), if may_look => controller.first_look(keys),
            Some(looked) = controller.looks.next() => controller.looked(looked),
            Some(judged) = controller.suspicions.next() => controller.judged_live(judged),
            Some(asked) = controller.asked.next() => controller.asked(asked),
            Some(hint) = hints.recv() => controller.trigger([hint]),
            () = leadership.changed() => controller.leadership_changed(),
            _ = sweep.tick() => controller.trigger_all(),
            _ = tick.tick() => controller.count(),
        }
    }
}

struct Controller {
    options: Options,
    store: Store,
    queue: Queue,
    looker: Looker,
    brake: Collecting,
    held: Held,
    resynthesis: Resynthesis,
    reporter: Reporter,
    /// Looks that failed since the last tick, and why the last one did.
    failures: (usize, String),
    looks: FuturesUnordered<BoxFuture<'static, Vec<(Key, Looked)>>>,
    suspicions: FuturesUnordered<BoxFuture<'static, Result<HashSet<Key>, Suspicion>>>,
    asked: FuturesUnordered<BoxFuture<'static, resynthesis::Asked>>,
    was_synced: bool,
    led: bool,
}

impl Controller {
    fn new(client: Client, options: Options, leadership: Leadership, reporter: Reporter) -> Self {
        let permits = Arc::new(Semaphore::new(options.writes));
        let resynthesis = Resynthesis::new(client.clone(), options.dry_run, leadership.clone());
        let looker = Looker { client, enabled: options.enabled, dry_run: options.dry_run, permits, leadership };
        Controller {
            store: Store::new(&scopes(&options.namespaces)),
            queue: Queue::default(),
            brake: Collecting::new(options.brake),
            held: Held::new(options.held_warning),
            resynthesis,
            reporter,
            failures: (0, String::new()),
            looks: FuturesUnordered::new(),
            suspicions: FuturesUnordered::new(),
            asked: FuturesUnordered::new(),
            was_synced: false,
            led: false,
            looker,
            options,
        }
    }

    fn leads(&self) -> bool {
        self.looker.leadership.leads()
    }

    fn may_look(&self) -> bool {
        self.leads() && self.store.synced() && self.looks.len() < LOOKS
    }

    /// Leadership was won, renewed or lost.
    fn leadership_changed(&mut self) {
        let leads = self.leads();
        self.reporter.leads(leads);
        match (std::mem::replace(&mut self.led, leads), leads) {
            (false, true) => self.trigger_all(),
            (true, false) => {
                self.queue = Queue::default();
                self.held.clear();
                self.brake = Collecting::new(self.options.brake);
                self.suspicions = FuturesUnordered::new();
                self.reporter.paused(false);
            }
            (true, true) | (false, false) => {}
        }
    }

    /// Asks for a look at these slices. Those who do not lead look at nothing.
    fn trigger(&mut self, keys: impl IntoIterator<Item = Key>) {
        if self.leads() {
            keys.into_iter().for_each(|key| self.queue.add(key));
        }
    }

    fn trigger_all(&mut self) {
        let all: Vec<Key> = self.store.keys().collect();
        self.trigger(all);
    }

    fn observe(&mut self, seen: Seen) {
        let concerned = match seen {
            Seen::Slice(change) => self.observe_slice(change),
            Seen::Composition(change) => self.observe_composition(change),
            Seen::Namespace(change) => {
                self.observe_namespace(change);
                vec![]
            }
            Seen::Failed { what, error } => {
                self.reporter.watch_restarted(what);
                warn!(what, %error, "a watch failed; it begins again");
                vec![]
            }
        };
        let synced = self.store.synced();
        if synced && !std::mem::replace(&mut self.was_synced, synced) {
            info!(slices = self.store.len(), "knows all slices and compositions");
            self.trigger_all();
        } else {
            self.trigger(concerned);
        }
        self.was_synced = synced;
    }

    fn observe_slice(&mut self, change: Change<Metadata>) -> Vec<Key> {
        match change {
            Change::Relist(scope) => self.store.slices_relist(&scope),
            Change::Listed(scope) => {
                let gone = self.store.slices_listed(&scope);
                gone.iter().for_each(|key| self.forget(key));
            }
            Change::Exists(metadata) => return vec![self.store.slice_seen(metadata)],
            Change::Gone(metadata) => {
                let key = Key::new(&metadata.namespace, &metadata.name);
                self.store.slice_gone(&key);
                self.forget(&key);
            }
        }
        vec![]
    }

    fn forget(&mut self, key: &Key) {
        self.held.forget(key);
        self.resynthesis.forget(key);
    }

    fn observe_composition(&mut self, change: Change<Named<Lookup<Arc<Composition>>>>) -> Vec<Key> {
        match change {
            Change::Relist(scope) => {
                self.store.compositions_relist(&scope);
                vec![]
            }
            Change::Listed(scope) => self.store.compositions_listed(&scope),
            Change::Exists(Named { namespace, name, what }) => {
                self.store.composition_seen(Key::new(&namespace, &name), what)
            }
            Change::Gone(Named { namespace, name, .. }) => self.store.composition_gone(&Key::new(&namespace, &name)),
        }
    }

    fn observe_namespace(&self, change: Change<Named<bool>>) {
        match change {
            Change::Relist(_) => self.reporter.forget_namespaces(),
            Change::Listed(_) => {}
            Change::Exists(Named { name, what: terminating, .. }) => self.reporter.namespace(&name, terminating),
            Change::Gone(Named { name, .. }) => self.reporter.namespace(&name, false),
        }
    }

    /// Looks at slices in the store, and sends on those that would be changed.
    fn first_look(&mut self, keys: Vec<Key>) {
        let now = Timestamp::now();
        let mut by_namespace: HashMap<Arc<str>, (Vec<Candidate>, BTreeSet<String>)> = HashMap::new();
        for key in keys {
            let (Some(slice), Some(compositions)) = (self.store.slice(&key), self.store.compositions(&key.namespace))
            else {
                self.queue.done(&key, None);
                continue;
            };
            let first = judge(&slice, compositions, now);
            let again = self.held.judged(&key, &slice, &first, now);
            let act = self.wants_second_look(&key, &slice, &first) || self.held.is_overdue(&key, now);
            if act {
                let (candidates, referrers) = by_namespace.entry(Arc::clone(&key.namespace)).or_default();
                referrers.extend(referrers_of(compositions, &key.name));
                candidates.push(Candidate { key: key.clone(), slice, first: first.clone() });
            } else {
                self.queue.done(&key, again.or_else(|| until(&first.reason, now)));
            }
            self.store.judged(&key, first.verdict, first.reason.as_str());
        }
        for (namespace, (candidates, referrers)) in by_namespace {
            self.second_look(namespace, candidates, referrers);
        }
    }

    /// Would the second look write anything, if it agreed?
    fn wants_second_look(&self, key: &Key, slice: &ResourceSlice, first: &Judgement) -> bool {
        match first.verdict {
            Verdict::Collect => self.options.enabled.cleanup,
            Verdict::Release => self.options.enabled.release && first.reason != Reason::NoFinalizer,
            Verdict::Keep => {
                first.wants_content
                    || (self.options.enabled.release
                        && is_needed(&first.reason)
                        && !slice.metadata.has_cleanup_finalizer())
            }
            Verdict::Hold => {
                let resynthesis = self.options.enabled.release
                    && matches!(first.reason, Reason::ReferencedByCurrent { .. })
                    && !self.resynthesis.has_asked_for(key, slice);
                first.wants_content || resynthesis
            }
            Verdict::Wait | Verdict::Unknown => false,
        }
    }

    fn second_look(&mut self, namespace: Arc<str>, candidates: Vec<Candidate>, referrers: BTreeSet<String>) {
        let collect: Vec<&Key> = candidates
            .iter()
            .filter(|candidate| candidate.first.verdict == Verdict::Collect)
            .map(|candidate| &candidate.key)
            .collect();
        let brake = if collect.is_empty() || self.options.dry_run {
            Brake::Open
        } else {
            self.brake.ask(&collect, self.store.len(), Instant::now())
        };
        let candidates = match brake {
            Brake::Open => candidates,
            Brake::Closed { first } => {
                if first {
                    self.suspect();
                }
                candidates.into_iter().filter(|candidate| candidate.first.verdict != Verdict::Collect).collect()
            }
        };
        if candidates.is_empty() {
            return;
        }
        let looker = self.looker.clone();
        self.looks.push(async move { looker.look(&namespace, candidates, referrers).await }.boxed());
    }

    /// Too many slices are garbage at once: asks the API server about all of them.
    fn suspect(&mut self) {
        let (slices, known) = (self.brake.waiting(), self.store.len());
        warn!(
            slices,
            known, "collecting pauses: more slices than usual are garbage; a live look at all compositions decides"
        );
        self.reporter.paused(true);
        self.reporter.note(Note::paused(&self.options.lease, slices, known));
        let (client, namespaces) = (self.looker.client.clone(), self.options.namespaces.clone());
        self.suspicions.push(async move { suspicion::live_look(&client, &namespaces).await }.boxed());
    }

    fn judged_live(&mut self, judged: Result<HashSet<Key>, Suspicion>) {
        let now = Instant::now();
        match judged {
            Ok(garbage) => {
                let (agreed, others) = self.brake.open(&garbage, now);
                info!(agreed = agreed.len(), not_agreed = others.len(), "collecting goes on: a live look has decided");
                self.reporter.paused(false);
                agreed.iter().for_each(|key| self.queue.done(key, Some(now)));
                // The store is behind: when it catches up, it brings them up itself.
                others.iter().for_each(|key| self.queue.done(key, Some(now + suspicion::AGAIN)));
            }
            Err(suspicion) => {
                warn!(
                    %suspicion, slices = self.brake.waiting(),
                    "collecting stays paused; look with `kubectl eno slices -A --verdict collect`"
                );
                let (client, namespaces) = (self.looker.client.clone(), self.options.namespaces.clone());
                self.suspicions.push(async move { suspicion::later_look(&client, &namespaces).await }.boxed());
            }
        }
    }

    fn looked(&mut self, looked: Vec<(Key, Looked)>) {
        for (key, looked) in looked {
            self.reporter.looked(&looked);
            match looked.outcome {
                Outcome::Collected { released: true } | Outcome::Released | Outcome::Gone => self.queue.settled(&key),
                Outcome::Collected { released: false } | Outcome::Restored => {
                    self.queue.done(&key, Some(Instant::now() + SETTLE));
                }
                Outcome::Changed => {
                    self.queue.changed(&key);
                }
                Outcome::WouldAct | Outcome::NotLeading => self.queue.done(&key, None),
                Outcome::Stays | Outcome::Disagreed => self.stays(&key, &looked.slice, &looked.judgement),
                Outcome::Failed(ref error) => self.failed(&key, error),
            }
        }
    }

    /// The live look says that nothing is to be done: otherwise than the store, or because the slice is held.
    fn stays(&mut self, key: &Key, slice: &ResourceSlice, judgement: &Judgement) {
        if judgement.verdict == Verdict::Unknown {
            return self.failed(key, &judgement.reason);
        }
        let now = Timestamp::now();
        let terminating = self.reporter.is_terminating(&key.namespace);
        if let Some(compositions) = self.store.compositions(&key.namespace) {
            if let Some(blockers) = self.held.overdue(key, slice, judgement, compositions, terminating, now) {
                self.reporter.note(Note::held(slice, judgement, &blockers));
            }
            if self.options.enabled.release
                && let Some(asking) = self.resynthesis.wanted(key, slice, judgement, compositions)
            {
                self.asked.push(asking);
            }
        }
        // Where the store calls it held for too long and the live look does not, the two must not chase each other.
        let soonest = Instant::now() + PATIENCE;
        let overdue = self.held.again(key, now).map(|at| at.max(soonest));
        self.queue.done(key, overdue.or_else(|| until(&judgement.reason, now)));
    }

    fn failed(&mut self, key: &Key, error: &impl Display) {
        let delay = self.queue.failed(key);
        debug!(namespace = %key.namespace, name = %key.name, %error, ?delay, "a look failed; it is repeated");
        self.failures = (self.failures.0 + 1, format!("{}/{}: {error}", key.namespace, key.name));
    }

    /// What came of asking for a new synthesis.
    fn asked(&mut self, asked: resynthesis::Asked) {
        if let Some(again) = self.resynthesis.asked(asked, &self.reporter) {
            self.queue.add_at(again, Instant::now() + PATIENCE);
        }
    }

    fn count(&mut self) {
        if let (failures @ 1.., last) = std::mem::take(&mut self.failures) {
            warn!(failures, last, "looks at slices failed; they are repeated");
        }
        self.reporter.counted(self.store.verdicts(), self.queue.backlog(), self.held.oldest(Timestamp::now()));
    }
}

/// When the judgement may change by time alone.
fn until(reason: &Reason, now: Timestamp) -> Option<Instant> {
    match reason {
        // A little later, so that the clock has surely passed it.
        Reason::TooNew { until } => {
            let left = Duration::try_from(until.duration_since(now)).unwrap_or_default();
            Some(Instant::now() + left + Duration::from_millis(20))
        }
        Reason::ReferencedByCurrent { .. }
        | Reason::ReferencedByPrevious { .. }
        | Reason::InFlight { .. }
        | Reason::NeededForDeletion { .. }
        | Reason::Unowned
        | Reason::OwnerUnknown { .. }
        | Reason::ReferencesUnknown { .. }
        | Reason::OwnerGone { .. }
        | Reason::OwnerReplaced { .. }
        | Reason::CompositionFinished { .. }
        | Reason::CompositionReconciled { .. }
        | Reason::Unreferenced { .. }
        | Reason::NoFinalizer => None,
    }
}

fn referrers_of(compositions: &Compositions, slice: &str) -> impl Iterator<Item = String> {
    let referrers = compositions.current_referrers(slice).chain(compositions.previous_referrers(slice));
    referrers.map(|composition| composition.metadata.name.clone())
}
