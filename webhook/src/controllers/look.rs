//! The second look, at the API server itself, and the write that follows if it agrees with the first.
//!
//! One look is at many slices of one namespace: their compositions are read once for all.

use std::collections::{BTreeSet, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::api::{Composition, Kind, Metadata, ResourceSlice};
use eno_shared::client::{self, Effect, ReadError, Written};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_shared::owner::composition_owner;
use eno_shared::patch::{readd_cleanup_finalizer, remove_finalizer};
use eno_shared::{Compositions, Judgement, Reason, Verdict, judge};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::Client;
use kube::api::ListParams;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;
use tracing::info;

use super::Enabled;
use crate::leader::Leadership;
use crate::store::Key;

/// For how long what was read may be acted on. For a slice that waits longer for its turn, it is read again.
const FRESH: Duration = Duration::from_secs(2);
/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(10);
/// With more compositions to read than this, all of the namespace are listed.
const GETS: usize = 8;

/// A slice that the first look would change.
#[derive(Debug)]
pub struct Candidate {
    /// Its place.
    pub key: Key,
    /// The slice as the store knows it.
    pub slice: ResourceSlice,
    /// What the first look said.
    pub first: Judgement,
}

impl Candidate {
    fn owner(&self) -> Option<String> {
        composition_owner(&self.slice.metadata).map(|owner| owner.name.clone())
    }
}

/// What came of a look.
#[derive(Debug)]
pub enum Outcome {
    /// The slice was deleted, and released if nothing held it.
    Collected {
        /// Its finalizer came off, too.
        released: bool,
    },
    /// Eno's finalizer came off.
    Released,
    /// Eno's finalizer was put back.
    Restored,
    /// In a dry run: this would have been done.
    WouldAct,
    /// The second look agrees with the first that nothing is to be done.
    Stays,
    /// The second look does not agree with the first.
    Disagreed,
    /// The slice has changed since the first look.
    Changed,
    /// The slice does not exist any more.
    Gone,
    /// This process does not lead any more: nothing was done.
    NotLeading,
    /// A request failed.
    Failed(ReadError),
}

/// The judgement of the second look, and what came of it.
#[derive(Debug)]
pub struct Looked {
    /// The slice, as read last.
    pub slice: ResourceSlice,
    /// What the second look said.
    pub judgement: Judgement,
    /// What was done.
    pub outcome: Outcome,
}

/// What came of looks at many slices.
#[derive(Debug, Default)]
pub struct Looks {
    /// Those that ended.
    pub looked: Vec<(Key, Looked)>,
    /// Those that did not, since this process does not lead any more.
    pub abandoned: HashSet<Key>,
}

/// Takes second looks.
#[derive(Clone)]
pub struct Looker {
    /// The client.
    pub client: Client,
    /// What may be written.
    pub enabled: Enabled,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Bounds the writes in flight.
    pub permits: Arc<Semaphore>,
    /// Does this process lead?
    pub leadership: Leadership,
}

impl Looker {
    /// Looks at slices of one namespace. `referrers` are compositions that the store names as referring to them.
    pub async fn look(&self, namespace: &str, candidates: Vec<Candidate>, referrers: BTreeSet<String>) -> Looks {
        let mut looks = Looks {
            looked: Vec::with_capacity(candidates.len()),
            abandoned: candidates.iter().map(|candidate| candidate.key.clone()).collect(),
        };
        let names = referrers.into_iter().chain(candidates.iter().filter_map(Candidate::owner)).collect();
        let shared = SharedRead { looker: self, namespace, names, last: Mutex::new(None) };
        let acts = candidates.into_iter().map(async |Candidate { key, slice, first }| {
            // Closed never: the semaphore lives as long as the looker.
            let _permit = self.permits.acquire().await;
            let compositions = shared.fresh().await;
            let mut looked = self.act(slice, &compositions).await;
            // A first look that lacked the content had only its first word.
            let differs = looked.judgement.verdict != first.verdict && !first.wants_content;
            if matches!(looked.outcome, Outcome::Stays) && differs {
                looked.outcome = Outcome::Disagreed;
            }
            (key, looked)
        });
        let mut acts = acts.collect::<FuturesUnordered<_>>();
        let mut lost = pin!(self.leadership.lost());
        loop {
            // Whatever is under way ends with the lease, requests in flight too.
            tokio::select! {
                next = acts.next() => match next {
                    Some((key, looked)) => {
                        looks.abandoned.remove(&key);
                        looks.looked.push((key, looked));
                    }
                    None => return looks,
                },
                () = &mut lost => return looks,
            }
        }
    }

    /// The compositions that decide, live.
    async fn compositions(&self, namespace: &str, names: &BTreeSet<String>) -> Compositions {
        if names.len() > GETS {
            let all = ListParams::default();
            return match client::list::<Composition>(&self.client, Some(namespace), &all, REQUEST).await {
                Ok(all) => Compositions::whole(all.into_iter().map(|one| (one.name, one.object.map(Arc::new)))),
                Err(error) => Compositions::partial([], format!("compositions of {namespace}: {error}")),
            };
        }
        let read = names.iter().map(async |name| {
            let lookup = client::lookup::<Composition>(&self.client, Some(namespace), name, REQUEST).await;
            (name.clone(), lookup.map(Arc::new))
        });
        // The store has found all that refer to the slices; it has read all lists whole.
        Compositions::whole(read.collect::<FuturesUnordered<_>>().collect::<Vec<_>>().await)
    }

    async fn act(&self, mut slice: ResourceSlice, compositions: &Compositions) -> Looked {
        let mut judgement = judge(&slice, compositions, Timestamp::now());
        // Of a slice that is held its state is wanted, too: it says what blocks it.
        if judgement.wants_content || judgement.verdict == Verdict::Hold {
            match client::get::<ResourceSlice>(
                &self.client,
                Some(&slice.metadata.namespace),
                &slice.metadata.name,
                REQUEST,
            )
            .await
            {
                // Its compositions were read by what the store knew of it: nobody has asked for those of another owner.
                Ok(Some(live)) if !is_of_the_same(&live.metadata, &slice.metadata) => {
                    return Looked { slice: live, judgement, outcome: Outcome::Changed };
                }
                Ok(Some(live)) => slice = live,
                Ok(None) => return Looked { slice, judgement, outcome: Outcome::Gone },
                Err(error) => return Looked { slice, judgement, outcome: Outcome::Failed(error) },
            }
            judgement = judge(&slice, compositions, Timestamp::now());
        }
        let outcome = self.write(&slice, &judgement, compositions).await.unwrap_or_else(Outcome::Failed);
        Looked { slice, judgement, outcome }
    }

    async fn write(
        &self,
        slice: &ResourceSlice,
        judgement: &Judgement,
        compositions: &Compositions,
    ) -> Result<Outcome, ReadError> {
        let lacks_finalizer = !slice.metadata.has_cleanup_finalizer();
        match judgement.verdict {
            Verdict::Collect if self.enabled.cleanup => self.collect(slice, judgement, compositions).await,
            Verdict::Release if self.enabled.release && !lacks_finalizer => {
                self.release(&slice.metadata, judgement).await
            }
            Verdict::Keep if self.enabled.release && lacks_finalizer && is_needed(&judgement.reason) => {
                self.restore(&slice.metadata, judgement).await
            }
            Verdict::Keep | Verdict::Collect | Verdict::Wait | Verdict::Hold | Verdict::Release | Verdict::Unknown => {
                Ok(Outcome::Stays)
            }
        }
    }

    async fn collect(
        &self,
        slice: &ResourceSlice,
        judgement: &Judgement,
        compositions: &Compositions,
    ) -> Result<Outcome, ReadError> {
        if let Some(outcome) = self.refrain("collect", &slice.metadata, judgement) {
            return Ok(outcome);
        }
        let written = client::delete::<ResourceSlice>(&self.client, &slice.metadata, Effect::Real, REQUEST).await?;
        let after = match written {
            Written::Done(after) => after,
            Written::Gone => return Ok(Outcome::Gone),
            Written::Changed => return Ok(Outcome::Changed),
        };
        log("collected", &slice.metadata, judgement);
        let Some(terminating) = after else { return Ok(Outcome::Collected { released: true }) };
        // The answer is the slice as it is now: with its finalizer, there is no need to wait for the watch to say so.
        let terminating = ResourceSlice { metadata: *terminating, content: slice.content.clone() };
        let next = judge(&terminating, compositions, Timestamp::now());
        let releasable = next.verdict == Verdict::Release && next.reason != Reason::NoFinalizer;
        if !self.enabled.release || !releasable {
            return Ok(Outcome::Collected { released: false });
        }
        let released = self.release(&terminating.metadata, &next).await;
        Ok(Outcome::Collected { released: matches!(released, Ok(Outcome::Released | Outcome::Gone)) })
    }

    async fn release(&self, metadata: &Metadata, judgement: &Judgement) -> Result<Outcome, ReadError> {
        if let Some(outcome) = self.refrain("release", metadata, judgement) {
            return Ok(outcome);
        }
        let Some(patch) = remove_finalizer(metadata, CLEANUP_FINALIZER) else { return Ok(Outcome::Stays) };
        let outcome = self.patch(metadata, patch, Outcome::Released).await?;
        if matches!(outcome, Outcome::Released) {
            log("released", metadata, judgement);
        }
        Ok(outcome)
    }

    async fn restore(&self, metadata: &Metadata, judgement: &Judgement) -> Result<Outcome, ReadError> {
        if let Some(outcome) = self.refrain("restore the finalizer of", metadata, judgement) {
            return Ok(outcome);
        }
        let Some(patch) = readd_cleanup_finalizer(metadata) else { return Ok(Outcome::Stays) };
        let outcome = self.patch(metadata, patch, Outcome::Restored).await?;
        if matches!(outcome, Outcome::Restored) {
            log("restored the finalizer", metadata, judgement);
        }
        Ok(outcome)
    }

    async fn patch(&self, metadata: &Metadata, patch: json_patch::Patch, done: Outcome) -> Result<Outcome, ReadError> {
        let written = client::patch::<ResourceSlice>(&self.client, metadata, patch, Effect::Real, REQUEST).await?;
        Ok(match written {
            Written::Done(_) => done,
            Written::Gone => Outcome::Gone,
            Written::Changed => Outcome::Changed,
        })
    }

    /// Why nothing may be written now, if so.
    fn refrain(&self, what: &str, metadata: &Metadata, judgement: &Judgement) -> Option<Outcome> {
        if !self.leadership.leads() {
            return Some(Outcome::NotLeading);
        }
        if self.dry_run {
            log(&format!("dry run: would {what}"), metadata, judgement);
            return Some(Outcome::WouldAct);
        }
        None
    }
}

/// The compositions of one look: read once for all its slices, and again when they are too old to act on.
struct SharedRead<'a> {
    looker: &'a Looker,
    namespace: &'a str,
    names: BTreeSet<String>,
    last: Mutex<Option<(Instant, Arc<Compositions>)>>,
}

impl SharedRead<'_> {
    async fn fresh(&self) -> Arc<Compositions> {
        let mut last = self.last.lock().await;
        match &*last {
            Some((read, compositions)) if read.elapsed() <= FRESH => Arc::clone(compositions),
            Some(_) | None => {
                let before = Instant::now();
                let compositions = Arc::new(self.looker.compositions(self.namespace, &self.names).await);
                *last = Some((before, Arc::clone(&compositions)));
                compositions
            }
        }
    }
}

/// Is it the same slice, of the same owner?
fn is_of_the_same(live: &Metadata, known: &Metadata) -> bool {
    let owner = |of| composition_owner(of).map(|owner| (&owner.name, &owner.uid));
    live.uid == known.uid && owner(live) == owner(known)
}

/// Is a live slice kept because a composition needs it?
#[must_use]
pub fn is_needed(reason: &Reason) -> bool {
    matches!(reason, Reason::ReferencedByCurrent { .. } | Reason::ReferencedByPrevious { .. } | Reason::InFlight { .. })
}

fn log(done: &str, slice: &Metadata, judgement: &Judgement) {
    let Metadata { namespace, name, .. } = slice;
    let composition = judgement.reason.composition().unwrap_or_default();
    info!(%namespace, %name, composition, reason = judgement.reason.as_str(), "{done} {}", ResourceSlice::SINGULAR);
}
