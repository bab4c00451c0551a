//! Rows C4 and C5: requests on compositions, and the deletion of a symphony.

use super::{Answer, Ground, named, why};
use crate::api::{Composition, ResourceSlice, Symphony};
use crate::lookup::Lookup;
use crate::names::{CLEANUP_FINALIZER, FORCE_DELETE_WHEN_SYMPHONY_GONE};
use crate::owner::symphony_owner;
use crate::usage::{Undone, done_with, goes_without_eno, orphans_resources, reconciled_deletion};

/// Does the update take Eno's finalizer away?
#[must_use]
pub fn drops_finalizer(old: &Composition, new: &Composition) -> bool {
    old.metadata.has_cleanup_finalizer() && !new.metadata.has_cleanup_finalizer()
}

/// What must be read to judge whether a composition may lose its finalizer; most need nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Name of the owning symphony, where its absence would decide.
    pub symphony: Option<String>,
    /// Names of the slices whose state decides.
    pub slices: Vec<String>,
}

/// What was read of it, live.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The owning symphony; `None` where it was not wanted.
    pub symphony: Option<Lookup<Symphony>>,
    /// The slices that were wanted, by name.
    pub slices: Vec<(String, Lookup<ResourceSlice>)>,
}

/// Says what [`update`] will want to know.
#[must_use]
pub fn wanted(composition: &Composition) -> Wanted {
    let mut wanted = Wanted::default();
    let Some(current) = &composition.status.current_synthesis else { return wanted };
    if !composition.metadata.is_deleting() {
        return wanted;
    }
    if composition.metadata.annotation(FORCE_DELETE_WHEN_SYMPHONY_GONE) == Some("true") {
        wanted.symphony = symphony_owner(&composition.metadata).map(|owner| owner.name.clone());
    }
    if reconciled_deletion(composition).is_ok() && !orphans_resources(composition) {
        wanted.slices = current.resource_slices.iter().map(|slice| slice.name.to_string()).collect();
    }
    wanted
}

/// C4: may the composition `old` lose Eno's finalizer? Only what Eno does itself may pass.
#[must_use]
pub fn update(old: &Composition, evidence: &Evidence) -> Answer {
    judge_update(old, evidence).of_composition(&old.metadata.name)
}

fn judge_update(old: &Composition, evidence: &Evidence) -> Answer {
    let object = named(old);
    if !old.metadata.is_deleting() {
        let message = format!(
            "{object} must keep its finalizer (CompositionLive): it is not being deleted, and a later deletion would orphan its resources. Next: {}",
            why(old)
        );
        return Answer::deny(Ground::CompositionLive, message);
    }
    if old.status.current_synthesis.is_none() {
        return Answer::allow(Ground::NoCurrentSynthesis, format!("{object} was never synthesized"));
    }
    if let Some(Lookup::Missing) = evidence.symphony {
        return Answer::allow(Ground::SymphonyGone, format!("{object} asks to go with its symphony, which is gone"));
    }
    let undone = match undone(old, evidence) {
        Ok(missing) if missing.is_empty() => {
            return Answer::allow(Ground::CompositionReconciled, format!("{object} is done with its resources"));
        }
        Ok(missing) => {
            let warning = format!(
                "{object}: {} of its slices do not exist ({}); resources listed only there may be orphaned",
                missing.len(),
                some_of(&missing)
            );
            return Answer::allow(Ground::ResourcesMayBeOrphaned, warning.clone()).warn(warning);
        }
        Err(undone) => undone,
    };
    // Only what would have decided the other way makes the answer uncertain.
    match (&evidence.symphony, undone) {
        (Some(Lookup::Unknown(why)), _) => {
            Answer::retry(Ground::EvidenceUnknown, &object, format!("its symphony could not be read: {why}"))
        }
        (_, Undecided::Unknown { slice, why }) => {
            Answer::retry(Ground::EvidenceUnknown, &object, format!("its slice {slice} could not be read: {why}"))
        }
        (_, Undecided::Undone { slice, undone }) => {
            let blamed = slice.map_or(String::new(), |slice| format!(" (slice {slice})"));
            let message = format!(
                "{object} must keep its finalizer (NeededForDeletion): {undone}{blamed}. Its resources would be orphaned. Next: {}",
                why(old)
            );
            Answer::deny(Ground::NeededForDeletion, message)
        }
    }
}

/// Why a composition's end cannot be waved through.
enum Undecided {
    /// Something is not done.
    Undone { slice: Option<String>, undone: Undone },
    /// A slice could not be read.
    Unknown { slice: String, why: String },
}

/// The slices of current that do not exist, where all that do exist are done with.
fn undone(composition: &Composition, evidence: &Evidence) -> Result<Vec<String>, Undecided> {
    reconciled_deletion(composition).map_err(|undone| Undecided::Undone { slice: None, undone })?;
    let mut missing = vec![];
    let mut unknown = None;
    for (name, slice) in &evidence.slices {
        match slice {
            Lookup::Found(slice) => {
                let blame = |undone| Undecided::Undone { slice: Some(name.clone()), undone };
                done_with(composition, slice).map_err(blame)?;
            }
            Lookup::Missing => missing.push(name.clone()),
            Lookup::Unknown(why) => unknown = Some(Undecided::Unknown { slice: name.clone(), why: why.clone() }),
        }
    }
    unknown.map_or(Ok(missing), Err)
}

/// How the dependents of a deleted object are treated: `propagationPolicy` of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagation {
    /// After the object; the default of Eno's kinds.
    Background,
    /// Before the object.
    Foreground,
    /// Not at all: they lose their owner.
    Orphan,
}

/// C5: the deletion of a composition passes, with what it will do.
///
/// `dependents` are compositions that name this one in `dependsOn`, as far as they are known.
#[must_use]
pub fn delete(composition: &Composition, propagation: Propagation, dependents: &[String]) -> Answer {
    let object = named(composition);
    let mut answer = Answer::allow(Ground::NotGuarded, format!("{object} may be deleted"))
        .of_composition(&composition.metadata.name);
    if composition.metadata.is_deleting() {
        return answer;
    }
    let slices = composition.status.current_synthesis.as_ref().map_or(0, |current| current.resource_slices.len());
    if orphans_resources(composition) {
        answer = answer.warn(format!("{object}: its resources are left behind, as its deletion strategy asks"));
    } else if slices > 0 && goes_without_eno(composition) {
        answer = answer.warn(format!(
            "{object}: it lacks {CLEANUP_FINALIZER}, so it goes without Eno, and the resources of its {slices} slice(s) are orphaned; delete it once Eno has put that on"
        ));
    } else if slices > 0 {
        answer = answer.warn(format!("{object}: Eno deletes the resources of its {slices} slice(s), then the slices"));
    }
    if !dependents.is_empty() {
        answer = answer.warn(format!("{object}: waits until its dependents are gone: {}", some_of(dependents)));
    }
    if composition.status.in_flight_synthesis.is_some() {
        answer = answer.warn(format!("{object}: a synthesis is in flight; its slices are held until it has ended"));
    }
    match propagation {
        Propagation::Background => answer,
        Propagation::Foreground => answer.warn(format!(
            "{object}: with --cascade=foreground the collector asks for its slices before Eno is done; {} holds them back, which delays the end",
            crate::names::WEBHOOK_NAME
        )),
        Propagation::Orphan => answer.warn(format!(
            "{object}: with --cascade=orphan its slices lose their owner and Eno cannot finish; prefer --cascade=background"
        )),
    }
}

/// C5: the deletion of a symphony passes, with what it will do.
#[must_use]
pub fn delete_symphony(symphony: &Symphony, propagation: Propagation) -> Answer {
    let object = named(symphony);
    let answer = Answer::allow(Ground::NotGuarded, format!("{object} may be deleted"));
    if symphony.metadata.is_deleting() {
        return answer;
    }
    let answer = answer.warn(format!(
        "{object}: Eno leaves the resources of its compositions behind, by design; delete the compositions first to delete them too"
    ));
    match propagation {
        Propagation::Background => answer,
        Propagation::Foreground | Propagation::Orphan => answer.warn(format!(
            "{object}: with this cascade some compositions may be deleted normally and others orphaned; prefer --cascade=background"
        )),
    }
}

/// At most three names, and how many more.
fn some_of(names: &[String]) -> String {
    match names {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        all => all.join(", "),
    }
}
