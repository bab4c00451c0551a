//! The first look, in the store: most slices need no other.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::api::ResourceSlice;
use eno_shared::{Compositions, Judgement, Reason, Verdict, judge};
use futures::FutureExt;
use jiff::Timestamp;
use tokio::time::Instant;

use super::brake::Brake;
use super::look::{Candidate, is_needed};
use super::{BATCH, Controller, LOOKS};
use crate::store::Key;

impl Controller {
    /// Looks at all slices that are due, in the store. Those that would be changed are to be looked at once more.
    ///
    /// All at once, so that the brake sees how many they are before the first of them goes.
    pub(super) fn first_look(&mut self, keys: Vec<Key>) {
        if !self.leads() {
            // The process stood still past its time while it waited for a slice.
            return keys.iter().for_each(|key| self.queue.done(key, None));
        }
        let now = Timestamp::now();
        let (mut collect, mut others) = (vec![], vec![]);
        for key in keys {
            let (Some(slice), Some(compositions)) = (self.store.slice(&key), self.store.compositions(&key.namespace))
            else {
                self.queue.done(&key, None);
                continue;
            };
            let first = judge(&slice, compositions, now);
            let again = self.held.judged(&key, &slice, &first, now);
            let act = self.wants_second_look(&key, &slice, &first) || self.held.is_overdue(&key, now);
            self.store.judged(&key, first.verdict, first.reason.as_str());
            match (act, first.verdict) {
                (true, Verdict::Collect) => collect.push(key),
                (true, _) => others.push(key),
                (false, _) => self.queue.done(&key, again.or_else(|| until(&first.reason, now))),
            }
        }
        others.extend(self.braked(collect));
        // Those of a namespace are looked at together.
        others.sort();
        self.second.extend(others);
        self.second_looks();
    }

    /// Those of the slices to be collected that may be.
    fn braked(&mut self, collect: Vec<Key>) -> Vec<Key> {
        if collect.is_empty() || self.options.dry_run {
            return collect;
        }
        match self.brake.ask(&collect, self.store.len(), Instant::now()) {
            Brake::Open => collect,
            Brake::Closed { first } => {
                if first {
                    self.suspect();
                }
                vec![]
            }
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

    /// Begins as many second looks as may be under way.
    pub(super) fn second_looks(&mut self) {
        while self.looks.len() < LOOKS
            && let Some(first) = self.second.front()
        {
            let namespace = Arc::clone(&first.namespace);
            let together = self.second.iter().take(BATCH).take_while(|key| key.namespace == namespace).count();
            let keys: Vec<Key> = self.second.drain(..together).collect();
            self.second_look(&namespace, keys);
        }
    }

    fn second_look(&mut self, namespace: &Arc<str>, keys: Vec<Key>) {
        let Some(compositions) = self.store.compositions(namespace) else {
            // All are looked at when the list that is being read has ended.
            return keys.iter().for_each(|key| self.queue.done(key, None));
        };
        let now = Timestamp::now();
        let (mut candidates, mut referrers) = (Vec::with_capacity(keys.len()), BTreeSet::new());
        for key in keys {
            // As it is by now: others are at work, too.
            let Some(slice) = self.store.slice(&key) else {
                self.queue.done(&key, None);
                continue;
            };
            let first = judge(&slice, compositions, now);
            referrers.extend(referrers_of(compositions, &key.name));
            candidates.push(Candidate { key, slice, first });
        }
        if candidates.is_empty() {
            return;
        }
        let (looker, namespace) = (self.looker.clone(), Arc::clone(namespace));
        self.looks.push(async move { looker.look(&namespace, candidates, referrers).await }.boxed());
    }
}

/// When the judgement may change by time alone.
pub(super) fn until(reason: &Reason, now: Timestamp) -> Option<Instant> {
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
