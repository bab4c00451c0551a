//! Why a slice is as it is.

use eno_shared::api::Kind;
use eno_shared::api::ResourceSlice;
use eno_shared::{Lookup, Reason, Verdict};

use super::Asked;
use super::explanation::{Explanation, Fact, Says};
use super::facts::{self, fact};
use crate::finding::{Finding, OwnerState};
use crate::item::BlockerItem;
use crate::resources;

/// `None` where it does not exist.
pub(super) fn explain(asked: &Asked<'_>) -> Option<Explanation> {
    let Asked { snapshot, namespace, name, patience, advice } = asked;
    let now = snapshot.now;
    let seen = snapshot.slices.iter().find(|seen| seen.place() == (*namespace, *name))?;
    let finding = Finding::of(seen, &snapshot.namespaces, now);
    let metadata = seen.metadata();
    let needed = finding.judgement.verdict == Verdict::Hold;
    Some(Explanation {
        kind: ResourceSlice::KIND,
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        says: Says::Slice { verdict: finding.judgement.verdict.as_str(), reason: finding.judgement.reason.as_str() },
        message: finding.message(),
        stuck: finding.is_stuck(now, *patience),
        waiting_since: finding.waiting_since,
        creation_timestamp: metadata.creation_timestamp,
        deletion_timestamp: metadata.deletion_timestamp,
        because: because(asked, &finding),
        blockers: BlockerItem::all(&finding.blockers),
        orphans: if needed { resources::left(seen).into_iter().map(Into::into).collect() } else { vec![] },
        next: advice.for_slice(&finding, finding.is_stuck(now, *patience)),
        now,
    })
}

/// The facts, in the order in which the rules ask for them.
fn because(asked: &Asked<'_>, finding: &Finding<'_>) -> Vec<Fact> {
    let namespaces = &asked.snapshot.namespaces;
    let (compositions, now) = (namespaces.compositions(asked.namespace), asked.snapshot.now);
    let slice = &finding.seen.slice;
    if let Some(why) = &finding.seen.unreadable {
        return vec![fact("resourceslice", why)];
    }
    let mut because = facts::life("", &slice.metadata, now);
    because.push(facts::owner(finding, compositions));
    because.extend(facts::references(&slice.metadata.name, compositions));
    let found = finding.owner.as_ref().filter(|owner| owner.state == OwnerState::Found);
    let owner = found.map(|owner| compositions.get(&owner.name));
    let mut involved: Vec<_> = match owner {
        Some(Lookup::Found(owner)) => vec![owner],
        Some(Lookup::Missing | Lookup::Unknown(_)) | None => vec![],
    };
    if let Some(owner) = involved.first() {
        because.extend(facts::flight(owner, finding, now));
    }
    for referrer in compositions.current_referrers(&slice.metadata.name) {
        if !involved.iter().any(|other| other.metadata.name == referrer.metadata.name) {
            involved.push(referrer);
        }
    }
    because.extend(involved.iter().flat_map(|composition| facts::progress(composition, now)));
    if slice.metadata.is_deleting() {
        because.push(facts::resources(&slice.content));
    }
    if let Reason::TooNew { .. } = finding.judgement.reason {
        let age = crate::age::age(slice.metadata.creation_timestamp, now);
        because.push(fact("metadata.creationTimestamp", format!("it is {age} old")));
    }
    if namespaces.terminating(asked.namespace) == Some(true) {
        because.push(fact(format!("namespace/{}", asked.namespace), "its namespace is being deleted"));
    }
    because
}
