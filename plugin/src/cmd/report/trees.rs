//! What hangs below what: symphony, composition, slice.

use std::collections::{BTreeMap, BTreeSet};

use eno_shared::Lookup;
use eno_shared::owner::symphony_owner;

use super::contents::Contents;
use crate::finding::OwnerState;
use crate::surroundings::symphony_state;

/// The trees of a namespace.
pub(super) struct Home<'a> {
    pub name: &'a str,
    pub trees: Vec<Tree<'a>>,
}

/// A symphony with its compositions, or a composition alone.
pub(super) struct Tree<'a> {
    pub symphony: Option<Root<'a>>,
    pub branches: Vec<Branch<'a>>,
}

/// A symphony.
pub(super) struct Root<'a> {
    pub name: &'a str,
    /// Nothing, where the symphony itself was not seen.
    pub state: Option<&'static str>,
}

/// A composition with its slices.
pub(super) struct Branch<'a> {
    pub stem: Stem<'a>,
    pub leaves: Vec<Leaf<'a>>,
}

/// What slices hang on.
pub(super) enum Stem<'a> {
    /// A composition, by its id.
    Composition(usize),
    /// One that slices name as their owner, and that was not found.
    Absent(&'a str, OwnerState),
    /// No composition owns them.
    Unowned,
}

/// A slice.
pub(super) enum Leaf<'a> {
    /// By its id.
    Slice(usize),
    /// The current synthesis lists it, and it does not exist.
    Missing(&'a str),
    /// The current synthesis lists it, and it could not be read.
    Unread(&'a str),
}

/// Of all that a report tells, namespace by namespace.
pub(super) fn of<'a>(contents: &'a Contents<'a>) -> Vec<Home<'a>> {
    let slices = Owned::of(contents);
    let homes: BTreeSet<&str> = contents
        .compositions
        .iter()
        .map(|composition| composition.namespace)
        .chain(contents.slices.iter().map(|slice| slice.seen.metadata().namespace.as_str()))
        .chain(contents.symphonies.iter().map(|symphony| symphony.metadata.namespace.as_str()))
        .collect();
    homes.into_iter().map(|name| Home { name, trees: trees(contents, &slices, name) }).collect()
}

/// Slices by namespace and by the name of the composition that owns them.
struct Owned<'a>(BTreeMap<(&'a str, Option<&'a str>), Vec<usize>>);

impl<'a> Owned<'a> {
    fn of(contents: &'a Contents<'a>) -> Self {
        let mut owned: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (id, slice) in contents.slices.iter().enumerate() {
            let owner = slice.owner.as_ref().map(|owner| owner.name.as_str());
            owned.entry((slice.seen.metadata().namespace.as_str(), owner)).or_default().push(id);
        }
        Owned(owned)
    }

    fn by(&self, home: &'a str, owner: Option<&'a str>) -> Vec<Leaf<'a>> {
        self.0.get(&(home, owner)).into_iter().flatten().map(|id| Leaf::Slice(*id)).collect()
    }

    /// The owners that slices of the namespace name.
    fn owners(&self, home: &'a str) -> impl Iterator<Item = (&'a str, &[usize])> {
        let all = self.0.range((home, None)..).take_while(move |((found, _), _)| *found == home);
        all.filter_map(|((_, owner), slices)| Some(((*owner)?, slices.as_slice())))
    }
}

fn trees<'a>(contents: &'a Contents<'a>, slices: &Owned<'a>, home: &'a str) -> Vec<Tree<'a>> {
    let of_home = |namespace: &str| namespace == home;
    let symphonies = contents.symphonies.iter().filter(|symphony| of_home(&symphony.metadata.namespace));
    let mut played: BTreeMap<&str, Tree<'_>> = symphonies
        .map(|symphony| {
            let root = Root { name: &symphony.metadata.name, state: Some(symphony_state(symphony).0) };
            (root.name, Tree { symphony: Some(root), branches: vec![] })
        })
        .collect();
    let (mut alone, mut known) = (vec![], BTreeSet::new());
    for (id, composition) in contents.compositions.iter().enumerate().filter(|(_, found)| of_home(found.namespace)) {
        known.insert(composition.name);
        let mut leaves = slices.by(home, Some(composition.name));
        leaves.extend(composition.slices.iter().filter_map(|(name, lookup)| match lookup {
            Lookup::Found(_) => None,
            Lookup::Missing => Some(Leaf::Missing(name)),
            Lookup::Unknown(_) => Some(Leaf::Unread(name)),
        }));
        let branch = Branch { stem: Stem::Composition(id), leaves };
        match composition.composition.as_ref().ok().and_then(|composition| symphony_owner(&composition.metadata)) {
            Some(owner) => {
                let root = Root { name: &owner.name, state: None };
                let tree = played.entry(root.name).or_insert(Tree { symphony: Some(root), branches: vec![] });
                tree.branches.push(branch);
            }
            None => alone.push(branch),
        }
    }
    for (name, owned) in slices.owners(home).filter(|(name, _)| !known.contains(name)) {
        let state = owned.iter().find_map(|id| Some(contents.slices[*id].owner.as_ref()?.state));
        let stem = Stem::Absent(name, state.unwrap_or(OwnerState::Unknown));
        alone.push(Branch { stem, leaves: slices.by(home, Some(name)) });
    }
    let unowned = slices.by(home, None);
    if !unowned.is_empty() {
        alone.push(Branch { stem: Stem::Unowned, leaves: unowned });
    }
    let alone = alone.into_iter().map(|branch| Tree { symphony: None, branches: vec![branch] });
    played.into_values().chain(alone).collect()
}
