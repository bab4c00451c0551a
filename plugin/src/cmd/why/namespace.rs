//! Why a namespace is as it is, as far as Eno's objects in it say.

use eno_shared::api::Symphony;
use eno_shared::stuck::{EnoObjects, namespace_blockers};
use eno_shared::usage::orphans_resources;

use super::Asked;
use super::explanation::{Explanation, Fact, Says};
use super::facts::{self, fact};
use crate::finding::composition::CompositionFinding;
use crate::item::BlockerItem;
use crate::item::composition::CompositionItem;
use crate::resources;
use crate::surroundings::{Listing, Namespace, RECREATION_REASON};

/// A namespace and all that it holds of Eno's.
pub(super) fn explain(asked: &Asked<'_>, namespace: &Namespace, symphonies: &Listing<Symphony>) -> Explanation {
    let Asked { snapshot, patience, advice, .. } = asked;
    let (metadata, now) = (&namespace.metadata, snapshot.now);
    let compositions = snapshot.namespaces.compositions(asked.namespace);
    let findings: Vec<CompositionFinding<'_>> =
        compositions.names().filter_map(|name| CompositionFinding::of(snapshot, asked.namespace, name)).collect();
    let objects =
        EnoObjects { symphonies: symphonies.items.len(), compositions: findings.len(), slices: snapshot.slices.len() };
    let terminating = namespace.is_terminating();
    let blockers = namespace_blockers(terminating, objects);
    let waiting_since = metadata.deletion_timestamp.filter(|_| !blockers.is_empty());
    let whole = incomplete(asked, symphonies).is_empty();
    let (state, message) = match (terminating, blockers.is_empty()) {
        (false, _) => ("Active", "it is not being deleted"),
        (true, false) => ("Terminating", "it is being deleted, and Eno's objects hold it"),
        (true, true) if whole => ("Terminating", "it is being deleted; none of Eno's objects hold it"),
        (true, true) => ("Terminating", "it is being deleted; none of Eno's objects that could be read hold it"),
    };
    let needed = snapshot.slices.iter().filter(|seen| {
        let mut referrers = compositions.current_referrers(&seen.metadata().name);
        terminating && referrers.any(|composition| !orphans_resources(composition))
    });
    // What lives in the namespace goes with it.
    let elsewhere = needed.flat_map(resources::left).filter(|resource| resource.namespace != asked.namespace);
    Explanation {
        kind: "Namespace",
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        orphans: elsewhere.map(Into::into).collect(),
        says: Says::Namespace {
            state,
            compositions: findings.iter().map(|finding| CompositionItem::new(finding, now, *patience)).collect(),
        },
        message: message.to_owned(),
        stuck: waiting_since.is_some_and(|since| now.duration_since(since) >= *patience),
        waiting_since,
        creation_timestamp: metadata.creation_timestamp,
        deletion_timestamp: metadata.deletion_timestamp,
        because: because(asked, namespace, symphonies, objects),
        next: advice.against_all(&blockers),
        blockers: BlockerItem::all(&blockers),
        ..Explanation::of_nothing(now)
    }
}

fn because(asked: &Asked<'_>, namespace: &Namespace, symphonies: &Listing<Symphony>, objects: EnoObjects) -> Vec<Fact> {
    let mut because = facts::life("", &namespace.metadata, asked.snapshot.now);
    let failing = namespace.status.conditions.iter().filter(|condition| condition.status == "True");
    because.extend(failing.map(|condition| {
        let message = condition.message.as_deref().unwrap_or_default();
        fact(format!("status.conditions {}", condition.r#type), message)
    }));
    if let Some(reason) = namespace.metadata.annotation(RECREATION_REASON) {
        let text = format!("it was re-created ({reason}): eno-reconciler deletes it, and all of Eno's objects in it");
        because.push(fact(format!("metadata.annotations {RECREATION_REASON}"), text));
    }
    let EnoObjects { symphonies: of_symphonies, compositions, slices } = objects;
    let text = format!("it holds {of_symphonies} symphonies, {compositions} compositions and {slices} slices of Eno's");
    because.push(fact("objects of the namespace", text));
    let others = |why| fact("objects of the namespace", format!("it may hold others: {why}"));
    because.extend(incomplete(asked, symphonies).into_iter().map(others));
    because
}

/// Why it may hold other objects of Eno's.
fn incomplete<'a>(asked: &'a Asked<'_>, symphonies: &'a Listing<Symphony>) -> Vec<&'a str> {
    let snapshot = asked.snapshot;
    let of_compositions = snapshot.namespaces.compositions(asked.namespace).incomplete();
    let whys = [symphonies.incomplete.as_deref(), of_compositions, snapshot.slices_incomplete.as_deref()];
    let mut whys: Vec<&str> = whys.into_iter().flatten().collect();
    whys.dedup();
    whys
}
