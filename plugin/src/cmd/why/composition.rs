//! Why a composition is as it is.

use eno_shared::Lookup;
use eno_shared::api::{Composition, Kind, ResourceSlice, Synthesis};
use eno_shared::stuck::{Blocker, composition_blockers};
use eno_shared::usage::{Undone, current_lists, is_finished, orphans_resources, reconciled_deletion};

use super::Asked;
use super::explanation::{DeletionStep, Explanation, Fact, Says, SynthesisItem, UNKNOWN};
use super::facts::{self, fact};
use super::orphans;
use crate::finding::Finding;
use crate::item::{BlockerItem, Item};

/// `None` where it does not exist.
pub(super) fn explain(asked: &Asked<'_>) -> Option<Explanation> {
    let compositions = asked.snapshot.namespaces.compositions(asked.namespace);
    match compositions.get(asked.name) {
        Lookup::Found(composition) => Some(known(asked, composition)),
        Lookup::Missing => None,
        Lookup::Unknown(why) => Some(unknown(asked, &why)),
    }
}

fn known(asked: &Asked<'_>, composition: &Composition) -> Explanation {
    let Asked { snapshot, namespace, patience, advice, .. } = asked;
    let now = snapshot.now;
    let compositions = snapshot.namespaces.compositions(namespace);
    let metadata = &composition.metadata;
    let slices = current_slices(asked, composition);
    let blockers = composition_blockers(composition, &slices, compositions);
    let waiting_since = metadata.deletion_timestamp.filter(|_| !blockers.is_empty());
    let finished = is_finished(composition);
    let (state, message) = match metadata.is_deleting() {
        false => ("Live", "it is not being deleted; its current and previous slices are needed".to_owned()),
        true if finished => ("Finished", "Eno has finished deleting it".to_owned()),
        true => ("Deleting", blockers.first().map_or("it is being deleted".to_owned(), ToString::to_string)),
    };
    let items =
        snapshot.slices.iter().map(|seen| Item::new(&Finding::of(seen, &snapshot.namespaces, now), now, *patience));
    let needed = metadata.is_deleting() && !finished && !orphans_resources(composition);
    let current = snapshot.slices.iter().filter(|seen| current_lists(composition, &seen.metadata().name));
    Explanation {
        kind: Composition::KIND,
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        says: Says::Composition {
            state,
            syntheses: syntheses(composition),
            slices: items.collect(),
            deletion_steps: deletion_steps(composition, &blockers, snapshot.slices.is_empty() && snapshot.slices_incomplete.is_none()),
        },
        message,
        stuck: waiting_since.is_some_and(|since| now.duration_since(since) >= *patience),
        waiting_since,
        creation_timestamp: metadata.creation_timestamp,
        deletion_timestamp: metadata.deletion_timestamp,
        because: because(asked, composition),
        next: advice.for_composition(composition, &blockers),
        blockers: BlockerItem::all(&blockers),
        orphans: if needed { current.flat_map(orphans::left).collect() } else { vec![] },
        now,
    }
}

fn unknown(asked: &Asked<'_>, why: &str) -> Explanation {
    Explanation {
        kind: Composition::KIND,
        namespace: asked.namespace.to_owned(),
        name: asked.name.to_owned(),
        uid: String::new(),
        says: Says::Composition { state: UNKNOWN, syntheses: vec![], slices: vec![], deletion_steps: vec![] },
        message: format!("it could not be read: {why}"),
        stuck: false,
        waiting_since: None,
        creation_timestamp: None,
        deletion_timestamp: None,
        because: vec![fact(format!("composition/{}", asked.name), why)],
        blockers: vec![],
        orphans: vec![],
        next: asked.advice.for_unknown(),
        now: asked.snapshot.now,
    }
}

/// The slices of the current synthesis, as they were looked up.
fn current_slices<'a>(asked: &'a Asked<'_>, composition: &Composition) -> Vec<(String, Lookup<&'a ResourceSlice>)> {
    let snapshot = asked.snapshot;
    let names = composition.status.current_synthesis.iter().flat_map(|synthesis| &synthesis.resource_slices);
    let lookup = |name: &str| match snapshot.slices.iter().find(|seen| seen.place() == (asked.namespace, name)) {
        Some(seen) => match &seen.unreadable {
            Some(why) => Lookup::Unknown(why.clone()),
            None => Lookup::Found(&seen.slice),
        },
        None => snapshot.slices_incomplete.clone().map_or(Lookup::Missing, Lookup::Unknown),
    };
    names.map(|slice| (slice.name.clone(), lookup(&slice.name))).collect()
}

fn because(asked: &Asked<'_>, composition: &Composition) -> Vec<Fact> {
    let now = asked.snapshot.now;
    let mut because = facts::life("", &composition.metadata, now);
    if let Some(status) = composition.status.dependency_status.as_ref().filter(|status| status.blocked) {
        let by: Vec<String> = status.blocked_by.iter().map(|by| format!("{}/{}", by.namespace, by.name)).collect();
        let text = format!("compositions block it ({}): {}", status.reason, by.join(", "));
        because.push(fact("status.dependencyStatus", text));
    }
    if composition.metadata.is_deleting() {
        // The first of these says again that it is being deleted.
        because.extend(facts::progress(composition, now).into_iter().skip(1).map(|known| Fact {
            source: known.source.trim_start_matches(&format!("composition/{} ", composition.metadata.name)).to_owned(),
            ..known
        }));
    }
    if let Some(synthesis) = &composition.status.in_flight_synthesis {
        let begun = synthesis.initialized.map_or("at an unknown time".to_owned(), |at| facts::ago(at, now));
        let canceled = if synthesis.canceled.is_some() { ", and was canceled" } else { "" };
        let text = format!("synthesis {} is in flight, begun {begun}{canceled}", synthesis.uuid);
        because.push(fact("status.inFlightSynthesis", text));
    }
    if asked.snapshot.namespaces.terminating(asked.namespace) == Some(true) {
        because.push(fact(format!("namespace/{}", asked.namespace), "its namespace is being deleted"));
    }
    because
}

fn syntheses(composition: &Composition) -> Vec<SynthesisItem> {
    let status = &composition.status;
    let item = |name, synthesis: &Synthesis| SynthesisItem {
        name,
        uuid: synthesis.uuid.clone(),
        initialized: synthesis.initialized,
        synthesized: synthesis.synthesized,
        reconciled: synthesis.reconciled,
        canceled: synthesis.canceled,
        slices: synthesis.resource_slices.iter().map(|slice| slice.name.clone()).collect(),
    };
    [
        ("inFlight", &status.in_flight_synthesis),
        ("current", &status.current_synthesis),
        ("previous", &status.previous_synthesis),
    ]
    .into_iter()
    .filter_map(|(name, synthesis)| synthesis.as_ref().map(|synthesis| item(name, synthesis)))
    .collect()
}

/// What a deletion waits for, in the order in which Eno works.
fn deletion_steps(composition: &Composition, blockers: &[Blocker], no_slices: bool) -> Vec<DeletionStep> {
    if !composition.metadata.is_deleting() {
        return vec![];
    }
    let finished = is_finished(composition);
    let undone = composition.status.current_synthesis.as_ref().and_then(|_| reconciled_deletion(composition).err());
    let dependents = blockers
        .iter()
        .any(|blocker| matches!(blocker, Blocker::DependentsExist { .. } | Blocker::CircularDependency { .. }));
    let foreign = blockers.iter().any(|blocker| matches!(blocker, Blocker::ForeignFinalizer { .. }));
    let resources = if orphans_resources(composition) {
        "its resources are left behind, on purpose"
    } else {
        "its resources are deleted"
    };
    vec![
        DeletionStep { step: "compositions that depend on it are gone", done: finished || !dependents },
        DeletionStep {
            step: "eno-controller has seen the deletion",
            done: finished || undone != Some(Undone::DeletionNotObserved),
        },
        DeletionStep { step: resources, done: finished || undone.is_none() },
        DeletionStep { step: "eno-controller takes its finalizer off", done: finished },
        DeletionStep { step: "other finalizers are off", done: !foreign },
        DeletionStep { step: "its slices are gone", done: no_slices },
    ]
}
