//! What is known of one namespace's compositions, indexed by the slices they refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::{Composition, Synthesis};
use crate::lookup::Lookup;

/// The compositions of one namespace, as far as they are known.
#[derive(Debug, Clone)]
pub struct Compositions {
    read: BTreeMap<Arc<str>, Lookup<Arc<Composition>>>,
    /// Why there may be others.
    partial: Option<String>,
    /// Names of those that could not be read: they may refer to any slice.
    unread: BTreeSet<Arc<str>>,
    by_current: References,
    by_previous: References,
}

/// Slices, and compositions that refer to them, by name. There are as many as slices: names are shared, never copied.
type References = BTreeSet<(Arc<str>, Arc<str>)>;

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
        let (by_current, by_previous) = (References::new(), References::new());
        let mut compositions =
            Compositions { read: BTreeMap::new(), partial, unread: BTreeSet::new(), by_current, by_previous };
        for (name, lookup) in read {
            compositions.set(name, lookup);
        }
        compositions
    }

    /// Sets what is known of one composition. Returns what was known of it before.
    pub fn set(
        &mut self,
        name: impl Into<Arc<str>>,
        lookup: Lookup<Arc<Composition>>,
    ) -> Option<Lookup<Arc<Composition>>> {
        let name = name.into();
        let before = self.remove(&name);
        match &lookup {
            Lookup::Found(composition) => {
                let status = &composition.status;
                self.by_current.extend(references(&status.current_synthesis, &name));
                self.by_previous.extend(references(&status.previous_synthesis, &name));
            }
            Lookup::Unknown(_) => {
                self.unread.insert(Arc::clone(&name));
            }
            Lookup::Missing => {}
        }
        self.read.insert(name, lookup);
        before
    }

    /// Forgets one composition. Returns what was known of it.
    pub fn remove(&mut self, name: &str) -> Option<Lookup<Arc<Composition>>> {
        let (name, before) = self.read.remove_entry(name)?;
        self.unread.remove(&name);
        if let Lookup::Found(composition) = &before {
            let status = &composition.status;
            references(&status.current_synthesis, &name).for_each(|reference| _ = self.by_current.remove(&reference));
            references(&status.previous_synthesis, &name).for_each(|reference| _ = self.by_previous.remove(&reference));
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
        self.referrers(&self.by_current, slice)
    }

    /// Those whose previous synthesis lists the slice.
    pub fn previous_referrers(&self, slice: &str) -> impl Iterator<Item = &Composition> {
        self.referrers(&self.by_previous, slice)
    }

    fn referrers<'a>(&'a self, references: &'a References, slice: &str) -> impl Iterator<Item = &'a Composition> {
        let first = (Arc::from(slice), Arc::from(""));
        let of_slice = references.range(first.clone()..).take_while(move |(listed, _)| *listed == first.0);
        of_slice.filter_map(|(_, name)| self.read.get(name)?.found().map(Arc::as_ref))
    }

    /// The names of all that anything is known of.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.read.keys().map(Arc::as_ref)
    }

    /// All that were found, by name.
    pub fn found(&self) -> impl Iterator<Item = &Composition> {
        self.read.values().filter_map(|lookup| lookup.found().map(Arc::as_ref))
    }
}

/// What one synthesis of that composition refers to. It may list a slice twice; that is one reference.
fn references(synthesis: &Option<Synthesis>, composition: &Arc<str>) -> impl Iterator<Item = (Arc<str>, Arc<str>)> {
    let slices = synthesis.iter().flat_map(|synthesis| &synthesis.resource_slices);
    slices.map(|slice| (Arc::clone(&slice.name), Arc::clone(composition)))
}
