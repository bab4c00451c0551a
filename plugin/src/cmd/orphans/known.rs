//! Which resources are known, and which of them no slice holds.

use std::collections::{BTreeMap, BTreeSet};

use eno_shared::api::ResourceRef;
use eno_shared::owner::composition_owner;
use eno_shared::{Reason, Verdict, judge};

use crate::resources::held;
use crate::snapshot::{Seen, Snapshot};

/// Group, kind, namespace and name: Eno takes two versions of a kind for one.
type Identity = (String, String, String, String);

/// Where a resource is known from.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The namespace of the slice.
    pub namespace: String,
    /// The slice.
    pub slice: String,
    /// The owner of the slice.
    pub composition: Option<String>,
    /// Is that of a snapshot, and not of the cluster?
    pub from_snapshot: bool,
}

/// Resources, each with the first slice that it is known from.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<Identity, (Place, ResourceRef)>);

impl Known {
    /// Of the slices of a namespace, or of all.
    pub(super) fn of_slices(snapshot: &Snapshot, namespace: Option<&str>) -> Self {
        let mut known = Known::default();
        known.add(snapshot, namespace, false);
        known
    }

    /// Adds what a snapshot knows.
    pub(super) fn add_snapshot(&mut self, snapshot: &Snapshot, namespace: Option<&str>) {
        self.add(snapshot, namespace, true);
    }

    fn add(&mut self, snapshot: &Snapshot, namespace: Option<&str>, from_snapshot: bool) {
        let asked =
            snapshot.slices.iter().filter(|seen| namespace.is_none_or(|asked| asked == seen.metadata().namespace));
        for seen in asked {
            let metadata = seen.metadata();
            let place = Place {
                namespace: metadata.namespace.clone(),
                slice: metadata.name.clone(),
                composition: composition_owner(metadata).map(|owner| owner.name.clone()),
                from_snapshot,
            };
            for resource in resources(seen) {
                self.0.entry(identity(&resource)).or_insert_with(|| (place.clone(), resource));
            }
        }
    }
}

/// The known resources that no slice holds.
pub(super) fn candidates(snapshot: &Snapshot, Known(mut known): Known) -> Vec<(Place, ResourceRef)> {
    let holding = snapshot.slices.iter().filter(|seen| holds(seen, snapshot));
    let held: BTreeSet<Identity> = holding.flat_map(resources).map(|resource| identity(&resource)).collect();
    known.retain(|identity, _| !held.contains(identity));
    known.into_values().collect()
}

/// Does Eno still act on what the slice lists? Where that cannot be told, it may.
fn holds(seen: &Seen, snapshot: &Snapshot) -> bool {
    let compositions = snapshot.namespaces.compositions(&seen.metadata().namespace);
    let judgement = judge(&seen.slice, compositions, snapshot.now);
    match (judgement.verdict, &judgement.reason) {
        // The next synthesis was made without it.
        (Verdict::Keep, Reason::ReferencedByPrevious { .. } | Reason::Unowned) => false,
        (Verdict::Keep | Verdict::Hold | Verdict::Wait | Verdict::Unknown, _) => true,
        (Verdict::Collect | Verdict::Release, _) => false,
    }
}

fn resources(seen: &Seen) -> Vec<ResourceRef> {
    // What cannot be understood cannot be looked for.
    let known = held(seen).unwrap_or_default().into_iter().map(|held| held.resource);
    known.filter(|resource| resource.kind != crate::resources::UNKNOWN).collect()
}

fn identity(resource: &ResourceRef) -> Identity {
    let (group, kind, namespace, name) = resource.identity();
    (group.to_owned(), kind.to_owned(), namespace.to_owned(), name.to_owned())
}
