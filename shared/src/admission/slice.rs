//! Rows C1 to C3: requests on slices.

use jiff::Timestamp;

use super::{Answer, Ground, named, why};
use crate::api::ResourceSlice;
use crate::compositions::Compositions;
use crate::judge::{judge, keepers, releasable};
use crate::lookup::Lookup;
use crate::owner::composition_owner;
use crate::verdict::{Judgement, Reason, Verdict};

/// C1: may the slice be deleted? For a deletecollection, asked of each item.
#[must_use]
pub fn delete(slice: &ResourceSlice, compositions: &Compositions, now: Timestamp) -> Answer {
    let object = named(slice);
    if slice.metadata.is_deleting() {
        return Answer::allow(Ground::AlreadyDeleting, format!("{object} is being deleted already"));
    }
    let Judgement { verdict, reason, .. } = judge(slice, compositions, now);
    match verdict {
        Verdict::Collect | Verdict::Wait => {
            let message = format!("{object} may go: {reason}");
            Answer::allow(Ground::Slice(reason), message)
        }
        Verdict::Keep if reason == Reason::Unowned => {
            // What could not be read may refer to it.
            if let Some(why) = compositions.incomplete() {
                return unknown(&object, Reason::ReferencesUnknown { why: why.to_owned() });
            }
            let warning = format!("{object}: {reason}; if Eno made resources from it, nothing deletes them");
            Answer::allow(Ground::Slice(reason), warning.clone()).warn(warning)
        }
        Verdict::Keep => {
            let keepers = keepers(slice, compositions);
            let released = releasable(slice, compositions);
            if released.verdict == Verdict::Release && keepers.iter().all(|keeper| keeper.metadata.is_deleting()) {
                let message = format!("{object} may go: {}", released.reason);
                return Answer::allow(Ground::Slice(released.reason), message);
            }
            let message = format!(
                "{object} must stay ({}): {reason}. Without it, Eno would orphan its resources. Next: {}",
                reason.as_str(),
                why(slice)
            );
            Answer::deny(Ground::Slice(reason), message)
        }
        Verdict::Unknown => unknown(&object, reason),
        // Of slices that are being deleted, and this one is not.
        Verdict::Hold | Verdict::Release => Answer::deny(Ground::Slice(reason), format!("{object} must stay")),
    }
}

/// What an update takes away from a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// Eno's finalizer.
    pub finalizer: bool,
    /// The composition that is its controller owner, or the uid of that.
    pub owner: bool,
}

impl Dropped {
    /// Compares the slice before and after.
    #[must_use]
    pub fn between(old: &ResourceSlice, new: &ResourceSlice) -> Self {
        let owner = |slice: &ResourceSlice| {
            composition_owner(&slice.metadata).map(|owner| (owner.name.clone(), owner.uid.clone()))
        };
        let old_owner = owner(old);
        Dropped {
            finalizer: old.metadata.has_cleanup_finalizer() && !new.metadata.has_cleanup_finalizer(),
            owner: old_owner.is_some() && old_owner != owner(new),
        }
    }

    /// Does it take away anything that is guarded?
    #[must_use]
    pub fn any(self) -> bool {
        self.finalizer || self.owner
    }
}

/// C2: may the update pass that takes `dropped` away from the slice `old`?
///
/// `cleanup_runs` says that this process collects the slices of finished compositions (A1): then an owner that exists must
/// stay on its slices, or they would be left as ownerless garbage.
#[must_use]
pub fn update(old: &ResourceSlice, dropped: Dropped, compositions: &Compositions, cleanup_runs: bool) -> Answer {
    let object = named(old);
    if !dropped.any() {
        return Answer::allow(Ground::NothingDropped, format!("{object} keeps its finalizer and its owner"));
    }
    if dropped.owner
        && cleanup_runs
        && let Some(owner) = composition_owner(&old.metadata)
        && let Lookup::Found(composition) = compositions.get(&owner.name)
        && composition.metadata.uid == owner.uid
    {
        let message = format!(
            "{object} must keep its owner (OwnerExists): composition {} exists, and its slices are cleaned up by it. Next: {}",
            owner.name,
            why(old)
        );
        return Answer::deny(Ground::OwnerExists, message).of_composition(&owner.name);
    }
    let Judgement { verdict, reason, .. } = releasable(old, compositions);
    match verdict {
        Verdict::Release => {
            let message = format!("{object} may be released: {reason}");
            Answer::allow(Ground::Slice(reason), message)
        }
        Verdict::Unknown => unknown(&object, reason),
        Verdict::Hold | Verdict::Keep | Verdict::Collect | Verdict::Wait => {
            let what = if dropped.finalizer { "finalizer" } else { "owner" };
            let message = format!(
                "{object} must keep its {what} ({}): {reason}. Without it, Eno would orphan its resources. Next: {}",
                reason.as_str(),
                why(old)
            );
            Answer::deny(Ground::Slice(reason), message)
        }
    }
}

/// C3: what to tell whoever creates the slice. It is never denied.
#[must_use]
pub fn created(slice: &ResourceSlice) -> Answer {
    let answer = Answer::allow(Ground::NotGuarded, "a new slice gets Eno's finalizer");
    if composition_owner(&slice.metadata).is_some() {
        return answer;
    }
    answer.warn(
        "this resourceslice has no composition as controller owner: Eno cannot clean it up, and fails on its deletion",
    )
}

fn unknown(object: &str, reason: Reason) -> Answer {
    let why = reason.to_string();
    Answer::retry(Ground::Slice(reason), object, why)
}
