//! What a list that is read again does not contain any more.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use super::Key;

/// What one watch is of: a namespace, or (without) all.
pub type Scope = Option<Arc<str>>;

/// The scopes to watch: these namespaces, or all.
#[must_use]
pub fn scopes(namespaces: &[String]) -> Vec<Scope> {
    match namespaces {
        [] => vec![None],
        some => some.iter().map(|namespace| Some(namespace.as_str().into())).collect(),
    }
}

/// The lists of a kind, by scope.
#[derive(Debug)]
pub(super) struct Relists(HashMap<Scope, Relist>);

/// A list that is being read again: what it does not contain by its end was deleted meanwhile. Watches do not say so.
#[derive(Debug, Default)]
struct Relist {
    synced: bool,
    /// Known from before, and not shown again yet.
    unseen: HashSet<Key>,
}

fn is_within(key: &Key, scope: &Scope) -> bool {
    scope.as_ref().is_none_or(|namespace| *namespace == key.namespace)
}

impl Relists {
    /// None was read yet.
    pub(super) fn of(scopes: &[Scope]) -> Self {
        Relists(scopes.iter().map(|scope| (scope.clone(), Relist::default())).collect())
    }

    pub(super) fn synced(&self) -> bool {
        self.0.values().all(|relist| relist.synced)
    }

    /// The list begins again; so far all of this is known.
    pub(super) fn begin(&mut self, scope: &Scope, known: impl Iterator<Item = Key>) {
        let unseen = known.filter(|key| is_within(key, scope)).collect();
        self.0.insert(scope.clone(), Relist { synced: false, unseen });
    }

    /// The list has ended. Returns what it did not contain.
    pub(super) fn end(&mut self, scope: &Scope) -> HashSet<Key> {
        let relist = self.0.entry(scope.clone()).or_default();
        relist.synced = true;
        mem::take(&mut relist.unseen)
    }

    /// Notes an object that a list, or the watch after it, has shown.
    pub(super) fn saw(&mut self, key: &Key) {
        for (scope, relist) in &mut self.0 {
            if !relist.synced && is_within(key, scope) {
                relist.unseen.remove(key);
            }
        }
    }
}
