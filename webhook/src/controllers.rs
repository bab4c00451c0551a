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
mod first_look;
mod held;
pub mod look;
pub mod metrics;
pub mod note;
mod outcomes;
mod queue;
pub mod report;
mod resynthesis;
mod suspicion;
pub(crate) mod terminating;
mod watches;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use eno_shared::Lookup;
use eno_shared::api::{Composition, Metadata};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::Client;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{MissedTickBehavior, interval};
use tracing::{info, warn};

use crate::leader::Leadership;
use crate::store::{Key, Store, scopes};
use brake::Collecting;
use held::Held;
use look::{Looker, Looks};
use note::LeaseName;
use queue::Queue;
use report::Reporter;
use resynthesis::Resynthesis;
use suspicion::Suspicion;
use watches::{Change, Named, Seen, watches};

/// How many slices one second look takes.
const BATCH: usize = 128;
/// How many second looks are under way at once.
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

/// What is to be looked at soon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// A slice.
    Slice(Key),
    /// All slices that concern a composition.
    Composition(Key),
}

/// Runs the controllers for ever. `leadership` says whether this process may write; `hints` names what to look at soon.
pub async fn run(
    client: Client,
    options: Options,
    mut leadership: Leadership,
    mut hints: mpsc::Receiver<Hint>,
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
            keys = controller.queue.take(), if may_look => controller.first_look(keys),
            Some(looked) = controller.looks.next() => controller.looked(looked),
            Some(judged) = controller.suspicions.next() => controller.judged_live(judged),
            Some(asked) = controller.asked.next() => controller.asked(asked),
            Some(hint) = hints.recv() => controller.hinted(&hint),
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
    /// Slices that the first look would change: what the second looks take next.
    second: VecDeque<Key>,
    looker: Looker,
    brake: Collecting,
    held: Held,
    resynthesis: Resynthesis,
    reporter: Reporter,
    /// Looks that failed since the last tick, and why the last one did.
    failures: (usize, String),
    looks: FuturesUnordered<BoxFuture<'static, Looks>>,
    suspicions: FuturesUnordered<BoxFuture<'static, Result<HashSet<Key>, Suspicion>>>,
    asked: FuturesUnordered<BoxFuture<'static, resynthesis::Asked>>,
    was_synced: bool,
    /// The term in which it led last.
    led: Option<u64>,
}

impl Controller {
    fn new(client: Client, options: Options, leadership: Leadership, reporter: Reporter) -> Self {
        let permits = Arc::new(Semaphore::new(options.writes));
        let resynthesis = Resynthesis::new(client.clone(), options.dry_run, leadership.clone());
        let looker = Looker { client, enabled: options.enabled, dry_run: options.dry_run, permits, leadership };
        Controller {
            store: Store::new(&scopes(&options.namespaces)),
            queue: Queue::counting(reporter.look_again_delays()),
            second: VecDeque::new(),
            brake: Collecting::new(options.brake),
            held: Held::new(options.held_warning),
            resynthesis,
            reporter,
            failures: (0, String::new()),
            looks: FuturesUnordered::new(),
            suspicions: FuturesUnordered::new(),
            asked: FuturesUnordered::new(),
            was_synced: false,
            led: None,
            looker,
            options,
        }
    }

    fn leads(&self) -> bool {
        self.looker.leadership.leads()
    }

    fn may_look(&self) -> bool {
        self.leads() && self.store.synced() && self.second.is_empty()
    }

    /// Leadership was won, renewed or lost.
    fn leadership_changed(&mut self) {
        let term = self.looker.leadership.term();
        self.reporter.leads(term.is_some());
        let before = std::mem::replace(&mut self.led, term);
        if before == term {
            return;
        }
        if before.is_some() {
            self.queue = Queue::counting(self.reporter.look_again_delays());
            self.second.clear();
            self.held.clear();
            self.brake = Collecting::new(self.options.brake);
            self.suspicions = FuturesUnordered::new();
            self.reporter.paused(false);
        }
        self.trigger_all();
    }

    /// Asks for a look at these slices. Those who do not lead look at nothing.
    fn trigger(&mut self, keys: impl IntoIterator<Item = Key>) {
        if self.leads() {
            keys.into_iter().for_each(|key| self.queue.add(key));
        }
    }

    fn hinted(&mut self, hint: &Hint) {
        match hint {
            Hint::Slice(key) => self.trigger([key.clone()]),
            Hint::Composition(key) => self.trigger(self.store.concerned(key)),
        }
    }

    fn trigger_all(&mut self) {
        if self.leads() {
            self.store.keys().for_each(|key| self.queue.add(key));
        }
    }

    fn observe(&mut self, seen: Seen) {
        let concerned = match seen {
            Seen::Slice(change) => self.observe_slice(change),
            Seen::Composition(change) => self.observe_composition(change),
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

    fn count(&mut self) {
        if let (failures @ 1.., last) = std::mem::take(&mut self.failures) {
            warn!(failures, last, "looks at slices failed; they are repeated");
        }
        self.reporter.counted(self.store.verdicts(), self.queue.backlog(), self.held.oldest(Timestamp::now()));
    }
}
