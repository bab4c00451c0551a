//! What was read, of a cluster or of a dump: the facts that all commands show.

use std::collections::BTreeMap;
use std::sync::Arc;

use eno_shared::api::{Composition, Metadata, ResourceSlice, SliceManifests};
use eno_shared::{Compositions, Lookup};
use jiff::Timestamp;

use crate::outbox::Outbox;
use crate::query::Depth;
use crate::surroundings::Pod;

/// What was read, and when.
#[derive(Debug)]
pub struct Snapshot {
    /// The moment at which it is judged.
    pub now: Timestamp,
    /// The slices that were asked for, sorted by namespace and name.
    pub slices: Vec<Seen>,
    /// Why there may be slices that were asked for and are not among them.
    pub slices_incomplete: Option<String>,
    /// Names that were asked for and do not exist.
    pub missing: Vec<String>,
    /// What surrounds the slices.
    pub namespaces: Namespaces,
    /// The pods of synthesizers, by namespace and name, where they are watched.
    pub pods: BTreeMap<(String, String), Pod>,
    /// What eno-webhook keeps of pods, where that is watched.
    pub outbox: Outbox,
}

impl Snapshot {
    /// A slice by its place, for queries that leave no slice of the namespace out.
    pub fn look_up(&self, namespace: &str, name: &str) -> Lookup<&Seen> {
        match self.seen(namespace, name) {
            Some(Seen { unreadable: Some(why), .. }) => Lookup::Unknown(why.clone()),
            Some(seen) => Lookup::Found(seen),
            None => self.slices_incomplete.clone().map_or(Lookup::Missing, Lookup::Unknown),
        }
    }

    /// A slice that was seen, by its place.
    pub fn seen(&self, namespace: &str, name: &str) -> Option<&Seen> {
        self.position(namespace, name).ok().map(|index| &self.slices[index])
    }

    /// Where a slice is, or where it would be.
    pub fn position(&self, namespace: &str, name: &str) -> Result<usize, usize> {
        self.slices.binary_search_by(|seen| seen.place().cmp(&(namespace, name)))
    }
}

/// A slice that was seen.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// As far as it was read.
    pub slice: ResourceSlice,
    /// What it holds, where that was read.
    pub manifests: Option<SliceManifests>,
    /// Why it cannot be judged: it does not decode.
    pub unreadable: Option<String>,
}

impl Seen {
    /// A slice of which only the metadata is known.
    pub fn of_metadata(metadata: Metadata) -> Self {
        Seen { slice: ResourceSlice::of_metadata(metadata), ..Seen::default() }
    }

    /// The same without manifests, where those are not shown: they are large.
    pub fn kept(self, depth: Depth) -> Self {
        Seen { manifests: self.manifests.filter(|_| depth >= Depth::Manifests), ..self }
    }

    /// Its metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.slice.metadata
    }

    /// Sorts by namespace and name.
    pub fn place(&self) -> (&str, &str) {
        (&self.metadata().namespace, &self.metadata().name)
    }
}

/// What is known of the namespaces.
#[derive(Debug)]
pub struct Namespaces {
    compositions: BTreeMap<String, Compositions>,
    /// Of a namespace in which no composition was seen.
    otherwise: Compositions,
    /// Which are being deleted, of those that were read.
    terminating: BTreeMap<String, bool>,
}

/// What reading compositions brought.
#[derive(Debug, Default)]
pub struct Read {
    /// Namespace, name, and the composition.
    pub compositions: Vec<(String, String, Lookup<Arc<Composition>>)>,
    /// Why there may be others; `None` where these are all.
    pub otherwise: Option<String>,
    /// The same of single namespaces, where it differs there.
    pub incomplete: BTreeMap<String, Option<String>>,
}

impl Namespaces {
    /// From what was read.
    pub fn new(read: Read, terminating: BTreeMap<String, bool>) -> Self {
        let Read { compositions, otherwise, incomplete } = read;
        let mut by_namespace: BTreeMap<String, Vec<_>> = incomplete.keys().map(|name| (name.clone(), vec![])).collect();
        for (namespace, name, lookup) in compositions {
            by_namespace.entry(namespace).or_default().push((name, lookup));
        }
        let of = |read: Vec<_>, why: &Option<String>| match why {
            Some(why) => Compositions::partial(read, why),
            None => Compositions::whole(read),
        };
        let compositions = by_namespace.into_iter().map(|(namespace, read)| {
            let compositions = of(read, incomplete.get(&namespace).unwrap_or(&otherwise));
            (namespace, compositions)
        });
        Namespaces { compositions: compositions.collect(), otherwise: of(vec![], &otherwise), terminating }
    }

    /// The compositions of a namespace.
    pub fn compositions(&self, namespace: &str) -> &Compositions {
        self.compositions.get(namespace).unwrap_or(&self.otherwise)
    }

    /// Is the namespace being deleted? `None` where it was not read.
    pub fn terminating(&self, namespace: &str) -> Option<bool> {
        self.terminating.get(namespace).copied()
    }

    /// Adds what was read of a namespace since.
    pub fn set_terminating(&mut self, namespace: String, terminating: bool) {
        self.terminating.insert(namespace, terminating);
    }

    /// Is it unknown what there is where no composition was seen?
    pub fn otherwise_unknown(&self) -> bool {
        self.otherwise.incomplete().is_some()
    }

    /// Replaces all that is known of compositions.
    pub fn reread(&mut self, read: Read) {
        *self = Namespaces::new(read, std::mem::take(&mut self.terminating));
    }

    /// Forgets whether a namespace is being deleted.
    pub fn forget_terminating(&mut self, namespace: &str) {
        self.terminating.remove(namespace);
    }

    /// Of which namespaces it is known whether they are being deleted.
    pub fn known_terminating(&self) -> Vec<String> {
        self.terminating.keys().cloned().collect()
    }

    /// Sets what is known of one composition. Returns what was known of it before.
    pub fn set(
        &mut self,
        namespace: &str,
        name: &str,
        lookup: Lookup<Arc<Composition>>,
    ) -> Option<Lookup<Arc<Composition>>> {
        self.compositions
            .entry(namespace.to_owned())
            .or_insert_with(|| self.otherwise.clone())
            .set(name.to_owned(), lookup)
    }

    /// Forgets one composition. Returns what was known of it.
    pub fn remove(&mut self, namespace: &str, name: &str) -> Option<Lookup<Arc<Composition>>> {
        self.compositions.get_mut(namespace)?.remove(name)
    }

    /// The names of those in which a composition was seen.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.compositions.keys().map(String::as_str)
    }
}
