//! Why a pod of a synthesizer is there.

use eno_shared::Lookup;
use eno_shared::api::{Composition, Metadata};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL, POD_COMPOSITION, POD_SYNTHESIS, POD_SYNTHESIZER};

use super::Asked;
use super::explanation::{Explanation, Fact, Says};
use super::facts::{self, fact};
use super::next::Step;
use super::shell::quoted;
use crate::age::age;
use crate::finding::pod::{PodFinding, composition_of};
use crate::item::BlockerItem;
use crate::surroundings::Pod;

/// A pod, with the compositions of the namespace that it works for.
pub(super) fn explain(asked: &Asked<'_>, pod: &Pod) -> Explanation {
    let (metadata, now) = (&pod.metadata, asked.snapshot.now);
    let finding = PodFinding::of(metadata, &asked.snapshot.namespaces, now);
    let mut next = asked.advice.against_all(&finding.blockers);
    let command = format!("kubectl describe pod {} -n {}", quoted(&metadata.name), quoted(&metadata.namespace));
    next.push(Step { what: "see what its node says of it".to_owned(), command: Some(command) });
    if let Some((_, name)) = composition_of(metadata) {
        next.push(asked.advice.why_composition("see what its composition waits for", name));
    }
    Explanation {
        kind: "Pod",
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        says: Says::Pod { state: finding.state, cause: finding.cause },
        stuck: finding.is_stuck(now, asked.patience),
        waiting_since: finding.waiting_since,
        creation_timestamp: metadata.creation_timestamp,
        deletion_timestamp: metadata.deletion_timestamp,
        because: because(asked, pod, finding.composition.as_ref()),
        next,
        blockers: BlockerItem::all(&finding.blockers),
        message: finding.message,
        ..Explanation::of_nothing(now)
    }
}

fn because(asked: &Asked<'_>, pod: &Pod, composition: Option<&Lookup<&Composition>>) -> Vec<Fact> {
    let (metadata, now) = (&pod.metadata, asked.snapshot.now);
    let mut because = labels(metadata, composition);
    if let Some(Lookup::Found(composition)) = composition {
        because.extend(facts::latest(composition, now));
    }
    because.push(match metadata.deletion_timestamp {
        None => fact("metadata.deletionTimestamp", "it is not being deleted"),
        Some(end) if end <= now => {
            fact("metadata.deletionTimestamp", format!("it was to have ended {} ago", age(Some(end), now)))
        }
        Some(end) => fact("metadata.deletionTimestamp", format!("it is to end within {}", age(Some(now), end))),
    });
    let node = pod.spec.node_name.as_deref().unwrap_or("none");
    because.push(fact("status.phase", format!("it is {} on node {node}", pod.status.phase)));
    let scheduled = pod.status.conditions.iter().find(|condition| condition.r#type == "PodScheduled");
    let since = scheduled.filter(|scheduled| scheduled.status == "True").and_then(|one| one.last_transition_time);
    if let (Some(since), true) = (since, pod.status.container_statuses.is_empty()) {
        let text = format!("its node has made no container in {}; Eno soon gives it up", age(Some(since), now));
        because.push(fact("status.containerStatuses", text));
    }
    because
}

fn labels(metadata: &Metadata, composition: Option<&Lookup<&Composition>>) -> Vec<Fact> {
    let mut labels = vec![];
    match (composition_of(metadata), composition) {
        (Some((namespace, name)), Some(composition)) => {
            let known = match composition {
                Lookup::Found(_) => "exists".to_owned(),
                Lookup::Missing => "does not exist".to_owned(),
                Lookup::Unknown(why) => format!("could not be read: {why}"),
            };
            let text = format!("it works for composition {namespace}/{name}, which {known}");
            labels.push(fact(format!("metadata.labels {POD_COMPOSITION}"), text));
        }
        (_, _) => labels.push(fact("metadata.labels", "it has no labels of Eno's that name a composition")),
    }
    for (label, what) in [(POD_SYNTHESIS, "synthesis"), (POD_SYNTHESIZER, "synthesizer")] {
        let value = metadata.label(label);
        labels.extend(value.map(|value| fact(format!("metadata.labels {label}"), format!("its {what} is {value}"))));
    }
    if metadata.label(MANAGED_BY_LABEL) != Some(MANAGED_BY_ENO) {
        let text = "it is not marked as Eno's: Eno does not see it";
        labels.push(fact(format!("metadata.labels {MANAGED_BY_LABEL}"), text));
    }
    labels
}
