//! Pods that are followed, on a board.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{Judged, Urgency};
use crate::item::pod::{self, PodItem};
use crate::live::{Change, Place};
use crate::snapshot::Snapshot;

impl Judged for PodItem {
    fn places(snapshot: &Snapshot) -> Vec<Place> {
        pod::places(&snapshot.outbox).collect()
    }

    fn touched(change: &Change) -> &BTreeSet<Place> {
        &change.followed
    }

    fn judge(snapshot: &Snapshot, place: &Place, patience: SignedDuration) -> Option<(Self, Option<Timestamp>)> {
        let uid = pod::uid_of(place);
        let entry = snapshot.outbox.get(uid)?;
        let pod = snapshot.pods.get(&(entry.namespace.clone(), entry.name.clone()));
        let pod = pod.filter(|pod| pod.metadata.uid == uid);
        let item = PodItem::new(uid, entry, pod, snapshot.now, patience);
        let due = item.stuck_at(patience).filter(|at| *at > snapshot.now);
        Some((item, due))
    }

    /// The outbox does not tell.
    fn creation(&self) -> Option<Timestamp> {
        None
    }

    fn urgency(&self) -> Urgency {
        let waiting_since = self.since().filter(|_| self.is_going());
        Urgency::of(self.is_stuck(), self.is_being_deleted(), waiting_since)
    }
}
