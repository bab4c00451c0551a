//! What the rules say of one slice of a snapshot.

pub mod composition;
pub mod pod;

use eno_shared::api::ResourceSlice;
use eno_shared::owner::composition_owner;
use eno_shared::stuck::{Blocker, slice_blockers};
use eno_shared::{Compositions, Judgement, Lookup, Reason, Verdict, judge};
use jiff::{SignedDuration, Timestamp};

use crate::snapshot::{Namespaces, Seen};

/// Verdict and blockers of a slice.
#[derive(Debug)]
pub struct Finding<'s> {
    /// The slice.
    pub seen: &'s Seen,
    /// What may happen to it, and why.
    pub judgement: Judgement,
    /// What it waits for.
    pub blockers: Vec<Blocker>,
    /// Since when it waits, where it does.
    pub waiting_since: Option<Timestamp>,
    /// Its owner, where that is a composition.
    pub owner: Option<Owner>,
}

/// The owner of a slice.
#[derive(Debug)]
pub struct Owner {
    /// Its name.
    pub name: String,
    /// Its uid, as the slice names it.
    pub uid: String,
    /// What became of it.
    pub state: OwnerState,
}

/// What became of a slice's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerState {
    /// It exists, with the uid that the slice names.
    Found,
    /// Another one has its name.
    Replaced,
    /// It does not exist.
    Gone,
    /// It could not be read.
    Unknown,
}

impl OwnerState {
    /// Does the owner exist? `None` where nobody can say.
    pub fn found(self) -> Option<bool> {
        match self {
            OwnerState::Found => Some(true),
            OwnerState::Replaced | OwnerState::Gone => Some(false),
            OwnerState::Unknown => None,
        }
    }
}

impl<'s> Finding<'s> {
    /// Asks the rules.
    pub fn of(seen: &'s Seen, namespaces: &Namespaces, now: Timestamp) -> Self {
        let metadata = seen.metadata();
        let compositions = namespaces.compositions(&metadata.namespace);
        let judgement = match &seen.unreadable {
            Some(why) => {
                let reason = Reason::OwnerUnknown { why: why.clone() };
                Judgement { verdict: Verdict::Unknown, reason, wants_content: false }
            }
            None => judge(&seen.slice, compositions, now),
        };
        let blockers =
            slice_blockers(&seen.slice, &judgement, compositions, namespaces.terminating(&metadata.namespace));
        let waiting_since = if blockers.is_empty() { None } else { waiting_since(&seen.slice, compositions) };
        Finding { seen, judgement, blockers, waiting_since, owner: owner(&seen.slice, compositions) }
    }

    /// The sentence for people.
    pub fn message(&self) -> String {
        match &self.seen.unreadable {
            Some(why) => format!("it could not be read: {why}"),
            None => self.judgement.reason.to_string(),
        }
    }

    /// Does it wait for something, and for longer than patience lasts?
    pub fn is_stuck(&self, now: Timestamp, patience: SignedDuration) -> bool {
        self.waiting_since.is_some_and(|since| now.duration_since(since) >= patience)
    }
}

/// Since its deletion; for garbage that nobody collects, since the last change that can have made it garbage.
fn waiting_since(slice: &ResourceSlice, compositions: &Compositions) -> Option<Timestamp> {
    let metadata = &slice.metadata;
    if metadata.deletion_timestamp.is_some() {
        return metadata.deletion_timestamp;
    }
    let owner = composition_owner(metadata).map(|owner| compositions.get(&owner.name));
    let owner = owner.as_ref().and_then(|owner| owner.found());
    let replaced = owner.and_then(|owner| owner.status.current_synthesis.as_ref()?.synthesized);
    let deleted = owner.and_then(|owner| owner.metadata.deletion_timestamp);
    metadata.creation_timestamp.max(replaced).max(deleted)
}

fn owner(slice: &ResourceSlice, compositions: &Compositions) -> Option<Owner> {
    let owner = composition_owner(&slice.metadata)?;
    let state = match compositions.get(&owner.name) {
        Lookup::Found(composition) if composition.metadata.uid == owner.uid => OwnerState::Found,
        Lookup::Found(_) => OwnerState::Replaced,
        Lookup::Missing => OwnerState::Gone,
        Lookup::Unknown(_) => OwnerState::Unknown,
    };
    Some(Owner { name: owner.name.clone(), uid: owner.uid.clone(), state })
}
