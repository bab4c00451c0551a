//! The names, both ways round.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use eno_shared::api::Composition;

/// What one composition refers to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct References {
    /// Slices of its namespace, in its current or previous synthesis; each once.
    slices: BTreeSet<Arc<str>>,
    /// Compositions it depends on: namespace and name.
    depends_on: DependsOn,
}

type DependsOn = BTreeSet<(Box<str>, Box<str>)>;

impl References {
    pub(super) fn of(composition: &Composition) -> Self {
        let status = &composition.status;
        let syntheses = [&status.current_synthesis, &status.previous_synthesis].into_iter().flatten();
        let slices = syntheses.flat_map(|synthesis| &synthesis.resource_slices);
        let depends_on = composition.spec.depends_on.iter().map(|on| {
            let namespace = if on.namespace.is_empty() { &composition.metadata.namespace } else { &on.namespace };
            (namespace.as_str().into(), on.name.as_str().into())
        });
        References { slices: slices.map(|slice| slice.name.clone()).collect(), depends_on: depends_on.collect() }
    }
}

/// What the compositions refer to, by namespace.
///
/// There are as many references as slices, so that only hashes of their names are kept. Where two names have the same one,
/// the composition of the other is a candidate, too: one that is read live for nothing.
#[derive(Debug, Default)]
pub(super) struct Index {
    hasher: RandomState,
    namespaces: HashMap<Box<str>, Namespace>,
}

#[derive(Debug, Default)]
struct Namespace {
    compositions: HashMap<Arc<str>, Known>,
    /// Slices, by hash, and compositions that refer to them.
    referrers: BTreeSet<(u64, Arc<str>)>,
    /// Compositions that do not decode: they may refer to any slice.
    opaque: BTreeSet<Box<str>>,
}

/// The references of one composition.
#[derive(Debug)]
struct Known {
    /// Hashes of the slices' names.
    slices: Box<[u64]>,
    depends_on: DependsOn,
}

impl Index {
    /// Takes in a composition as it is now; without references where it does not decode.
    pub(super) fn apply(&mut self, namespace: &str, name: &str, references: Option<References>) {
        self.remove(namespace, name);
        let namespace = self.namespaces.entry(namespace.into()).or_default();
        let Some(References { slices, depends_on }) = references else {
            namespace.opaque.insert(name.into());
            return;
        };
        let name = Arc::from(name);
        let slices: Box<[u64]> = slices.iter().map(|slice| self.hasher.hash_one(&**slice)).collect();
        namespace.referrers.extend(slices.iter().map(|slice| (*slice, Arc::clone(&name))));
        namespace.compositions.insert(name, Known { slices, depends_on });
    }

    /// Forgets a composition.
    pub(super) fn remove(&mut self, namespace: &str, name: &str) {
        let Some(known) = self.namespaces.get_mut(namespace) else { return };
        known.opaque.remove(name);
        if let Some((name, Known { slices, .. })) = known.compositions.remove_entry(name) {
            for slice in slices {
                known.referrers.remove(&(slice, Arc::clone(&name)));
            }
        }
        if known.compositions.is_empty() && known.opaque.is_empty() {
            self.namespaces.remove(namespace);
        }
    }

    /// Names of the compositions that may refer to the slice, in no order.
    pub(super) fn referrers(&self, namespace: &str, slice: &str) -> Vec<String> {
        let Some(known) = self.namespaces.get(namespace) else { return vec![] };
        let slice = self.hasher.hash_one(slice);
        let of_slice = known.referrers.range((slice, Arc::from(""))..).take_while(|(hash, _)| *hash == slice);
        let referrers = of_slice.map(|(_, composition)| composition.to_string());
        referrers.chain(known.opaque.iter().map(|name| name.to_string())).collect()
    }

    /// Compositions that depend on this one, as `NAMESPACE/NAME`, in order. Asked rarely: there is no index for it.
    pub(super) fn dependents(&self, namespace: &str, name: &str) -> Vec<String> {
        let on = (namespace.into(), name.into());
        let mut dependents = vec![];
        for (namespace, known) in &self.namespaces {
            let depending = known.compositions.iter().filter(|(_, references)| references.depends_on.contains(&on));
            dependents.extend(depending.map(|(name, _)| format!("{namespace}/{name}")));
        }
        dependents.sort();
        dependents
    }

    /// How many compositions there are.
    pub(super) fn len(&self) -> usize {
        self.namespaces.values().map(|known| known.compositions.len() + known.opaque.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eno_shared::api::CompositionRef;
    use eno_shared::fixtures::{composition, synthesis};

    fn referring(current: &[&str], previous: &[&str]) -> Option<References> {
        let mut composition = composition("web");
        composition.status.current_synthesis = Some(synthesis("b", current));
        composition.status.previous_synthesis = Some(synthesis("a", previous));
        Some(References::of(&composition))
    }

    #[test]
    fn names_those_that_refer_from_current_or_previous() {
        let mut index = Index::default();
        index.apply("ns", "web", referring(&["s1", "s2"], &["s0"]));
        index.apply("ns", "api", referring(&["s1"], &[]));
        index.apply("other", "web", referring(&["s9"], &[]));
        let mut referrers = index.referrers("ns", "s1");
        referrers.sort();
        assert_eq!(referrers, ["api", "web"]);
        assert_eq!(index.referrers("ns", "s0"), ["web"]);
        assert!(index.referrers("ns", "s9").is_empty(), "a slice belongs to one namespace");
    }

    #[test]
    fn forgets_what_is_not_referred_to_any_more() {
        let mut index = Index::default();
        index.apply("ns", "web", referring(&["s1"], &["s0"]));
        index.apply("ns", "web", referring(&["s2"], &["s1"]));
        assert!(index.referrers("ns", "s0").is_empty());
        assert_eq!(index.referrers("ns", "s1"), ["web"]);
        index.remove("ns", "web");
        assert!(index.namespaces.is_empty(), "nothing is kept of what is gone");
    }

    #[test]
    fn a_composition_that_does_not_decode_may_refer_to_any_slice() {
        let mut index = Index::default();
        index.apply("ns", "odd", None);
        assert_eq!(index.referrers("ns", "s1"), ["odd"]);
        index.apply("ns", "odd", referring(&["s2"], &[]));
        assert!(index.referrers("ns", "s1").is_empty());
    }

    #[test]
    fn knows_who_depends_on_a_composition() {
        let mut index = Index::default();
        let mut web = composition("web");
        web.spec.depends_on = vec![CompositionRef { name: "db".into(), namespace: String::new() }];
        index.apply("ns", "web", Some(References::of(&web)));
        web.spec.depends_on[0].namespace = "ns".into();
        index.apply("other", "far", Some(References::of(&web)));
        assert_eq!(index.dependents("ns", "db"), ["ns/web", "other/far"]);
        assert!(index.dependents("other", "db").is_empty());
    }
}
