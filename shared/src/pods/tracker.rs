//! Which pods are followed, which of them are to be looked at, and what the looks say.
//!
//! ```text
//!  watch, lists ─▶ seen, gone, listed ─┐              ┌─▶ look (a live read) ─▶ looked ─▶ Ended
//!  admission    ─▶ hinted ─────────────┴─▶ candidates ┘                          │
//!  every 5 s    ─▶ sweep ───────────────────▲─────────────── alive, or unknown ──┘
//! ```
//!
//! # Guarantees
//! - A pod ends only by a live read that began after it was known: a 404, another pod of its name, another sandbox of it.
//!   Where only a list lacks it (or it is a mirror pod, which its node makes again at will) it takes two such reads.
//! - What cannot be read stays a candidate, backs off, and delays no other.
//! - Of pods of one name, older ones end first.
//! - A list from which a large part is missing at once changes nothing, until a second one says the same.
//!
//! # Assumptions
//! - Uids never come back. Time is passed in, and goes forward.
//!
//! # Caveats
//! - A pod that is born and ends while nobody watches is never known.

mod ended;
mod followed;
mod lists;
mod look;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::destroy::PodRef;
use super::outbox::Following;
use super::pod::Pod;
use super::record::Record;
use super::sandbox::{Compared, Evidence, compare, sandboxes};

use ended::Tombs;
use followed::{Followed, Going};
use lists::Lists;

pub use followed::Ended;
pub use lists::{Listed, Scope};
pub use look::{Look, Outcome};

/// How often candidates are looked at.
pub const SWEEP: Duration = Duration::from_secs(5);
/// How long one look may take.
pub const LOOK_LIMIT: Duration = Duration::from_secs(30);
/// An admission comes before the write, and the watch then tells of it: a look before that would be in vain.
const SETTLE: Duration = Duration::from_secs(1);
/// After this an admission that nothing has followed is forgotten: another webhook has refused, say.
const HINT: Duration = Duration::from_secs(30);

/// A name and its namespace: pods come and go there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The namespace.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

impl Place {
    /// Of that name in that namespace.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Place { namespace: namespace.into(), name: name.into() }
    }
}

/// A moment, by both clocks: one is told to others, the other measures.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// For others.
    pub at: Timestamp,
    /// For delays.
    pub tick: Instant,
}

/// A pod as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Where.
    pub place: Place,
    /// Its [identity](Pod::identity).
    pub uid: Box<str>,
    /// The rest.
    pub record: Record,
}

impl Seen {
    /// By what is known of it.
    #[must_use]
    pub fn by(evidence: &Evidence<'_>) -> Self {
        let pod = evidence.pod;
        Seen {
            place: Place::new(&pod.metadata.namespace, &pod.metadata.name),
            uid: pod.identity().into_owned().into(),
            record: Record::of(pod, sandboxes(evidence)),
        }
    }

    /// By the pod alone.
    #[must_use]
    pub fn of(pod: &Pod) -> Self {
        Self::by(&Evidence { pod, boot_id: None, cilium: None })
    }
}

/// A pod of which something changed that must outlive this process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Changed {
    /// Where it is.
    pub place: Place,
    /// Its uid.
    pub uid: Box<str>,
    /// At once, or when it suits?
    pub urgent: bool,
}

/// A pod that is being deleted for longer than it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overdue {
    /// The pod.
    pub pod: PodRef,
    /// What is known of it.
    pub record: Record,
}

/// How many pods there are of what kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that are followed.
    pub followed: usize,
    /// Those of which something says that they may be going.
    pub candidates: usize,
}

/// All pods that are followed.
#[derive(Debug, Default)]
pub struct Tracker {
    /// Several of one name while the older ones are ending: oldest first.
    pods: HashMap<Place, Vec<Followed>>,
    lists: Lists,
    ended: Tombs,
    ready: VecDeque<Place>,
    queued: HashSet<Place>,
    /// Places that are being looked at, and whether something came up meanwhile.
    busy: HashMap<Place, bool>,
    changed: HashSet<Changed>,
}

impl Tracker {
    /// Follows nothing yet; lists of these scopes will come.
    #[must_use]
    pub fn new(scopes: impl IntoIterator<Item = Scope>) -> Self {
        Tracker { lists: Lists::of(scopes), ..Tracker::default() }
    }

    /// Follows a pod that an earlier process has followed. One that was going is looked at at once.
    pub fn restore(&mut self, pod: &PodRef, following: Following) {
        let place = Place::new(&pod.namespace, &pod.name);
        let going = following.going_since.map(|since| Box::new(Going::since(since)));
        if going.is_some() {
            self.trigger(&place);
        }
        let followed = Followed::restored(&pod.uid, following, going);
        self.pods.entry(place).or_default().push(followed);
    }

    /// A pod that has ended before: what a watch says of it late must not bring it back.
    pub fn restore_ended(&mut self, pod: &PodRef, now: Now) {
        self.ended.bury(&pod.uid, Place::new(&pod.namespace, &pod.name), now);
    }

    /// A list or a watch shows a pod.
    pub fn seen(&mut self, seen: Seen, now: Now) {
        if self.ended.haunts(&seen.uid, now) {
            return;
        }
        let epoch = self.lists.epoch(&seen.place);
        let pods = self.pods.entry(seen.place.clone()).or_default();
        let mut look = false;
        for other in pods.iter_mut().filter(|followed| followed.uid != seen.uid) {
            // Its name belongs to another.
            look = true;
            if other.signal(now, |_| {}) {
                self.changed.insert(other.changed(&seen.place, true));
            }
        }
        match pods.iter_mut().find(|followed| followed.uid == seen.uid) {
            Some(followed) => {
                followed.epoch = epoch;
                let was_going = followed.going.is_some();
                look |= followed.seen_again(&seen.record, now);
                if followed.going.is_some() && !was_going {
                    self.changed.insert(followed.changed(&seen.place, true));
                }
            }
            None => {
                let followed = Followed::new(seen.uid, seen.record, epoch, now);
                self.changed.insert(followed.changed(&seen.place, followed.going.is_some()));
                pods.push(followed);
            }
        }
        if look {
            self.trigger(&seen.place);
        }
    }

    /// A watch says that a pod is gone, or that it is not of those that are chosen any more.
    pub fn gone(&mut self, seen: Seen, now: Now) {
        if self.ended.rests(&seen.uid) {
            return;
        }
        let place = seen.place.clone();
        let epoch = self.lists.epoch(&place);
        let pods = self.pods.entry(seen.place).or_default();
        let index = pods.iter().position(|followed| followed.uid == seen.uid).unwrap_or_else(|| {
            // No list has shown it, and no watch until now.
            pods.push(Followed::new(seen.uid, seen.record, epoch, now));
            pods.len() - 1
        });
        pods[index].signal(now, |going| going.gone = true);
        self.changed.insert(pods[index].changed(&place, true));
        self.trigger(&place);
    }

    /// An admission says that a pod may be deleted, or (then it does not say of which uid) evicted soon. The watch tells
    /// whether it is. Whoever reaches the webhook may say so: it makes no pod known.
    pub fn hinted(&mut self, place: &Place, uid: Option<&str>, now: Now) {
        let pods = self.pods.get_mut(place).map_or(&mut [][..], Vec::as_mut_slice);
        let named = match uid {
            Some(uid) => pods.iter_mut().find(|followed| &*followed.uid == uid),
            // The youngest has the name.
            None => pods.last_mut(),
        };
        if let Some(followed) = named
            && followed.hint(now)
        {
            let changed = followed.changed(place, true);
            self.changed.insert(changed);
        }
    }

    /// What changed since the last call, and must outlive this process.
    pub fn take_changed(&mut self) -> HashSet<Changed> {
        std::mem::take(&mut self.changed)
    }

    /// What must outlive this process of a pod, while it is followed.
    #[must_use]
    pub fn following(&self, place: &Place, uid: &str) -> Option<Following> {
        self.pods.get(place)?.iter().find(|followed| &*followed.uid == uid).map(Followed::following)
    }

    /// Pods that are being deleted for longer than they were given, and `margin`; each only once.
    pub fn overdue(&mut self, margin: Duration, now: Now) -> Vec<Overdue> {
        let mut overdue = vec![];
        for (place, pods) in &mut self.pods {
            for followed in pods {
                if followed.becomes_overdue(margin, now) {
                    overdue.push(Overdue { pod: followed.pod(place), record: followed.record.clone() });
                }
            }
        }
        overdue
    }

    /// How many pods there are.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let all = || self.pods.values().flatten();
        Counts { followed: all().count(), candidates: all().filter(|followed| followed.going.is_some()).count() }
    }

    fn trigger(&mut self, place: &Place) {
        if let Some(again) = self.busy.get_mut(place) {
            *again = true;
        } else if self.queued.insert(place.clone()) {
            self.ready.push_back(place.clone());
        }
    }
}
