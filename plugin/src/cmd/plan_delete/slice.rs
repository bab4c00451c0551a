//! The deletion of a slice.

use eno_shared::admission::slice::delete;
use eno_shared::{Reason, Verdict};

use super::Asked;
use super::danger::Danger;
use super::plan::Plan;
use crate::cmd::why::shell::quoted;
use crate::cmd::why::target::Kind;
use crate::finding::Finding;
use crate::item::BlockerItem;
use crate::resources;

/// `None` where it does not exist.
pub(super) fn plan(asked: &Asked<'_>) -> Option<Plan> {
    let Asked { snapshot, namespace, name, cascade } = *asked;
    let seen = snapshot.slices.iter().find(|seen| seen.place() == (namespace, name))?;
    let compositions = snapshot.namespaces.compositions(namespace);
    let finding = Finding::of(seen, &snapshot.namespaces, snapshot.now);
    let webhook = delete(&seen.slice, compositions, snapshot.now).into();
    let mut plan = Plan::new(Kind::Slice, namespace, name, cascade, webhook);
    let (verdict, reason) = (finding.judgement.verdict, &finding.judgement.reason);
    plan.message = format!("{}: {}", verdict.as_str(), finding.message());
    plan.cannot_tell = verdict == Verdict::Unknown;
    if seen.metadata().is_deleting() {
        plan.blockers = BlockerItem::all(&finding.blockers);
    }
    let slice = format!("resourceslice/{name}");
    let needed = match (verdict, reason) {
        (Verdict::Keep, Reason::ReferencedByPrevious { .. }) => {
            plan.step(slice, "gone; Eno has less to compare the next synthesis with");
            false
        }
        (Verdict::Keep | Verdict::Hold, _) => {
            plan.step(slice.clone(), "marked as deleted, which cannot be undone");
            if let Some(composition) = reason.composition() {
                plan.step(format!("composition/{composition}"), "must make a new synthesis, or finish its deletion");
            }
            plan.step(slice, "gone");
            true
        }
        (Verdict::Collect | Verdict::Wait | Verdict::Release, _) => {
            plan.step(slice, "gone; nothing rests on it");
            false
        }
        (Verdict::Unknown, _) => true,
    };
    if needed {
        plan.dangers.push(Danger::TombstonesLost);
        plan.at_risk = resources::left(seen).into_iter().map(Into::into).collect();
    }
    if !seen.metadata().is_deleting() {
        let (name, namespace) = (quoted(name), quoted(namespace));
        plan.command = Some(format!("kubectl delete resourceslices.eno.azure.io {name} -n {namespace}"));
    }
    Some(plan)
}
