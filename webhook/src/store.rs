//! What is known of slices and compositions, by watches: per slice only the facts that rules need.
//!
//! It is the cache that a first look asks. A cache lies in both directions, so that nothing is written on its word alone.

mod relist;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use eno_shared::api::{Composition, Content, Metadata, OwnerReference, ResourceSlice};
use eno_shared::owner::composition_owner;
use eno_shared::{Compositions, Lookup, Verdict};
use jiff::Timestamp;

use relist::Relists;

pub use relist::{Scope, scopes};

/// A slice's place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl Key {
    /// Of that name in that namespace.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Key { namespace: namespace.into(), name: name.into() }
    }
}

/// The facts of one slice.
#[derive(Debug)]
struct Facts {
    uid: Box<str>,
    resource_version: Box<str>,
    created: Option<Timestamp>,
    deleted: Option<Timestamp>,
    /// Shared: nearly all slices have the same list.
    finalizers: Arc<[String]>,
    /// Shared by all slices of a composition.
    owner: Option<Arc<OwnerReference>>,
    /// What the last look said, for the metric.
    judged: Option<(Verdict, &'static str)>,
}

#[derive(Debug)]
struct Namespace {
    /// Boxed: a map has room for up to twice as many as are in it.
    slices: HashMap<Arc<str>, Box<Facts>>,
    /// Slices by the name of the composition that owns them.
    owned: HashMap<String, (Arc<OwnerReference>, HashSet<Arc<str>>)>,
    compositions: Compositions,
}

/// All slices and compositions of the namespaces that are watched.
#[derive(Debug)]
pub struct Store {
    namespaces: HashMap<Arc<str>, Namespace>,
    finalizers: HashSet<Arc<[String]>>,
    slices: Relists,
    compositions: Relists,
    count: usize,
    verdicts: HashMap<(Verdict, &'static str), usize>,
}

impl Store {
    /// An empty one, to be filled by watches of these scopes.
    #[must_use]
    pub fn new(scopes: &[Scope]) -> Self {
        Store {
            namespaces: HashMap::new(),
            finalizers: HashSet::new(),
            slices: Relists::of(scopes),
            compositions: Relists::of(scopes),
            count: 0,
            verdicts: HashMap::new(),
        }
    }

    /// Have both lists been read whole? Before, nothing can be said of anything.
    #[must_use]
    pub fn synced(&self) -> bool {
        self.slices.synced() && self.compositions.synced()
    }

    /// How many slices are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Is no slice known?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All slices, for a full look.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        slices(&self.namespaces)
    }

    /// The slice, as far as it is kept: its content is not.
    #[must_use]
    pub fn slice(&self, key: &Key) -> Option<ResourceSlice> {
        let facts = self.namespaces.get(&key.namespace)?.slices.get(&key.name)?;
        let metadata = Metadata {
            namespace: key.namespace.to_string(),
            name: key.name.to_string(),
            uid: facts.uid.to_string(),
            resource_version: facts.resource_version.to_string(),
            creation_timestamp: facts.created,
            deletion_timestamp: facts.deleted,
            finalizers: facts.finalizers.to_vec(),
            owner_references: facts.owner.iter().map(|owner| OwnerReference::clone(owner)).collect(),
            ..Metadata::default()
        };
        Some(ResourceSlice { metadata, content: Content::Unread })
    }

    /// The compositions of a namespace; none before the lists were read whole.
    #[must_use]
    pub fn compositions(&self, namespace: &str) -> Option<&Compositions> {
        self.namespaces.get(namespace).filter(|_| self.synced()).map(|known| &known.compositions)
    }

    /// The slices that a composition owns or refers to, as far as they exist.
    #[must_use]
    pub fn concerned(&self, composition: &Key) -> Vec<Key> {
        self.namespaces.get(&composition.namespace).map_or(vec![], |known| known.concerned(composition, None))
    }

    /// Takes note of what a look has said of a slice.
    pub fn judged(&mut self, key: &Key, verdict: Verdict, reason: &'static str) {
        let known = self.namespaces.get_mut(&key.namespace).and_then(|known| known.slices.get_mut(&key.name));
        if let Some(facts) = known {
            uncount(&mut self.verdicts, facts.judged.replace((verdict, reason)));
            *self.verdicts.entry((verdict, reason)).or_default() += 1;
        }
    }

    /// How many slices the last looks gave which verdict, for which reason.
    #[must_use]
    pub fn verdicts(&self) -> &HashMap<(Verdict, &'static str), usize> {
        &self.verdicts
    }

    /// A slice was seen. Returns its key.
    pub fn slice_seen(&mut self, metadata: Metadata) -> Key {
        let shared = self.namespaces.get_key_value(metadata.namespace.as_str());
        let namespace = shared.map_or_else(|| metadata.namespace.as_str().into(), |(shared, _)| Arc::clone(shared));
        let key = Key { namespace, name: metadata.name.as_str().into() };
        self.slices.saw(&key);
        self.forget_slice(&key);
        let finalizers = self.shared_finalizers(&metadata.finalizers);
        let known = self.namespaces.entry(Arc::clone(&key.namespace)).or_default();
        let owner = composition_owner(&metadata).map(|owner| {
            let (shared, owned) =
                known.owned.entry(owner.name.clone()).or_insert_with(|| (Arc::new(owner.clone()), HashSet::new()));
            owned.insert(Arc::clone(&key.name));
            if **shared == *owner { Arc::clone(shared) } else { Arc::new(owner.clone()) }
        });
        let facts = Facts {
            uid: metadata.uid.into(),
            resource_version: metadata.resource_version.into(),
            created: metadata.creation_timestamp,
            deleted: metadata.deletion_timestamp,
            finalizers,
            owner,
            judged: None,
        };
        known.slices.insert(Arc::clone(&key.name), Box::new(facts));
        self.count += 1;
        key
    }

    /// A slice is gone.
    pub fn slice_gone(&mut self, key: &Key) {
        self.forget_slice(key);
        self.drop_if_empty(&key.namespace);
    }

    fn forget_slice(&mut self, key: &Key) {
        let Some(known) = self.namespaces.get_mut(&key.namespace) else { return };
        let Some(facts) = known.slices.remove(&key.name) else { return };
        self.count -= 1;
        uncount(&mut self.verdicts, facts.judged);
        if let Some(owner) = facts.owner
            && let Some((_, owned)) = known.owned.get_mut(&owner.name)
        {
            owned.remove(&key.name);
            if owned.is_empty() {
                known.owned.remove(&owner.name);
            }
        }
    }

    /// A composition was seen. Returns the slices that this may concern.
    pub fn composition_seen(&mut self, key: Key, lookup: Lookup<Arc<Composition>>) -> Vec<Key> {
        let known = self.namespaces.entry(Arc::clone(&key.namespace)).or_default();
        let before = known.compositions.set(Arc::clone(&key.name), lookup);
        self.compositions.saw(&key);
        known.concerned(&key, before.as_ref())
    }

    /// A composition is gone. Returns the slices that this may concern.
    pub fn composition_gone(&mut self, key: &Key) -> Vec<Key> {
        let Some(known) = self.namespaces.get_mut(&key.namespace) else { return vec![] };
        let before = known.compositions.remove(&key.name);
        let concerned = known.concerned(key, before.as_ref());
        self.drop_if_empty(&key.namespace);
        concerned
    }

    /// A list of slices is read from its beginning.
    pub fn slices_relist(&mut self, scope: &Scope) {
        self.slices.begin(scope, slices(&self.namespaces));
    }

    /// A list of slices was read to its end. What it does not contain is gone: returns that.
    pub fn slices_listed(&mut self, scope: &Scope) -> HashSet<Key> {
        let gone = self.slices.end(scope);
        gone.iter().for_each(|key| self.slice_gone(key));
        gone
    }

    /// A list of compositions is read from its beginning.
    pub fn compositions_relist(&mut self, scope: &Scope) {
        let known = self.namespaces.iter().flat_map(|(namespace, known)| {
            known.compositions.names().map(|name| Key { namespace: Arc::clone(namespace), name: name.into() })
        });
        self.compositions.begin(scope, known);
    }

    /// A list of compositions was read to its end. Returns the slices that those may concern that it does not contain.
    pub fn compositions_listed(&mut self, scope: &Scope) -> Vec<Key> {
        let gone = self.compositions.end(scope);
        gone.iter().flat_map(|key| self.composition_gone(key)).collect()
    }

    fn drop_if_empty(&mut self, namespace: &Arc<str>) {
        let empty = |known: &Namespace| known.slices.is_empty() && known.compositions.names().next().is_none();
        if self.namespaces.get(namespace).is_some_and(empty) {
            self.namespaces.remove(namespace);
        }
    }

    fn shared_finalizers(&mut self, finalizers: &[String]) -> Arc<[String]> {
        if let Some(shared) = self.finalizers.get(finalizers) {
            return Arc::clone(shared);
        }
        // Whoever makes up finalizers by the thousand must not make this grow.
        self.finalizers.retain(|shared| Arc::strong_count(shared) > 1);
        let shared: Arc<[String]> = finalizers.into();
        self.finalizers.insert(Arc::clone(&shared));
        shared
    }
}

fn slices(namespaces: &HashMap<Arc<str>, Namespace>) -> impl Iterator<Item = Key> {
    namespaces.iter().flat_map(|(namespace, known)| {
        known.slices.keys().map(|name| Key { namespace: Arc::clone(namespace), name: Arc::clone(name) })
    })
}

impl Default for Namespace {
    fn default() -> Self {
        // Whole once the list of compositions was read whole; before, nobody gets to see it.
        Namespace { slices: HashMap::new(), owned: HashMap::new(), compositions: Compositions::whole([]) }
    }
}

fn uncount(verdicts: &mut HashMap<(Verdict, &'static str), usize>, judged: Option<(Verdict, &'static str)>) {
    if let Some(count) = judged.and_then(|judged| verdicts.get_mut(&judged)) {
        *count -= 1;
    }
}

impl Namespace {
    /// The slices that a composition owns, refers to, or referred to before. Only those that exist.
    fn concerned(&self, composition: &Key, before: Option<&Lookup<Arc<Composition>>>) -> Vec<Key> {
        let owned = self.owned.get(&*composition.name).into_iter().flat_map(|(_, owned)| owned);
        let mut names: HashSet<Arc<str>> = owned.map(Arc::clone).collect();
        let now = self.compositions.get(&composition.name);
        let before = before.and_then(Lookup::found).map(Arc::as_ref);
        for status in now.found().copied().into_iter().chain(before).map(|composition| &composition.status) {
            let syntheses = [&status.in_flight_synthesis, &status.current_synthesis, &status.previous_synthesis];
            let slices = syntheses.into_iter().flatten().flat_map(|synthesis| &synthesis.resource_slices);
            names.extend(slices.filter_map(|slice| Some(Arc::clone(self.slices.get_key_value(&*slice.name)?.0))));
        }
        names.into_iter().map(|name| Key { namespace: Arc::clone(&composition.namespace), name }).collect()
    }
}

#[cfg(test)]
mod tests;
