//! One pod that is followed.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::super::destroy::{Destroy, PodRef};
use super::super::{DestroyCause, PodFacts, Sandbox};
use super::{Changed, Compared, Following, HINT, Now, Place, Record, SETTLE, SWEEP, compare};

/// The longest delay after reads that failed.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// A pod that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) uid: Box<str>,
    pub(super) record: Record,
    /// How many ends of it were told.
    pub(super) ends: u32,
    /// The last list that had it.
    pub(super) epoch: u32,
    /// Of a candidate; nearly all pods are none.
    pub(super) going: Option<Box<Going>>,
}

/// Why a pod is a candidate, and how the looks at it went.
#[derive(Debug)]
pub(super) struct Going {
    pub(super) since: Timestamp,
    /// A watch does not show it any more.
    pub(super) gone: bool,
    /// A list lacks it.
    pub(super) unlisted: bool,
    hinted: Option<Instant>,
    misses: u8,
    failures: u32,
    not_before: Option<Instant>,
    overdue: bool,
}

impl Going {
    fn new(now: Now) -> Self {
        Self::since(now.at)
    }

    pub(super) fn since(since: Timestamp) -> Self {
        Going {
            since,
            gone: false,
            unlisted: false,
            hinted: None,
            misses: 0,
            failures: 0,
            not_before: None,
            overdue: false,
        }
    }
}

/// The end of a pod, or of one of its sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub cause: DestroyCause,
    /// Whose.
    pub pod: PodRef,
    /// Counts the ends of that pod, from 1.
    pub sequence: u64,
    /// What was kept of it.
    pub record: Record,
    /// The sandbox that ended, where it could be told.
    pub sandbox: Option<Sandbox>,
    /// When that was found out.
    pub at: Timestamp,
}

impl Ended {
    /// What everyone is told, in the cluster of that uid.
    #[must_use]
    pub fn destroy(self, cluster: &str, confirmed: bool) -> Destroy {
        let Ended { cause, pod, sequence, record, sandbox, at } = self;
        Destroy {
            id: Destroy::id_of(cluster, &pod.uid, sandbox.as_ref(), cause),
            sequence,
            cause,
            node: record.node.as_deref().map(Into::into),
            sandbox,
            pod_ips: record.pod_ips.iter().map(|ip| ip.to_string()).collect(),
            labels: record.labels(),
            service_account: record.service_account.as_deref().map(Into::into),
            observed_at: at,
            deleted_at: record.deleted_at,
            confirmed,
            pod,
        }
    }
}

impl Followed {
    pub(super) fn new(uid: Box<str>, record: Record, epoch: u32, now: Now) -> Self {
        let mut followed = Followed { uid, record, ends: 0, epoch, going: None };
        if followed.record.deleted_at.is_some() {
            followed.going_soon(now);
        }
        followed
    }

    pub(super) fn restored(uid: &str, following: Following, going: Option<Box<Going>>) -> Self {
        let Following { ends, node, composition, record, .. } = following;
        let record = record.unwrap_or_else(|| Record::of_checkpoint(node, composition.as_deref()));
        Followed { uid: uid.into(), record, ends, epoch: 0, going }
    }

    pub(super) fn pod(&self, place: &Place) -> PodRef {
        let (namespace, name) = (place.namespace.to_string(), place.name.to_string());
        PodRef { namespace, name, uid: self.uid.to_string() }
    }

    pub(super) fn facts(&self) -> PodFacts {
        facts(&self.uid, &self.record)
    }

    pub(super) fn changed(&self, place: &Place, urgent: bool) -> Changed {
        Changed { place: place.clone(), uid: self.uid.clone(), urgent }
    }

    /// What must outlive the process: all of a pod that is going; of one that lives, no more than must be known if it goes
    /// while nobody runs.
    pub(super) fn following(&self) -> Following {
        match &self.going {
            Some(going) => Following {
                going_since: Some(going.since),
                ends: self.ends,
                record: Some(self.record.clone()),
                ..Following::default()
            },
            None => Following {
                ends: self.ends,
                node: self.record.node.as_deref().map(Into::into),
                composition: self.record.composition(),
                ..Following::default()
            },
        }
    }

    /// Something says that it is going: it is due at once, unless reads have failed. Says whether that is news.
    pub(super) fn signal(&mut self, now: Now, sets: impl FnOnce(&mut Going)) -> bool {
        let is_news = self.going.is_none();
        let going = self.going.get_or_insert_with(|| Box::new(Going::new(now)));
        if going.failures == 0 {
            going.not_before = None;
        }
        sets(going);
        is_news
    }

    /// It may be going soon: inserted only if absent.
    fn going_soon(&mut self, now: Now) -> &mut Going {
        self.going.get_or_insert_with(|| Box::new(Going { not_before: Some(now.tick + SETTLE), ..Going::new(now) }))
    }

    /// An admission says that it may be going soon. Says whether that is news.
    pub(super) fn hint(&mut self, now: Now) -> bool {
        let is_news = self.going.is_none();
        self.going_soon(now).hinted = Some(now.tick);
        is_news
    }

    /// It was seen. Says whether that calls for a look.
    pub(super) fn seen_again(&mut self, record: &Record, now: Now) -> bool {
        if let Some(going) = &mut self.going {
            (going.gone, going.unlisted) = (false, false);
        }
        let has_moved = matches!((&self.record.node, &record.node), (Some(before), Some(after)) if before != after);
        let has_other_sandbox = matches!(compare(&self.record.sandboxes, &record.sandboxes), Compared::Other(_));
        let suspicious = has_moved || has_other_sandbox;
        if suspicious {
            // What ends is told as it was; a live look decides.
            self.record.deleted_at = record.deleted_at;
            self.signal(now, |_| {});
        } else {
            self.record = self.record.followed_by(record.clone());
        }
        if self.record.deleted_at.is_some() {
            self.going_soon(now);
        }
        suspicious
    }

    pub(super) fn is_due(&self, tick: Instant) -> bool {
        self.going.as_ref().is_some_and(|going| going.not_before.is_none_or(|not_before| not_before <= tick))
    }

    /// No pod of its name exists. Is that enough to say that it is gone?
    pub(super) fn missed(&mut self) -> bool {
        let mirror = self.record.mirror;
        let Some(going) = &mut self.going else { return false };
        (going.failures, going.not_before) = (0, None);
        going.misses = going.misses.saturating_add(1);
        let only_a_list = going.unlisted && self.record.deleted_at.is_none();
        going.misses > 1 || !(mirror || only_a_list)
    }

    /// It could not be read.
    pub(super) fn failed(&mut self, now: Now) {
        if let Some(going) = &mut self.going {
            let delay = SWEEP.saturating_mul(1 << going.failures.min(8)).min(LONGEST_BACKOFF);
            going.failures = going.failures.saturating_add(1);
            going.not_before = Some(now.tick + delay);
        }
    }

    /// It lives, as this. Says whether it is still one of those that are followed.
    pub(super) fn lives(&mut self, record: &Record, now: Now) -> bool {
        self.record = self.record.followed_by(record.clone());
        let is_deleting = self.record.deleted_at.is_some();
        let Some(going) = &mut self.going else { return true };
        if (going.gone || going.unlisted) && !is_deleting {
            // The watch is not wrong, and nor is the read: it was taken out of the selection.
            return false;
        }
        (going.misses, going.failures, going.not_before) = (0, 0, None);
        (going.gone, going.unlisted) = (false, false);
        let is_hinted = going.hinted.is_some_and(|hinted| now.tick.saturating_duration_since(hinted) < HINT);
        if !is_deleting && !is_hinted {
            self.going = None;
        }
        true
    }

    /// One of its sandboxes, or its time on a node, has ended; it goes on as this.
    pub(super) fn goes_on(&mut self, record: Record, now: Now) {
        self.ends += 1;
        self.going = record.deleted_at.map(|_| Box::new(Going::new(now)));
        self.record = record;
    }

    pub(super) fn becomes_overdue(&mut self, margin: Duration, now: Now) -> bool {
        let Some(deleted_at) = self.record.deleted_at else { return false };
        let Some(going) = &mut self.going else { return false };
        let over = SignedDuration::try_from(margin).is_ok_and(|margin| now.at.duration_since(deleted_at) > margin);
        over && !std::mem::replace(&mut going.overdue, true)
    }

    /// Its end, or that of its sandbox.
    pub(super) fn ended(&self, place: &Place, cause: DestroyCause, now_sandboxes: &[Sandbox], at: Timestamp) -> Ended {
        let sandbox = match compare(&self.record.sandboxes, now_sandboxes) {
            Compared::Other(sandbox) if cause == DestroyCause::SandboxChanged => Some(sandbox),
            Compared::Other(_) | Compared::Same | Compared::Unknown => self.record.sandboxes.first().cloned(),
        };
        let (pod, sequence) = (self.pod(place), u64::from(self.ends) + 1);
        Ended { cause, pod, sequence, record: self.record.clone(), sandbox, at }
    }
}

pub(super) fn facts(uid: &str, record: &Record) -> PodFacts {
    PodFacts { uid: uid.to_owned(), node: record.node.as_deref().map(Into::into), sandboxes: record.sandboxes.to_vec() }
}
