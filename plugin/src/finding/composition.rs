//! What the rules say of one composition of a snapshot.

use eno_shared::api::{Composition, Content, ResourceSlice};
use eno_shared::stuck::{Blocker, composition_blockers, manifest_blockers};
use eno_shared::usage::{Undone, done_with, is_finished};
use eno_shared::{CompositionState, Lookup};
use jiff::{SignedDuration, Timestamp};

use crate::snapshot::{Seen, Snapshot};

/// State and blockers of a composition.
#[derive(Debug)]
pub struct CompositionFinding<'s> {
    /// Its namespace.
    pub namespace: &'s str,
    /// Its name.
    pub name: &'s str,
    /// The composition, or why it could not be read.
    pub composition: Result<&'s Composition, String>,
    /// The slices of its current synthesis, as they were looked up.
    pub slices: Vec<(&'s str, Lookup<&'s Seen>)>,
    /// What it waits for.
    pub blockers: Vec<Blocker>,
    /// Since when it waits, where it does.
    pub waiting_since: Option<Timestamp>,
}

/// Resources of the current synthesis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// In all.
    pub total: usize,
    /// Made as they should be.
    pub reconciled: usize,
    /// Known not to exist any more.
    pub deleted: usize,
    /// With an error.
    pub failed: usize,
}

impl<'s> CompositionFinding<'s> {
    /// Asks the rules. `None` where the composition does not exist.
    pub fn of(snapshot: &'s Snapshot, namespace: &'s str, name: &'s str) -> Option<Self> {
        let compositions = snapshot.namespaces.compositions(namespace);
        let composition = match compositions.get(name) {
            Lookup::Found(composition) => composition,
            Lookup::Missing => return None,
            Lookup::Unknown(why) => {
                let (slices, blockers) = (vec![], vec![]);
                return Some(Self { namespace, name, composition: Err(why), slices, blockers, waiting_since: None });
            }
        };
        let current = composition.status.current_synthesis.iter().flat_map(|synthesis| &synthesis.resource_slices);
        let slices: Vec<_> = current.map(|slice| (&*slice.name, snapshot.look_up(namespace, &slice.name))).collect();
        let known: Vec<(String, Lookup<&ResourceSlice>)> =
            slices.iter().map(|(name, seen)| ((*name).to_owned(), of_slice(seen))).collect();
        let terminating = snapshot.namespaces.terminating(namespace);
        let mut blockers = composition_blockers(composition, &known, compositions, terminating);
        if is_at_work(composition) {
            let manifests: Vec<_> = slices.iter().filter_map(|(name, seen)| Some((*name, manifests(seen)?))).collect();
            blockers.extend(manifest_blockers(&manifests, composition.metadata.is_deleting()));
        }
        let waiting_since = if blockers.is_empty() { None } else { waiting_since(composition) };
        Some(Self { namespace, name, composition: Ok(composition), slices, blockers, waiting_since })
    }

    /// Where it is in its life; `None` where that cannot be told.
    pub fn state(&self) -> Option<CompositionState> {
        let state = CompositionState::of(self.composition.as_ref().ok()?);
        // What Eno says of the composition is not enough: the rules ask the slices too.
        let deleting = state == CompositionState::Deleted && self.undone_slice().is_some();
        Some(if deleting { CompositionState::Deleting } else { state })
    }

    /// Why one of its slices is not done with.
    pub fn undone_slice(&self) -> Option<Undone> {
        let composition = self.composition.as_ref().ok()?;
        self.slices.iter().find_map(|(_, seen)| done_with(composition, &seen.found()?.slice).err())
    }

    /// The sentence for people.
    pub fn message(&self) -> String {
        match (&self.composition, self.state()) {
            (Err(why), _) => format!("it could not be read: {why}"),
            (Ok(_), Some(state)) => state.message().to_owned(),
            (Ok(_), None) => String::new(),
        }
    }

    /// Does it wait for something, and for longer than patience lasts?
    pub fn is_stuck(&self, now: Timestamp, patience: SignedDuration) -> bool {
        self.waiting_since.is_some_and(|since| now.duration_since(since) >= patience)
    }

    /// How far its resources are. `None` where a slice was not read whole.
    pub fn progress(&self) -> Option<Progress> {
        self.slices.iter().try_fold(Progress::default(), |sum, (_, slice)| match slice {
            Lookup::Found(seen) => match &seen.slice.content {
                Content::Unread => None,
                Content::Read { resources, states, .. } => Some(Progress {
                    total: sum.total + resources,
                    reconciled: sum.reconciled + states.iter().filter(|state| state.reconciled).count(),
                    deleted: sum.deleted + states.iter().filter(|state| state.deleted).count(),
                    failed: sum.failed + states.iter().filter(|state| !state.reconciliation_error.is_empty()).count(),
                }),
            },
            // Nobody knows any more what it held.
            Lookup::Missing => Some(sum),
            Lookup::Unknown(_) => None,
        })
    }

    /// The slices of its current synthesis that do not exist.
    pub fn missing_slices(&self) -> usize {
        self.slices.iter().filter(|(_, slice)| matches!(slice, Lookup::Missing)).count()
    }
}

/// Has Eno still to do with its resources?
fn is_at_work(composition: &Composition) -> bool {
    let reconciled = composition.status.current_synthesis.as_ref().is_some_and(|current| current.reconciled.is_some());
    !is_finished(composition) && !reconciled
}

fn of_slice<'s>(seen: &Lookup<&'s Seen>) -> Lookup<&'s ResourceSlice> {
    match seen {
        Lookup::Found(seen) => Lookup::Found(&seen.slice),
        Lookup::Missing => Lookup::Missing,
        Lookup::Unknown(why) => Lookup::Unknown(why.clone()),
    }
}

fn manifests<'s>(seen: &Lookup<&'s Seen>) -> Option<&'s eno_shared::api::SliceManifests> {
    seen.found()?.manifests.as_ref()
}

/// Since its deletion, the begin of the synthesis in flight, or the end of the current one.
fn waiting_since(composition: &Composition) -> Option<Timestamp> {
    let (metadata, status) = (&composition.metadata, &composition.status);
    if metadata.deletion_timestamp.is_some() {
        return metadata.deletion_timestamp;
    }
    let begun = status.in_flight_synthesis.as_ref().and_then(|synthesis| synthesis.initialized);
    let written = status.current_synthesis.as_ref().and_then(|synthesis| synthesis.synthesized);
    metadata.creation_timestamp.max(begun).max(written)
}
