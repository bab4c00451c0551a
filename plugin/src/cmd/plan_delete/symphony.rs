//! The deletion of a symphony.

use eno_shared::admission::composition::delete_symphony;
use eno_shared::api::{Composition, Symphony};
use eno_shared::names::{FORCE_DELETE_WHEN_SYMPHONY_GONE, SYMPHONY_DELETING};
use eno_shared::owner::symphony_owner;

use super::Asked;
use super::composition::left;
use super::danger::Danger;
use super::plan::Plan;
use crate::cli::Cascade;
use crate::cmd::why::shell::quoted;
use crate::cmd::why::target::Kind;
use crate::finding::composition::CompositionFinding;
use crate::surroundings::owned_by;

/// A symphony, among the compositions of its namespace.
pub(super) fn plan(asked: &Asked<'_>, symphony: &Symphony) -> Plan {
    let Asked { snapshot, namespace, name, cascade } = *asked;
    let webhook = delete_symphony(symphony, cascade.propagation()).into();
    let mut plan = Plan::new(Kind::Symphony, namespace, name, cascade, webhook);
    let compositions = snapshot.namespaces.compositions(namespace);
    let owned: Vec<&Composition> = owned_by(name, compositions).collect();
    if symphony.metadata.is_deleting() {
        plan.message = "it is being deleted already; this is what is left to do".to_owned();
    } else {
        plan.message = "it would be deleted; the resources of its compositions stay".to_owned();
        plan.command = Some(format!(
            "kubectl delete symphonies.eno.azure.io {} -n {} --cascade={}",
            quoted(name),
            quoted(namespace),
            cascade.as_str()
        ));
    }
    for composition in &owned {
        let what = format!("composition/{}", composition.metadata.name);
        plan.step(what.clone(), format!("labelled {SYMPHONY_DELETING}, so that its resources stay"));
        plan.step(what, "deleted, and its slices with it");
    }
    plan.step(format!("symphony/{name}"), "loses Eno's finalizer, and is gone");
    for composition in &owned {
        let finding = CompositionFinding::of(snapshot, namespace, &composition.metadata.name);
        let resources = finding.iter().flat_map(left).map(Into::into);
        // A composition that is deleted before it is labelled deletes some.
        match cascade {
            Cascade::Background if !is_partly_deleted(composition) => plan.left_behind.extend(resources),
            Cascade::Background | Cascade::Foreground | Cascade::Orphan => plan.at_risk.extend(resources),
        }
    }
    plan.dangers = dangers(asked, &owned);
    plan.cannot_tell = compositions.incomplete().is_some() && owned.is_empty();
    plan
}

/// Is it being deleted as one whose resources go too?
fn is_partly_deleted(composition: &Composition) -> bool {
    composition.metadata.is_deleting() && composition.metadata.label(SYMPHONY_DELETING) != Some("true")
}

fn dangers(asked: &Asked<'_>, owned: &[&Composition]) -> Vec<Danger> {
    let names = |is: &dyn Fn(&&&Composition) -> bool| -> Vec<String> {
        owned.iter().filter(is).map(|composition| composition.metadata.name.clone()).collect()
    };
    let mut dangers = vec![Danger::SymphonyOrphans];
    if asked.cascade == Cascade::Foreground {
        dangers.push(Danger::SlicesGoFirst);
    }
    if asked.cascade == Cascade::Orphan {
        dangers.push(Danger::OwnerLost);
    }
    let partly = names(&|one| is_partly_deleted(one));
    if !partly.is_empty() {
        dangers.push(Danger::PartlyOrphaned { compositions: partly });
    }
    let forced = names(&|one| one.metadata.annotation(FORCE_DELETE_WHEN_SYMPHONY_GONE) == Some("true"));
    if !forced.is_empty() {
        dangers.push(Danger::ForcedWithSymphony { compositions: forced });
    }
    let all = asked.snapshot.namespaces.compositions(asked.namespace).found();
    let namesakes = all.filter(|one| {
        let metadata = &one.metadata;
        metadata.controller().is_some_and(|owner| owner.name == asked.name) && symphony_owner(metadata).is_none()
    });
    let namesakes: Vec<String> = namesakes.map(|one| one.metadata.name.clone()).collect();
    if !namesakes.is_empty() {
        dangers.push(Danger::NamesakeOwned { compositions: namesakes });
    }
    dangers
}
