//! Facts of an object, each with the field it is read from.

use eno_shared::api::{Composition, Content, Metadata, Synthesis};
use eno_shared::usage::{InFlight, in_flight, is_finished, orphans_resources};
use eno_shared::{Compositions, Lookup};
use jiff::Timestamp;

use super::explanation::Fact;
use crate::age::age;
use crate::finding::{Finding, OwnerState};

/// A fact read from a field.
pub(super) fn fact(source: impl Into<String>, fact: impl Into<String>) -> Fact {
    Fact { fact: fact.into(), source: source.into() }
}

/// `1 resource`, `2 resources`.
pub(super) fn counted(resources: usize) -> String {
    format!("{resources} resource{}", if resources == 1 { "" } else { "s" })
}

/// `26m ago`.
pub(super) fn ago(since: Timestamp, now: Timestamp) -> String {
    format!("{} ago", age(Some(since), now))
}

/// Is it being deleted, and what finalizers hold it?
pub(super) fn life(source: &str, metadata: &Metadata, now: Timestamp) -> Vec<Fact> {
    let deletion = match metadata.deletion_timestamp {
        Some(since) => format!("it has been in deletion for {}", age(Some(since), now)),
        None => "it is not being deleted".to_owned(),
    };
    let finalizers = match metadata.finalizers.as_slice() {
        [] => "it has no finalizers".to_owned(),
        [one] => format!("it has finalizer {one}"),
        several => format!("it has finalizers {}", several.join(", ")),
    };
    vec![
        fact(format!("{source}metadata.deletionTimestamp"), deletion),
        fact(format!("{source}metadata.finalizers"), finalizers),
    ]
}

/// Who owns a slice.
pub(super) fn owner(finding: &Finding<'_>, compositions: &Compositions) -> Fact {
    let text = match &finding.owner {
        None => "it has no composition as controller owner".to_owned(),
        Some(owner) => {
            let name = &owner.name;
            match (owner.state, compositions.get(name)) {
                (OwnerState::Found, _) => format!("its owner is composition {name}, which exists"),
                (OwnerState::Gone, _) => format!("its owner was composition {name}, which does not exist"),
                (OwnerState::Replaced, Lookup::Found(other)) => format!(
                    "its owner was composition {name} with uid {}; the one of that name has uid {}",
                    owner.uid, other.metadata.uid
                ),
                (OwnerState::Replaced, _) => format!("its owner was another composition {name}"),
                (OwnerState::Unknown, Lookup::Unknown(why)) => {
                    format!("its owner is composition {name}, which could not be read: {why}")
                }
                (OwnerState::Unknown, _) => format!("its owner is composition {name}, which could not be read"),
            }
        }
    };
    fact("metadata.ownerReferences", text)
}

/// Which syntheses list a slice.
pub(super) fn references(slice: &str, compositions: &Compositions) -> Vec<Fact> {
    let listed = |composition: &Composition, which: &str, field: &str, synthesis: Option<&Synthesis>| {
        let uuid = synthesis.map(|synthesis| synthesis.uuid.as_str()).unwrap_or_default();
        fact(
            format!("composition/{} status.{field}.resourceSlices", composition.metadata.name),
            format!("the {which} synthesis {uuid} of composition {} lists it", composition.metadata.name),
        )
    };
    let current = compositions.current_referrers(slice).map(|composition| {
        listed(composition, "current", "currentSynthesis", composition.status.current_synthesis.as_ref())
    });
    let previous = compositions.previous_referrers(slice).map(|composition| {
        listed(composition, "previous", "previousSynthesis", composition.status.previous_synthesis.as_ref())
    });
    let mut facts: Vec<Fact> = current.chain(previous).collect();
    match compositions.incomplete() {
        Some(why) => facts.push(fact("compositions of the namespace", format!("others may refer to it: {why}"))),
        None if facts.is_empty() => {
            facts.push(fact("compositions of the namespace", "no current or previous synthesis lists it"));
        }
        None => {}
    }
    facts
}

/// How far a composition is, as far as a slice depends on it.
pub(super) fn progress(composition: &Composition, now: Timestamp) -> Vec<Fact> {
    let metadata = &composition.metadata;
    let name = &metadata.name;
    let source = |field: &str| format!("composition/{name} {field}");
    let mut facts = vec![];
    match metadata.deletion_timestamp {
        None => {
            facts.push(fact(source("metadata.deletionTimestamp"), format!("composition {name} is not being deleted")))
        }
        Some(since) => {
            let text = format!("composition {name} has been in deletion for {}", age(Some(since), now));
            facts.push(fact(source("metadata.deletionTimestamp"), text));
            facts.extend(deletion(composition, &source, now));
        }
    }
    facts
}

fn deletion(composition: &Composition, source: &dyn Fn(&str) -> String, now: Timestamp) -> Vec<Fact> {
    if is_finished(composition) {
        let text = "Eno has finished with it: its own eno.azure.io/cleanup is gone";
        return vec![fact(source("metadata.finalizers"), text)];
    }
    let Some(current) = &composition.status.current_synthesis else {
        return vec![fact(source("status.currentSynthesis"), "it has no current synthesis")];
    };
    let (seen, generation) = (current.observed_composition_generation, composition.metadata.generation);
    let observed = if seen < generation {
        format!("eno-controller has not seen the deletion: it has seen generation {seen} of {generation}")
    } else {
        "eno-controller has seen the deletion".to_owned()
    };
    let reconciled = match current.reconciled {
        None => "its current synthesis is not reconciled: its resources are not all deleted".to_owned(),
        Some(at) if seen < generation => {
            format!("its reconciled time, {}, dates from before the deletion", ago(at, now))
        }
        Some(at) => format!("its current synthesis was reconciled {}: Eno calls its resources deleted", ago(at, now)),
    };
    let mut facts = vec![
        fact(source("status.currentSynthesis.observedCompositionGeneration"), observed),
        fact(source("status.currentSynthesis.reconciled"), reconciled),
    ];
    if orphans_resources(composition) {
        facts.push(fact(source("metadata"), "its resources are left behind on purpose (deletion strategy orphan)"));
    }
    facts
}

/// The synthesis in flight and the current one, in a line each.
pub(super) fn latest(composition: &Composition, now: Timestamp) -> Vec<Fact> {
    let name = &composition.metadata.name;
    let status = &composition.status;
    let in_flight = status.in_flight_synthesis.as_ref().map(|synthesis| {
        let begun = synthesis.initialized.map_or("at an unknown time".to_owned(), |at| ago(at, now));
        let canceled = if synthesis.canceled.is_some() { ", and was given up" } else { "" };
        let text = format!("synthesis {} is in flight, begun {begun}{canceled}", synthesis.uuid);
        fact(format!("composition/{name} status.inFlightSynthesis"), text)
    });
    let current = status.current_synthesis.as_ref().map(|synthesis| {
        let text = format!("the current synthesis is {}", synthesis.uuid);
        fact(format!("composition/{name} status.currentSynthesis"), text)
    });
    in_flight.into_iter().chain(current).collect()
}

/// How Eno sums a composition up, where that says more than the other facts.
pub(super) fn summary(composition: &Composition) -> Option<Fact> {
    let summary = &composition.status.simplified;
    if summary.status.is_empty() {
        return None;
    }
    let error = if summary.error.is_empty() { String::new() } else { format!(": {}", summary.error) };
    // Eno returns from a deletion before it writes this (S14).
    let stale =
        if composition.metadata.is_deleting() { ", as of before its deletion: Eno does not refresh it" } else { "" };
    Some(fact("status.simplified", format!("Eno sums it up as {}{error}{stale}", summary.status)))
}

/// Does a slice belong to what is being synthesized?
pub(super) fn flight(composition: &Composition, finding: &Finding<'_>, now: Timestamp) -> Option<Fact> {
    let synthesis = composition.status.in_flight_synthesis.as_ref()?;
    let begun = synthesis.initialized.map_or("at an unknown time".to_owned(), |at| ago(at, now));
    let belongs = match in_flight(composition, &finding.seen.slice) {
        InFlight::MayBelong => "it may be part of the result",
        InFlight::Unread => "it may be part of the result, for all that was read",
        InFlight::No => "it is older, and no part of the result",
    };
    let name = &composition.metadata.name;
    Some(fact(
        format!("composition/{name} status.inFlightSynthesis"),
        format!("synthesis {} of composition {name} is in flight, begun {begun}; {belongs}", synthesis.uuid),
    ))
}

/// What a slice says of its resources.
pub(super) fn resources(content: &Content) -> Fact {
    let text = match content {
        Content::Unread => "its spec and status were not read".to_owned(),
        Content::Read { resources: 0, .. } => "it holds no resources".to_owned(),
        Content::Read { resources, states, .. } if states.is_empty() && *resources > 0 => {
            format!("no state was ever written of its {}", counted(*resources))
        }
        Content::Read { resources, states, .. } => {
            let deleted = states.iter().filter(|state| state.deleted).count();
            let failed = states.iter().filter(|state| !state.reconciliation_error.is_empty()).count();
            let failing = if failed > 0 { format!(", {failed} with an error") } else { String::new() };
            format!("of its {}, {deleted} deleted{failing}", counted(*resources))
        }
    };
    fact("status.resources", text)
}
