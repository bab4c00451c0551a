//! What a list lacks.

use std::collections::HashMap;
use std::sync::Arc;

use super::followed::Followed;
use super::{Now, Place, Tracker};

/// A list that lacks so many pods at once …
const SHRUNK_PODS: usize = 20;
/// … and more than this share of those followed is suspicious: rights were cut, or it is of another cluster.
const SHRUNK_PERCENT: usize = 50;

/// What one watch is of: a namespace, or (without) all.
pub type Scope = Option<Arc<str>>;

/// The lists of the scopes that are watched.
#[derive(Debug, Default)]
pub(super) struct Lists(HashMap<Scope, List>);

#[derive(Debug, Default)]
struct List {
    /// Counts the lists.
    epoch: u32,
    /// The last one was suspicious.
    shrunk: bool,
}

/// What a list, read to its end, says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// So many pods are to be looked at, for it lacks them.
    Lacks(usize),
    /// It lacks so much that nobody believes it: list again.
    Shrunk {
        /// So many.
        missing: usize,
        /// Of so many.
        of: usize,
    },
}

impl Lists {
    pub(super) fn of(scopes: impl IntoIterator<Item = Scope>) -> Self {
        Lists(scopes.into_iter().map(|scope| (scope, List::default())).collect())
    }

    /// The number of the last list that covers the place.
    pub(super) fn epoch(&self, place: &Place) -> u32 {
        let list = self.0.get(&Some(Arc::clone(&place.namespace))).or_else(|| self.0.get(&None));
        list.map_or(0, |list| list.epoch)
    }
}

fn covers(scope: &Scope, place: &Place) -> bool {
    scope.as_ref().is_none_or(|namespace| *namespace == place.namespace)
}

impl Tracker {
    /// A list begins.
    pub fn list_begins(&mut self, scope: &Scope) {
        self.lists.0.entry(scope.clone()).or_default().epoch += 1;
    }

    /// A list has ended: watches do not tell of what went in a gap.
    pub fn listed(&mut self, scope: &Scope, now: Now) -> Listed {
        let list = self.lists.0.entry(scope.clone()).or_default();
        let epoch = list.epoch;
        let is_missing = |followed: &Followed| followed.epoch != epoch;
        let within = || self.pods.iter().filter(|(place, _)| covers(scope, place)).flat_map(|(_, pods)| pods);
        let of = within().count();
        // That a pod which was being deleted is gone surprises nobody.
        let missing = within().filter(|pod| is_missing(pod) && pod.record.deleted_at.is_none()).count();
        let shrunk = missing > SHRUNK_PODS && missing * 100 > of * SHRUNK_PERCENT;
        if shrunk && !std::mem::replace(&mut list.shrunk, true) {
            return Listed::Shrunk { missing, of };
        }
        list.shrunk = false;
        Listed::Lacks(self.unlisted(|place, followed| covers(scope, place) && is_missing(followed), now))
    }

    /// From now on only pods of some namespaces are followed, those for which this holds. A live look tells whether the
    /// others have ended, or have only left. Returns how many they are.
    pub fn keep_to(&mut self, namespaces: impl Fn(&str) -> bool, now: Now) -> usize {
        self.unlisted(|place, _| !namespaces(&place.namespace), now)
    }

    /// No list has these pods: they are to be looked at.
    fn unlisted(&mut self, are: impl Fn(&Place, &Followed) -> bool, now: Now) -> usize {
        let mut places = vec![];
        for (place, pods) in &mut self.pods {
            for followed in pods.iter_mut().filter(|followed| are(place, followed)) {
                followed.signal(now, |going| going.unlisted = true);
                self.changed.insert(followed.changed(place, true));
                places.push(place.clone());
            }
        }
        places.iter().for_each(|place| self.trigger(place));
        places.len()
    }
}
