//! What follows from the looks: when a slice is looked at again, and who is told.

use std::collections::HashSet;
use std::fmt::Display;

use eno_shared::api::ResourceSlice;
use eno_shared::{Judgement, Verdict};
use futures::FutureExt;
use jiff::Timestamp;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::first_look::until;
use super::look::{Looks, Outcome};
use super::note::Note;
use super::suspicion::{self, Suspicion};
use super::{Controller, PATIENCE, SETTLE, resynthesis};
use crate::store::Key;

impl Controller {
    /// Too many slices are garbage at once: asks the API server about all of them.
    pub(super) fn suspect(&mut self) {
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

    pub(super) fn judged_live(&mut self, judged: Result<HashSet<Key>, Suspicion>) {
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

    pub(super) fn looked(&mut self, looks: Looks) {
        looks.abandoned.iter().for_each(|key| self.queue.done(key, None));
        for (key, looked) in looks.looked {
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
        self.second_looks();
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
    pub(super) fn asked(&mut self, asked: resynthesis::Asked) {
        if let Some(again) = self.resynthesis.asked(asked, &self.reporter) {
            self.queue.add_at(again, Instant::now() + PATIENCE);
        }
    }
}
