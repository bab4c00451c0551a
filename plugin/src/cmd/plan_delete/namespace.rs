//! The deletion of a namespace, as far as it is Eno's.

use eno_shared::Lookup;
use eno_shared::admission::{self, Outcome};
use eno_shared::api::{Composition, Symphony};
use eno_shared::names::FORCE_DELETE_WHEN_SYMPHONY_GONE;
use eno_shared::stuck::Blocker;
use eno_shared::usage::orphans_resources;

use super::Asked;
use super::composition::left;
use super::danger::Danger;
use super::plan::{Plan, Webhook};
use crate::cmd::why::shell::quoted;
use crate::cmd::why::target::Kind;
use crate::finding::composition::CompositionFinding;
use crate::item::BlockerItem;
use crate::surroundings::{Listing, Namespace, RECREATION_REASON};

/// A namespace and all that it holds of Eno's.
pub(super) fn plan(asked: &Asked<'_>, namespace: &Lookup<Namespace>, symphonies: &Listing<Symphony>) -> Plan {
    let Asked { snapshot, name, cascade, .. } = *asked;
    let compositions = snapshot.namespaces.compositions(name);
    let mut plan = Plan::new(Kind::Namespace, "", name, cascade, webhook(asked));
    if namespace.found().is_some_and(Namespace::is_terminating) {
        plan.message = "it is being deleted already; this is what is left to do".to_owned();
    } else {
        plan.message = "it would be deleted, with all that is in it".to_owned();
        plan.command = Some(format!("kubectl delete namespace {} --cascade={}", quoted(name), cascade.as_str()));
    }
    let found: Vec<&Composition> = compositions.found().collect();
    plan.step(
        format!(
            "{} symphonies, {} compositions, {} slices",
            symphonies.items.len(),
            found.len(),
            snapshot.slices.len()
        ),
        "asked to go, in no order",
    );
    plan.step("new slices and synthesizer pods", "refused from now on");
    for composition in &found {
        let finding = CompositionFinding::of(snapshot, name, &composition.metadata.name);
        let left = finding.as_ref().map(left).unwrap_or_default();
        let what = format!("composition/{}", composition.metadata.name);
        plan.step(what, format!("waits until its {} resources are dealt with", left.len()));
        let (here, elsewhere): (Vec<_>, Vec<_>) = left.into_iter().partition(|one| one.namespace == name);
        plan.deleted.extend(here.into_iter().map(Into::into));
        let elsewhere = elsewhere.into_iter().map(Into::into);
        if orphans_resources(composition) {
            plan.left_behind.extend(elsewhere);
        } else {
            plan.at_risk.extend(elsewhere);
        }
        let blockers = finding.iter().flat_map(|finding| BlockerItem::all(&obstacles(finding)));
        plan.blockers.extend(blockers.map(|BlockerItem { code, message }| BlockerItem {
            code,
            message: format!("composition {}: {message}", composition.metadata.name),
        }));
    }
    plan.step(format!("namespace/{name}"), "gone");
    plan.dangers = dangers(namespace, &found);
    let incomplete =
        compositions.incomplete().or(snapshot.slices_incomplete.as_deref()).or(symphonies.incomplete.as_deref());
    plan.cannot_tell = incomplete.is_some();
    if let Some(why) = incomplete {
        plan.message += &format!("; it may hold more than this: {why}");
    }
    plan
}

/// What holds a composition up already, and will then too.
fn obstacles(finding: &CompositionFinding<'_>) -> Vec<Blocker> {
    let stays = |blocker: &&Blocker| {
        !matches!(blocker, Blocker::ResourcesLeft { .. } | Blocker::Unreconciled { .. } | Blocker::InputsMissing)
    };
    finding.blockers.iter().filter(stays).cloned().collect()
}

fn dangers(namespace: &Lookup<Namespace>, compositions: &[&Composition]) -> Vec<Danger> {
    let mut dangers = vec![];
    if compositions.iter().any(|composition| !orphans_resources(composition)) {
        dangers.push(Danger::SlicesGoFirst);
    }
    let names = |is: fn(&&&Composition) -> bool| -> Vec<String> {
        compositions.iter().filter(is).map(|composition| composition.metadata.name.clone()).collect()
    };
    let forced = names(|one| one.metadata.annotation(FORCE_DELETE_WHEN_SYMPHONY_GONE) == Some("true"));
    if !forced.is_empty() {
        dangers.push(Danger::ForcedWithSymphony { compositions: forced });
    }
    let depending = names(|one| !one.spec.depends_on.is_empty());
    if !depending.is_empty() {
        dangers.push(Danger::OrderMayBreak { compositions: depending });
    }
    if namespace.found().is_some_and(|one| one.metadata.annotation(RECREATION_REASON).is_some()) {
        dangers.push(Danger::MarkedNamespace);
    }
    dangers
}

/// Nothing is asked about the namespace itself; about each of its slices there is.
fn webhook(asked: &Asked<'_>) -> Webhook {
    let compositions = asked.snapshot.namespaces.compositions(asked.name);
    let slices = &asked.snapshot.slices;
    let held = slices.iter().filter(|seen| {
        admission::slice::delete(&seen.slice, compositions, asked.snapshot.now).outcome != Outcome::Allow
    });
    let message = format!(
        "it is not asked about namespaces; it would hold {} of {} slices back, each until Eno is done with it",
        held.count(),
        slices.len()
    );
    Webhook { outcome: Outcome::Allow.as_str(), ground: "NotGuarded", message, warnings: vec![] }
}
