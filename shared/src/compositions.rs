//! What is known of one namespace's compositions, indexed by the slices they refer to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::api::{Composition, Synthesis};
use crate::lookup::Lookup;

/// The compositions of one namespace, as far as they are known.
#[derive(Debug, Clone)]
pub struct Compositions {
    read: BTreeMap<String, Lookup<Arc<Composition>>>,
    /// Why there may be others.
    partial: Option<String>,
    /// Names of those that could not be read: they may refer to any slice.
    unread: BTreeSet<String>,
    by_current: HashMap<String, Vec<Arc<Composition>>>,
    by_previous: HashMap<String, Vec<Arc<Composition>>>,
}

impl Compositions {
    /// All there are: what is not among them is missing. Only for a live list, or a dump said to be complete.
    pub fn whole(read: impl IntoIterator<Item = (String, Lookup<Arc<Composition>>)>) -> Self {
        Self::new(read, None)
    }

    /// Some of them. `why` says why there may be others; what is not among them is unknown.
    pub fn partial(read: impl IntoIterator<Item = (String, Lookup<Arc<Composition>>)>, why: impl Into<String>) -> Self {
        Self::new(read, Some(why.into()))
    }

    fn new(read: impl IntoIterator<Item = (String, Lookup<Arc<Composition>>)>, partial: Option<String>) -> Self {
        let (by_current, by_previous) = (HashMap::new(), HashMap::new());
        let mut compositions =
            Compositions { read: BTreeMap::new(), partial, unread: BTreeSet::new(), by_current, by_previous };
        for (name, lookup) in read {
            compositions.set(name, lookup);
        }
        compositions
    }

    /// Sets what is known of one composition. Returns what was known of it before.
    pub fn set(&mut self, name: String, lookup: Lookup<Arc<Composition>>) -> Option<Lookup<Arc<Composition>>> {
        let before = self.remove(&name);
        match &lookup {
            Lookup::Found(composition) => {
                index(&mut self.by_current, composition.status.current_synthesis.as_ref(), composition);
                index(&mut self.by_previous, composition.status.previous_synthesis.as_ref(), composition);
            }
            Lookup::Unknown(_) => {
                self.unread.insert(name.clone());
            }
            Lookup::Missing => {}
        }
        self.read.insert(name, lookup);
        before
    }

    /// Forgets one composition. Returns what was known of it.
    pub fn remove(&mut self, name: &str) -> Option<Lookup<Arc<Composition>>> {
        let before = self.read.remove(name)?;
        self.unread.remove(name);
        if let Lookup::Found(composition) = &before {
            unindex(&mut self.by_current, composition.status.current_synthesis.as_ref(), composition);
            unindex(&mut self.by_previous, composition.status.previous_synthesis.as_ref(), composition);
        }
        Some(before)
    }

    /// The composition of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Lookup<&Composition> {
        match (self.read.get(name), &self.partial) {
            (Some(lookup), _) => lookup.as_ref().map(Arc::as_ref),
            (None, None) => Lookup::Missing,
            (None, Some(why)) => Lookup::Unknown(why.clone()),
        }
    }

    /// Why the list may lack a composition that refers to a slice; `None` where it is whole.
    #[must_use]
    pub fn incomplete(&self) -> Option<&str> {
        let unread = || match self.read.get(self.unread.first()?)? {
            Lookup::Unknown(why) => Some(why.as_str()),
            Lookup::Found(_) | Lookup::Missing => None,
        };
        self.partial.as_deref().or_else(unread)
    }

    /// Those whose current synthesis lists the slice.
    pub fn current_referrers(&self, slice: &str) -> impl Iterator<Item = &Composition> {
        self.by_current.get(slice).into_iter().flatten().map(Arc::as_ref)
    }

    /// Those whose previous synthesis lists the slice.
    pub fn previous_referrers(&self, slice: &str) -> impl Iterator<Item = &Composition> {
        self.by_previous.get(slice).into_iter().flatten().map(Arc::as_ref)
    }

    /// The names of all that anything is known of.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.read.keys().map(String::as_str)
    }

    /// All that were found, by name.
    pub fn found(&self) -> impl Iterator<Item = &Composition> {
        self.read.values().filter_map(|lookup| lookup.found().map(Arc::as_ref))
    }
}

fn index(
    by_slice: &mut HashMap<String, Vec<Arc<Composition>>>,
    synthesis: Option<&Synthesis>,
    composition: &Arc<Composition>,
) {
    for slice in synthesis.into_iter().flat_map(|synthesis| &synthesis.resource_slices) {
        let referrers = by_slice.entry(slice.name.clone()).or_default();
        // A synthesis may list a slice twice: its composition still refers to it once.
        if !referrers.last().is_some_and(|last| Arc::ptr_eq(last, composition)) {
            referrers.push(Arc::clone(composition));
        }
    }
}

fn unindex(
    by_slice: &mut HashMap<String, Vec<Arc<Composition>>>,
    synthesis: Option<&Synthesis>,
    composition: &Arc<Composition>,
) {
    for slice in synthesis.into_iter().flat_map(|synthesis| &synthesis.resource_slices) {
        if let Some(referrers) = by_slice.get_mut(&slice.name) {
            referrers.retain(|referrer| !Arc::ptr_eq(referrer, composition));
            if referrers.is_empty() {
                by_slice.remove(&slice.name);
            }
        }
    }
}
