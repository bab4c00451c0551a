//! The deletion of a composition.

use std::sync::Arc;

use eno_shared::admission::composition::delete;
use eno_shared::api::{BlockedBy, Composition, DependencyStatus, ResourceRef, ResourceSlice};
use eno_shared::names::FORCE_DELETE_WHEN_SYMPHONY_GONE;
use eno_shared::stuck::{Blocker, composition_blockers};
use eno_shared::usage::{current_lists, goes_without_eno, orphans_resources};
use eno_shared::{Compositions, Lookup};
use jiff::Timestamp;

use super::Asked;
use super::danger::Danger;
use super::plan::{Plan, Webhook};
use crate::cli::Cascade;
use crate::cmd::why::shell::quoted;
use crate::cmd::why::target::Kind;
use crate::finding::composition::CompositionFinding;
use crate::item::BlockerItem;
use crate::resources;
use crate::snapshot::Seen;

/// `None` where it does not exist.
pub(super) fn plan(asked: &Asked<'_>) -> Option<Plan> {
    let Asked { snapshot, namespace, name, cascade } = *asked;
    let finding = CompositionFinding::of(snapshot, namespace, name)?;
    let composition = match &finding.composition {
        Ok(composition) => *composition,
        Err(why) => {
            let message = format!("it could not be read: {why}");
            let (outcome, ground) = ("retry", "EvidenceUnknown");
            let webhook = Webhook { outcome, ground, message: message.clone(), warnings: vec![] };
            let plan = Plan::new(Kind::Composition, namespace, name, cascade, webhook);
            return Some(Plan { message, cannot_tell: true, ..plan });
        }
    };
    let compositions = snapshot.namespaces.compositions(namespace);
    let dependents = dependents(composition, compositions);
    let webhook = delete(composition, cascade.propagation(), &dependents).into();
    let mut plan = Plan::new(Kind::Composition, namespace, name, cascade, webhook);
    if composition.metadata.is_deleting() {
        plan.message = "it is being deleted already; this is what is left to do".to_owned();
    } else {
        plan.message = "it would be deleted".to_owned();
        plan.command = Some(format!(
            "kubectl delete compositions.eno.azure.io {} -n {} --cascade={}",
            quoted(name),
            quoted(namespace),
            cascade.as_str()
        ));
    }
    let left = left(&finding);
    dangers(&mut plan, asked, composition, &dependents, &left);
    plan.blockers = BlockerItem::all(&blockers(composition, &finding, &dependents, compositions, snapshot.now));
    steps(&mut plan, composition, &finding, &dependents, left.len());
    let resources = left.into_iter().map(Into::into).collect();
    match (orphans_resources(composition), cascade) {
        (true, _) => plan.left_behind = resources,
        (false, Cascade::Background) if !goes_without_eno(composition) => plan.deleted = resources,
        (false, _) => plan.at_risk = resources,
    }
    Some(plan)
}

/// The resources of its current synthesis that are not known to be deleted.
pub(super) fn left(finding: &CompositionFinding<'_>) -> Vec<ResourceRef> {
    let seen = finding.slices.iter().filter_map(|(_, seen)| seen.found().copied());
    let mut left: Vec<ResourceRef> = vec![];
    for resource in seen.flat_map(resources::left) {
        // A synthesizer may make one twice (S6).
        if !left.iter().any(|other| other.identity() == resource.identity()) {
            left.push(resource);
        }
    }
    left
}

/// The compositions of the namespace that depend on it.
fn dependents(composition: &Composition, compositions: &Compositions) -> Vec<String> {
    let home = &composition.metadata;
    let depends = |other: &&Composition| {
        other
            .spec
            .depends_on
            .iter()
            .any(|on| on.name == home.name && (on.namespace.is_empty() || on.namespace == home.namespace))
    };
    let dependents = compositions.found().filter(depends).filter(|other| other.metadata.name != home.name);
    dependents.map(|dependent| dependent.metadata.name.clone()).collect()
}

fn steps(
    plan: &mut Plan,
    composition: &Composition,
    finding: &CompositionFinding<'_>,
    dependents: &[String],
    resources: usize,
) {
    let slices = finding.slices.len();
    let counted = format!("{resources} resource{}", if resources == 1 { "" } else { "s" });
    let of_slices = format!("{slices} slice{}", if slices == 1 { "" } else { "s" });
    if goes_without_eno(composition) {
        plan.step(format!("composition/{}", plan.name.clone()), "goes at once: Eno's finalizer is not on it");
        plan.step(counted, "orphaned");
        plan.step(of_slices, "collected");
        return;
    }
    for dependent in dependents {
        plan.step(format!("composition/{dependent}"), "depends on it, and must be gone first");
    }
    if plan.cascade == Cascade::Foreground.as_str() {
        plan.step(of_slices.clone(), "asked to go at once, by the garbage collector");
    }
    if composition.status.in_flight_synthesis.is_some() {
        plan.step("the synthesis in flight", "ends, or is given up");
    }
    if plan.cascade == Cascade::Orphan.as_str() {
        plan.step(of_slices.clone(), "left without their owner");
    }
    let fate = if orphans_resources(composition) { "left behind" } else { "deleted by eno-reconciler" };
    plan.step(counted, fate);
    plan.step(format!("composition/{}", plan.name.clone()), "loses Eno's finalizer, and is gone");
    plan.step(of_slices, "collected");
}

fn dangers(plan: &mut Plan, asked: &Asked<'_>, composition: &Composition, dependents: &[String], left: &[ResourceRef]) {
    let orphans = orphans_resources(composition);
    match asked.cascade {
        Cascade::Background => {}
        Cascade::Foreground if orphans => {}
        Cascade::Foreground => plan.dangers.push(Danger::SlicesGoFirst),
        Cascade::Orphan => plan.dangers.push(Danger::OwnerLost),
    }
    if !left.is_empty() && goes_without_eno(composition) {
        plan.dangers.push(Danger::NotHeld);
    }
    if composition.metadata.annotation(FORCE_DELETE_WHEN_SYMPHONY_GONE) == Some("true") {
        plan.dangers.push(Danger::ForcedWithSymphony { compositions: vec![asked.name.to_owned()] });
    }
    if !dependents.is_empty() {
        plan.dangers.push(Danger::OrderMayBreak { compositions: dependents.to_vec() });
    }
    if !orphans {
        plan.dangers.extend(shared(asked, left));
    }
}

/// Resources that another composition makes too, as far as was read.
fn shared(asked: &Asked<'_>, left: &[ResourceRef]) -> Vec<Danger> {
    let compositions = asked.snapshot.namespaces.compositions(asked.namespace);
    let others = asked.snapshot.slices.iter().filter_map(|seen: &Seen| {
        let name = &seen.metadata().name;
        let other = compositions.current_referrers(name).find(|other| other.metadata.name != asked.name)?;
        (seen.metadata().namespace == asked.namespace && current_lists(other, name)).then_some((other, seen))
    });
    let dangers = others.flat_map(|(other, seen)| {
        let theirs = resources::left(seen);
        let both = theirs.into_iter().filter(|one| left.iter().any(|ours| ours.identity() == one.identity()));
        both.map(|resource| Danger::SharedResource {
            resource: resource.to_string(),
            composition: other.metadata.name.clone(),
        })
    });
    dangers.collect()
}

/// What would block it, told from the composition as it would be once Eno has seen the deletion.
fn blockers(
    composition: &Composition,
    finding: &CompositionFinding<'_>,
    dependents: &[String],
    compositions: &Compositions,
    now: Timestamp,
) -> Vec<Blocker> {
    if composition.metadata.is_deleting() {
        return finding.blockers.clone();
    }
    let mut then = composition.clone();
    then.metadata.deletion_timestamp = Some(now);
    if let Some(current) = &mut then.status.current_synthesis {
        current.observed_composition_generation = then.metadata.generation;
        current.reconciled = None;
    }
    let by = |name: &String| BlockedBy { name: name.clone(), namespace: then.metadata.namespace.clone() };
    let blocked_by: Vec<BlockedBy> = dependents.iter().map(by).collect();
    let reason = "WaitingOnDependents".to_owned();
    then.status.dependency_status = Some(DependencyStatus { blocked: !blocked_by.is_empty(), reason, blocked_by });
    let slices: Vec<(String, Lookup<&ResourceSlice>)> =
        finding.slices.iter().map(|(name, seen)| ((*name).to_owned(), seen.clone().map(|seen| &seen.slice))).collect();
    let mut known = compositions.clone();
    known.set(then.metadata.name.clone(), Lookup::Found(Arc::new(then.clone())));
    let mut blockers = composition_blockers(&then, &slices, &known, None);
    // That they are left is no obstacle yet.
    blockers.retain(|blocker| !matches!(blocker, Blocker::ResourcesLeft { .. } | Blocker::NobodyActs));
    blockers
}
