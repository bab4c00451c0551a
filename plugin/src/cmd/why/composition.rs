//! Why a composition is as it is.

use eno_shared::CompositionState;
use eno_shared::api::{Composition, Kind, Synthesis};
use eno_shared::stuck::Blocker;
use eno_shared::usage::{Undone, current_lists, is_finished, orphans_resources, reconciled_deletion};

use super::Asked;
use super::explanation::{DeletionStep, Explanation, Fact, Says, SynthesisItem};
use super::facts::{self, fact};
use crate::finding::Finding;
use crate::finding::composition::CompositionFinding;
use crate::item::composition::UNKNOWN;
use crate::item::{BlockerItem, Item};
use crate::query::belongs;
use crate::resources;
use crate::snapshot::Seen;

/// `None` where it does not exist.
pub(super) fn explain(asked: &Asked<'_>) -> Option<Explanation> {
    let finding = CompositionFinding::of(asked.snapshot, asked.namespace, asked.name)?;
    Some(match &finding.composition {
        Ok(composition) => known(asked, composition, &finding),
        Err(why) => unknown(asked, why),
    })
}

fn known(asked: &Asked<'_>, composition: &Composition, finding: &CompositionFinding<'_>) -> Explanation {
    let Asked { snapshot, patience, advice, .. } = asked;
    let now = snapshot.now;
    let metadata = &composition.metadata;
    let blockers = &finding.blockers;
    let finished = is_finished(composition);
    let message = match blockers.first() {
        Some(first) if metadata.is_deleting() && !finished => first.to_string(),
        Some(_) | None => finding.message(),
    };
    let compositions = snapshot.namespaces.compositions(&metadata.namespace);
    let is_its = |seen: &&Seen| belongs(seen.metadata(), &metadata.name, compositions);
    let slices: Vec<&Seen> = snapshot.slices.iter().filter(is_its).collect();
    let items = slices.iter().map(|seen| Item::new(&Finding::of(seen, &snapshot.namespaces, now), now, *patience));
    let needed = metadata.is_deleting() && !finished && !orphans_resources(composition);
    let current = slices.iter().copied().filter(|seen| current_lists(composition, &seen.metadata().name));
    let no_slices = slices.is_empty() && snapshot.slices_incomplete.is_none();
    Explanation {
        kind: Composition::KIND,
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        says: Says::Composition {
            state: finding.state().map_or(UNKNOWN, CompositionState::as_str),
            syntheses: syntheses(composition),
            slices: items.collect(),
            deletion_steps: deletion_steps(composition, finding, no_slices),
        },
        message,
        stuck: finding.is_stuck(now, *patience),
        waiting_since: finding.waiting_since,
        creation_timestamp: metadata.creation_timestamp,
        deletion_timestamp: metadata.deletion_timestamp,
        because: because(asked, composition),
        next: advice.for_composition(composition, blockers),
        blockers: BlockerItem::all(blockers),
        orphans: if needed { current.flat_map(resources::left).map(Into::into).collect() } else { vec![] },
        now,
    }
}

fn unknown(asked: &Asked<'_>, why: &str) -> Explanation {
    Explanation {
        kind: Composition::KIND,
        namespace: asked.namespace.to_owned(),
        name: asked.name.to_owned(),
        says: Says::Composition { state: UNKNOWN, syntheses: vec![], slices: vec![], deletion_steps: vec![] },
        message: format!("it could not be read: {why}"),
        because: vec![fact(format!("composition/{}", asked.name), why)],
        next: asked.advice.for_unknown(),
        ..Explanation::of_nothing(asked.snapshot.now)
    }
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
    because.extend(facts::summary(composition));
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
        slices: synthesis.resource_slices.iter().map(|slice| slice.name.to_string()).collect(),
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
fn deletion_steps(composition: &Composition, finding: &CompositionFinding<'_>, no_slices: bool) -> Vec<DeletionStep> {
    if !composition.metadata.is_deleting() {
        return vec![];
    }
    let finished = is_finished(composition);
    // What Eno says of the composition is not enough: the rules ask the slices too.
    let of_slices = || finding.undone_slice();
    let undone = composition
        .status
        .current_synthesis
        .as_ref()
        .and_then(|_| reconciled_deletion(composition).err().or_else(of_slices));
    let dependents = finding.blockers.iter().any(|blocker| {
        matches!(
            blocker,
            Blocker::DependentsExist { .. } | Blocker::StaleDependents { .. } | Blocker::CircularDependency { .. }
        )
    });
    let foreign = finding.blockers.iter().any(|blocker| matches!(blocker, Blocker::ForeignFinalizer { .. }));
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
