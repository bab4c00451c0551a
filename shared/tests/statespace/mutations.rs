//! Every subset of the named mutations, applied to the base.
//!
//! Mutations that exclude each other share an axis: a subset takes at most one of each. All subsets of all axes would be
//! some three million; neighbours change little of what the owner's own state decides, so they are crossed with fewer mutations
//! of the owner. The random tests cross the rest.

use super::facts::{BASE, Content, Current, Facts, InFlight, Neighbour, Owner, Slice};

pub struct Mutation {
    name: &'static str,
    apply: fn(&mut Facts),
}

type Axis = &'static [Mutation];

macro_rules! axis {
    ($($name:literal: $field:ident = $value:expr),+ $(,)?) => {
        &[$(Mutation { name: $name, apply: |facts| facts.$field = $value }),+]
    };
}

const OWNER: Axis = axis![
    "owner missing": owner = Owner::Missing,
    "owner replaced": owner = Owner::Replaced,
    "owner unknown": owner = Owner::Unknown,
    "no owner": owner = Owner::None,
];
const DELETING: Axis = axis!["deleting": deleting = true];
const OBSERVED: Axis = axis!["observed": observed = true];
const RECONCILED: Axis = axis!["not reconciled": reconciled = false];
const FINALIZER: Axis = axis!["composition without finalizer": finalizer = false];
const ORPHANS: Axis = axis!["orphan strategy": orphans = true];
const IN_FLIGHT: Axis = axis![
    "in flight": in_flight = InFlight::Before,
    "in flight, canceled": in_flight = InFlight::Canceled,
    "in flight, undated": in_flight = InFlight::Undated,
    "in flight, begun 30 s after the slice": in_flight = InFlight::Margin,
    "in flight, begun 31 s after": in_flight = InFlight::After,
    "in flight, begun 31 s after, lists": in_flight = InFlight::AfterListed,
    "in flight, begun 31 s after, same uuid": in_flight = InFlight::AfterSameUuid,
];
const CURRENT: Axis = axis![
    "current lists another": current = Current::ListsAnother,
    "no current": current = Current::None,
];
const PREVIOUS: Axis = axis!["previous lists": previous = true];
const SLICE: Axis = axis![
    "slice without finalizer": slice = Slice::Bare,
    "slice deleting": slice = Slice::Deleting,
    "slice deleting, foreign finalizer too": slice = Slice::DeletingWithForeign,
    "slice deleting, foreign finalizer only": slice = Slice::DeletingForeignOnly,
    "4 s old": slice = Slice::Seconds4,
];
const CONTENT: Axis = axis![
    "all deleted": content = Content::AllDeleted,
    "status short": content = Content::Short,
    "content unread": content = Content::Unread,
];
const NEIGHBOUR: Axis = axis![
    "neighbour live": neighbour = Neighbour::Live,
    "neighbour's previous": neighbour = Neighbour::Previous,
    "neighbour deleting": neighbour = Neighbour::Deleting,
    "neighbour reconciled": neighbour = Neighbour::Reconciled,
    "neighbour finished": neighbour = Neighbour::Finished,
    "neighbour unknown": neighbour = Neighbour::Unknown,
];
const WHOLE: Axis = axis!["list not whole": whole = false];

/// Enough of the owner and of the slice to cross with neighbours.
const LIFE: Axis = &[
    Mutation { name: "deleting", apply: |facts| facts.deleting = true },
    Mutation { name: "deleting, observed", apply: |facts| (facts.deleting, facts.observed) = (true, true) },
    Mutation { name: "finished", apply: |facts| (facts.deleting, facts.finalizer) = (true, false) },
];
const SYNTHESIS: Axis = axis![
    "in flight": in_flight = InFlight::Before,
    "in flight, begun 31 s after": in_flight = InFlight::After,
];
const AGE: Axis = axis![
    "slice deleting": slice = Slice::Deleting,
    "4 s old": slice = Slice::Seconds4,
    "5 s old": slice = Slice::Seconds5,
];

const OWN: &[Axis] =
    &[CONTENT, SLICE, OWNER, DELETING, OBSERVED, RECONCILED, FINALIZER, ORPHANS, IN_FLIGHT, CURRENT, PREVIOUS];
const WITH_NEIGHBOURS: &[Axis] = &[CONTENT, AGE, OWNER, LIFE, SYNTHESIS, CURRENT, PREVIOUS, NEIGHBOUR, WHOLE];

/// Every subset, with the facts that it makes of the base.
pub fn subsets() -> impl Iterator<Item = (Vec<&'static str>, Facts)> {
    [OWN, WITH_NEIGHBOURS].into_iter().flat_map(subsets_of)
}

fn subsets_of(axes: &'static [Axis]) -> impl Iterator<Item = (Vec<&'static str>, Facts)> {
    let count: usize = axes.iter().map(|axis| axis.len() + 1).product();
    (0..count).map(move |mut number| {
        let mut facts = BASE;
        let mut names = vec![];
        for axis in axes {
            let choice = number % (axis.len() + 1);
            number /= axis.len() + 1;
            if let Some(mutation) = choice.checked_sub(1).map(|index| &axis[index]) {
                (mutation.apply)(&mut facts);
                names.push(mutation.name);
            }
        }
        (names, facts)
    })
}
