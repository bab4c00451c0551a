//! Looks at candidates: which are due, and what follows from a live read.

use std::time::Instant;

use super::super::{DestroyCause, PodVerdict, judge_pod};
use super::followed::{Ended, Followed, facts};
use super::{Changed, Now, Place, Seen, Tracker};
use crate::lookup::Lookup;

/// A look that is due: whoever takes it reads the pod of that name live, and says what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Where.
    pub place: Place,
    /// The nodes of the candidates there.
    pub nodes: Vec<Box<str>>,
    /// Whom it decides about: those that were known before it began.
    uids: Vec<Box<str>>,
}

/// What follows from a look.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Who has ended, the oldest first.
    pub ended: Vec<Ended>,
    /// Why nothing could be said.
    pub failed: Option<String>,
    /// Pods whose end was told, and who live.
    pub false_destroys: usize,
}

impl Tracker {
    /// All candidates are due, but those that were read in vain.
    pub fn sweep(&mut self, now: Now) {
        let due = |pods: &Vec<Followed>| pods.iter().any(|followed| followed.is_due(now.tick));
        let mut places: Vec<Place> =
            self.pods.iter().filter(|(_, pods)| due(pods)).map(|(place, _)| place.clone()).collect();
        places.extend(self.ended.sweep(now.tick));
        // What is being looked at needs no second look for that.
        places.retain(|place| !self.busy.contains_key(place));
        places.iter().for_each(|place| self.trigger(place));
    }

    /// The next look that is due.
    pub fn take(&mut self, tick: Instant) -> Option<Look> {
        while let Some(place) = self.ready.pop_front() {
            self.queued.remove(&place);
            let pods = self.pods.get(&place).map_or(&[][..], Vec::as_slice);
            let due: Vec<_> = pods.iter().filter(|followed| followed.is_due(tick)).collect();
            let mut uids: Vec<Box<str>> = due.iter().map(|followed| followed.uid.clone()).collect();
            uids.extend(self.ended.shown_at(&place).cloned());
            if uids.is_empty() {
                continue;
            }
            let mut nodes: Vec<_> = due.iter().filter_map(|followed| followed.record.node.clone()).collect();
            nodes.dedup();
            self.busy.insert(place.clone(), false);
            return Some(Look { place, nodes, uids });
        }
        None
    }

    /// A look has ended: this pod has the name now.
    pub fn looked(&mut self, look: &Look, found: &Lookup<Seen>, now: Now) -> Outcome {
        let mut outcome = Outcome::default();
        // What came meanwhile is newer than what was read, and calls for another look: that one decides whether it lives.
        let is_overtaken = self.busy.get(&look.place) == Some(&true);
        let pod = found.as_ref().map(|seen| facts(&seen.uid, &seen.record));
        let mut pods = self.pods.remove(&look.place).unwrap_or_default();
        let mut ended = vec![];
        pods.retain_mut(|followed| {
            if !look.uids.contains(&followed.uid) {
                return true;
            }
            let before = followed.following();
            let stays = match judge_pod(&followed.facts(), &pod) {
                PodVerdict::Destroy(DestroyCause::Gone) if !followed.missed() => true,
                PodVerdict::Destroy(cause) => {
                    let record = found.found().map(|seen| &seen.record);
                    let sandboxes = record.map_or(&[][..], |record| &record.sandboxes);
                    ended.push(followed.ended(&look.place, cause, sandboxes, now.at));
                    match (cause, record) {
                        (DestroyCause::Moved | DestroyCause::SandboxChanged, Some(record)) => {
                            followed.goes_on(record.clone(), now);
                            true
                        }
                        (_, _) => {
                            self.ended.bury(&followed.uid, look.place.clone(), now);
                            false
                        }
                    }
                }
                PodVerdict::Record | PodVerdict::Keep => {
                    found.found().is_none_or(|seen| is_overtaken || followed.lives(&seen.record, now))
                }
                PodVerdict::Retry(why) => {
                    followed.failed(now);
                    outcome.failed = Some(why);
                    true
                }
            };
            if !stays || before != followed.following() {
                self.changed.insert(followed.changed(&look.place, true));
            }
            stays
        });
        outcome.ended = ended;
        if let Lookup::Found(seen) = found
            && look.uids.contains(&seen.uid)
            && self.ended.contains(&seen.uid)
        {
            outcome.false_destroys += 1;
            self.ended.rises(&seen.uid);
            let epoch = self.lists.epoch(&look.place);
            let risen = Followed::new(seen.uid.clone(), seen.record.clone(), epoch, now);
            self.changed.insert(Changed { place: look.place.clone(), uid: seen.uid.clone(), urgent: false });
            pods.push(risen);
        }
        if !matches!(found, Lookup::Unknown(_)) {
            for uid in &look.uids {
                self.ended.rests(uid);
            }
        }
        if !pods.is_empty() {
            self.pods.insert(look.place.clone(), pods);
        }
        if self.busy.remove(&look.place) == Some(true) {
            self.trigger(&look.place);
        }
        outcome
    }
}
