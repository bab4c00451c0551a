//! Writes to ConfigMaps what must outlive this process: see [`eno_shared::pods::outbox`] for what lies there.
//!
//! At most one write a second, of all that changed in one shard; what has time waits for company. A write says which version
//! it changes, so that of two writers one fails. Nobody waits for a write: destroys are told meanwhile, and what was told and
//! not noted is told again, with the same id.
//!
//! The space is [bounded](Limits). When it is full, what finds no place is kept in memory alone, is told as ever, and is lost
//! if the process ends first: the metric `outbox_unsaved`, the log and an Event say so. Checkpoints of living pods leave a
//! quarter of the space to those that end. Before that, no more ends are looked for once too many destroys are undelivered:
//! those pods wait, as candidates.

mod plan;
mod write;

use std::collections::BTreeMap;
use std::time::Duration;

use eno_shared::names::{OUTBOX_LABEL, OUTBOX_SHARD};
use eno_shared::pods::outbox::{self, Entry, Refused};
use eno_shared::pods::tracker::{Changed, Place};
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use tokio::time::Instant;
use tracing::warn;

use plan::Plan;
use write::{Version, Writer};

pub(super) use write::Written;

/// The least time between two writes.
pub(super) const PERIOD: Duration = Duration::from_secs(1);
/// How long what has time waits.
const CHECKPOINT: Duration = Duration::from_secs(30);
/// How many shards one page of a list has: each may be large.
const PAGE: u32 = 4;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Shards, of 256 KiB each.
    pub shards: u16,
    /// Destroys that are undelivered, before no more ends are looked for.
    pub undelivered: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { shards: 64, undelivered: 20_000 }
    }
}

/// Keeps what must outlive this process.
pub(super) struct Outbox {
    writer: Writer,
    plan: Plan,
    versions: BTreeMap<u16, Version>,
    /// Before this nothing is written.
    not_before: Instant,
    failures: u32,
    writing: bool,
}

/// What an earlier process has left.
#[derive(Default)]
pub(super) struct Left {
    /// By uid.
    pub(super) entries: BTreeMap<String, Entry>,
    /// Entries that cannot be read: `SHARD/KEY: why`.
    pub(super) aside: Vec<String>,
    /// Shards that are refused, by name.
    pub(super) refused: Vec<(String, Refused)>,
}

/// Has one entry of a pod at least what the other has?
fn says_more(one: &Entry, other: &Entry) -> bool {
    let weight = |entry: &Entry| {
        let following = entry.following.as_ref();
        let is_going = following.is_some_and(|following| following.going_since.is_some());
        (entry.undelivered.len(), is_going, following.is_none())
    };
    weight(one) >= weight(other)
}

impl Outbox {
    /// Reads what an earlier process has left in the namespace.
    pub(super) async fn load(
        client: Client,
        namespace: &str,
        cluster: &str,
        limits: Limits,
    ) -> kube::Result<(Self, Left)> {
        let api: Api<ConfigMap> = Api::namespaced(client, namespace);
        let writer = Writer::new(api.clone(), cluster);
        let mut outbox = Outbox {
            writer,
            plan: Plan::new(limits.shards),
            versions: BTreeMap::new(),
            not_before: Instant::now(),
            failures: 0,
            writing: false,
        };
        let mut left = Left::default();
        let mut page = ListParams::default().labels(&format!("{OUTBOX_LABEL}={OUTBOX_SHARD}")).limit(PAGE);
        loop {
            let shards = api.list(&page).await?;
            let next = shards.metadata.continue_.clone().filter(|token| !token.is_empty());
            shards.items.into_iter().for_each(|shard| outbox.take_over(shard, cluster, &mut left));
            match next {
                Some(token) => page = page.continue_token(&token),
                None => return Ok((outbox, left)),
            }
        }
    }

    fn take_over(&mut self, shard: ConfigMap, cluster: &str, left: &mut Left) {
        let name = shard.name_any();
        let data = shard.data.as_ref().cloned().unwrap_or_default();
        let decoded = match outbox::decode(shard.annotations(), &data, cluster) {
            Ok(decoded) => decoded,
            Err(refused) => return left.refused.push((name, refused)),
        };
        let Some(number) = self.writer.number(&name) else {
            let why = Refused::Cluster(format!("{cluster}, by a name that is not ours"));
            return left.refused.push((name, why));
        };
        self.versions.insert(number, Version::of(&shard));
        for (key, why) in &decoded.aside {
            left.aside.push(format!("{name}/{key}: {why}"));
            self.plan.occupied(number, data.get(key).map_or(0, |text| key.len() + text.len()));
        }
        for (uid, entry) in decoded.entries {
            let bytes = data[&uid].len();
            match left.entries.get_mut(&uid) {
                // It was being moved when the process ended. The one that says more was written later.
                Some(known) if says_more(known, &entry) => self.plan.lies_twice(&uid, number, bytes, Instant::now()),
                Some(known) => {
                    *known = entry;
                    self.plan.lies_elsewhere(&uid, number, bytes, Instant::now());
                }
                None => {
                    self.plan.lies(&Place::new(&entry.namespace, &entry.name), &uid, number, bytes);
                    left.entries.insert(uid, entry);
                }
            }
        }
    }

    /// Something changed that must be noted.
    pub(super) fn note(&mut self, changed: Changed) {
        self.plan.note(changed, Instant::now());
    }

    /// The process is about to end: nothing has time any more.
    pub(super) fn hurry(&mut self) {
        self.plan.hurry();
    }

    /// When the next write is due.
    pub(super) fn due(&self) -> Option<Instant> {
        let at = self.plan.due(CHECKPOINT).filter(|_| !self.writing)?;
        Some(at.max(self.not_before))
    }

    /// Has nothing to note that is urgent?
    pub(super) fn is_settled(&self) -> bool {
        !self.writing && !self.plan.has_urgent()
    }

    /// How many entries have found no place.
    pub(super) fn unsaved(&self) -> usize {
        self.plan.unsaved()
    }

    /// Begins a write; `entry` says what there is to keep of a pod now.
    pub(super) fn write(
        &mut self,
        entry: impl Fn(&Place, &str) -> Option<String>,
    ) -> Option<BoxFuture<'static, Written>> {
        let batch = self.plan.batch(entry, Instant::now())?;
        let version = self.versions.get(&batch.shard).cloned();
        self.writing = true;
        self.not_before = Instant::now() + PERIOD;
        Some(self.writer.write(batch, version))
    }

    /// A write has ended. Says whether it was made.
    pub(super) fn written(&mut self, written: Written) -> bool {
        self.writing = false;
        let Written { batch, result } = written;
        if result.is_ok() {
            self.plan.made(&batch, Instant::now());
        }
        match result {
            Ok(Some(version)) => {
                self.failures = 0;
                self.versions.insert(batch.shard, version);
                true
            }
            Ok(None) => {
                self.failures = 0;
                self.versions.remove(&batch.shard);
                true
            }
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                let pause = PERIOD.saturating_mul(1 << self.failures.min(5));
                self.not_before = Instant::now() + pause;
                warn!(%error, ?pause, "cannot note what is known of pods; it is kept in memory and tried again");
                if let Some(found) = error.found() {
                    // Somebody has changed or removed the shard: what of it is ours is written again.
                    match found {
                        Some(version) => drop(self.versions.insert(batch.shard, version)),
                        None => drop(self.versions.remove(&batch.shard)),
                    }
                    self.plan.lost(batch.shard, Instant::now());
                }
                self.plan.failed(batch, Instant::now());
                false
            }
        }
    }
}
