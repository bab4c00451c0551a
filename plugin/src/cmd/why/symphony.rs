//! Why a symphony is as it is.

use eno_shared::api::{Composition, Kind, Symphony};
use eno_shared::names::SYMPHONY_DELETING;
use eno_shared::stuck::symphony_blockers;

use super::Asked;
use super::explanation::{Explanation, Fact, Says};
use super::facts::{self, fact};
use crate::finding::composition::CompositionFinding;
use crate::item::BlockerItem;
use crate::item::composition::CompositionItem;
use crate::surroundings::{owned_by, symphony_state};

/// A symphony among the compositions of its namespace.
pub(super) fn explain(asked: &Asked<'_>, symphony: &Symphony) -> Explanation {
    let Asked { snapshot, namespace, patience, advice, .. } = asked;
    let (metadata, now) = (&symphony.metadata, snapshot.now);
    let owned: Vec<&Composition> = owned_by(&metadata.name, snapshot.namespaces.compositions(namespace)).collect();
    let blockers = symphony_blockers(symphony, &owned);
    let waiting_since = metadata.deletion_timestamp.or(symphony.status.synthesized).or(metadata.creation_timestamp);
    let waiting_since = waiting_since.filter(|_| !blockers.is_empty());
    let (state, message) = symphony_state(symphony);
    let names = owned.iter().map(|composition| composition.metadata.name.as_str());
    let findings = names.filter_map(|name| CompositionFinding::of(snapshot, namespace, name));
    Explanation {
        kind: Symphony::KIND,
        namespace: (*namespace).to_owned(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        says: Says::Symphony {
            state,
            compositions: findings.map(|finding| CompositionItem::new(&finding, now, *patience)).collect(),
        },
        message: message.to_owned(),
        stuck: waiting_since.is_some_and(|since| now.duration_since(since) >= *patience),
        waiting_since,
        creation_timestamp: metadata.creation_timestamp,
        deletion_timestamp: metadata.deletion_timestamp,
        because: because(asked, symphony, &owned),
        next: advice.against_all(&blockers),
        blockers: BlockerItem::all(&blockers),
        ..Explanation::of_nothing(now)
    }
}

fn because(asked: &Asked<'_>, symphony: &Symphony, owned: &[&Composition]) -> Vec<Fact> {
    let (metadata, status) = (&symphony.metadata, &symphony.status);
    let mut because = facts::life("", metadata, asked.snapshot.now);
    let seen = format!("eno-controller has seen generation {} of {}", status.observed_generation, metadata.generation);
    because.push(fact("status.observedGeneration", seen));
    let variations = symphony.spec.variations.len();
    let text = format!("it asks for {}, and owns {}", counted(variations), counted(owned.len()));
    because.push(fact("spec.variations", text));
    if let Some(why) = asked.snapshot.namespaces.compositions(asked.namespace).incomplete() {
        because.push(fact("compositions of the namespace", format!("it may own others: {why}")));
    }
    if metadata.is_deleting() {
        let labelled = owned.iter().filter(|one| one.metadata.label(SYMPHONY_DELETING) == Some("true")).count();
        let text = format!("{labelled} of {} are marked so that their resources stay", counted(owned.len()));
        because.push(fact(format!("compositions' label {SYMPHONY_DELETING}"), text));
        let deleting = owned.iter().filter(|one| one.metadata.is_deleting()).count();
        because.push(fact("compositions' metadata.deletionTimestamp", format!("{deleting} are being deleted")));
        if !metadata.has_cleanup_finalizer() && !metadata.finalizers.is_empty() {
            // S15
            let text = "Eno tries to put its own finalizer back, which the API server refuses: errors in its log";
            because.push(fact("metadata.finalizers", text));
        }
    }
    because
}

fn counted(compositions: usize) -> String {
    format!("{compositions} composition{}", if compositions == 1 { "" } else { "s" })
}
