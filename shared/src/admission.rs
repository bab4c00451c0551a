//! Part C: may a request pass? The state of the objects decides, never who asks.
//!
//! Rows C1 and C2 are in [`slice`], C4 and C5 in [`composition`], C6 in [`definition`]. C3, the finalizer for a new slice,
//! is [`patch::add_cleanup_finalizer`](crate::patch::add_cleanup_finalizer) with [`slice::created`]. C7 is
//! [`Outcome::Retry`]: what cannot be judged is refused, and may be tried again.
//!
//! The enforcement mode and the override are not in here: both are applied to the answer afterwards.

use std::fmt;

use crate::api::{Kind, Metadata};
use crate::names::{FORCE_ANNOTATION, WEBHOOK_NAME};
use crate::verdict::Reason;

pub mod composition;
pub mod definition;
pub mod slice;

/// May the request pass?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Yes.
    Allow,
    /// No.
    Deny,
    /// It cannot be told now: no, but try again (C7).
    Retry,
}

impl Outcome {
    /// The word, for logs, audit annotations and metric labels.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Allow => "allow",
            Outcome::Deny => "deny",
            Outcome::Retry => "retry",
        }
    }
}

/// What an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ground {
    /// The verdict on a slice.
    Slice(Reason),
    /// The object is being deleted already.
    AlreadyDeleting,
    /// The update drops nothing that is guarded.
    NothingDropped,
    /// The slice's owner exists, and our cleanup needs the owner reference to empty it once it is finished.
    OwnerExists,
    /// The composition is not being deleted.
    CompositionLive,
    /// Nothing was ever synthesized.
    NoCurrentSynthesis,
    /// The owning symphony does not exist, and the composition asks for its end in that case.
    SymphonyGone,
    /// Eno has deleted the composition's resources.
    CompositionReconciled,
    /// Eno is done, but slices that would have proved it do not exist.
    ResourcesMayBeOrphaned,
    /// The composition's resources are not all deleted.
    NeededForDeletion,
    /// A slice or symphony that decides could not be read.
    EvidenceUnknown,
    /// Objects of the kind exist.
    ObjectsExist,
    /// No object of the kind exists.
    NoObjects,
    /// Nothing is guarded here: the request is only remarked on.
    NotGuarded,
}

impl Ground {
    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Ground::Slice(reason) => reason.as_str(),
            Ground::AlreadyDeleting => "AlreadyDeleting",
            Ground::NothingDropped => "NothingDropped",
            Ground::OwnerExists => "OwnerExists",
            Ground::CompositionLive => "CompositionLive",
            Ground::NoCurrentSynthesis => "NoCurrentSynthesis",
            Ground::SymphonyGone => "SymphonyGone",
            Ground::CompositionReconciled => "CompositionReconciled",
            Ground::ResourcesMayBeOrphaned => "ResourcesMayBeOrphaned",
            Ground::NeededForDeletion => "NeededForDeletion",
            Ground::EvidenceUnknown => "EvidenceUnknown",
            Ground::ObjectsExist => "ObjectsExist",
            Ground::NoObjects => "NoObjects",
            Ground::NotGuarded => "NotGuarded",
        }
    }
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// May it pass?
    pub outcome: Outcome,
    /// Why.
    pub ground: Ground,
    /// The composition it rests on.
    pub composition: Option<String>,
    /// For people: the object, the composition, the reason and the next command.
    pub message: String,
    /// What the requester should know even though the request passes.
    pub warnings: Vec<String>,
}

impl Answer {
    fn allow(ground: Ground, message: impl Into<String>) -> Self {
        Self::new(Outcome::Allow, ground, message.into())
    }

    fn deny(ground: Ground, message: impl Into<String>) -> Self {
        Self::new(Outcome::Deny, ground, message.into())
    }

    fn retry(ground: Ground, object: &str, why: impl fmt::Display) -> Self {
        let message = format!(
            "{object} cannot be judged now ({ground}): {why}. Nothing was changed; try again. \
             If this stays, see the logs of {WEBHOOK_NAME}"
        );
        Self::new(Outcome::Retry, ground, message)
    }

    fn new(outcome: Outcome, ground: Ground, message: String) -> Self {
        let composition = match &ground {
            Ground::Slice(reason) => reason.composition().map(str::to_owned),
            Ground::AlreadyDeleting
            | Ground::NothingDropped
            | Ground::OwnerExists
            | Ground::CompositionLive
            | Ground::NoCurrentSynthesis
            | Ground::SymphonyGone
            | Ground::CompositionReconciled
            | Ground::ResourcesMayBeOrphaned
            | Ground::NeededForDeletion
            | Ground::EvidenceUnknown
            | Ground::ObjectsExist
            | Ground::NoObjects
            | Ground::NotGuarded => None,
        };
        Answer { outcome, ground, composition, message, warnings: vec![] }
    }

    fn of_composition(self, composition: &str) -> Self {
        Answer { composition: Some(composition.to_owned()), ..self }
    }

    fn warn(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }
}

/// Does the object carry the override annotation for itself? A uid makes a forgotten or copied annotation harmless.
///
/// The override counts only if the requester may also `force`; the caller asks the API server for that.
#[must_use]
pub fn carries_override(metadata: &Metadata) -> bool {
    !metadata.uid.is_empty() && metadata.annotation(FORCE_ANNOTATION) == Some(metadata.uid.as_str())
}

/// `resourceslice team-a/web-x1`
fn named<K: Kind>(object: &K) -> String {
    let Metadata { namespace, name, .. } = object.metadata();
    format!("{} {namespace}/{name}", K::SINGULAR)
}

/// `kubectl eno why resourceslice/web-x1 -n team-a`
fn why<K: Kind>(object: &K) -> String {
    let Metadata { namespace, name, .. } = object.metadata();
    format!("kubectl eno why {}/{name} -n {namespace}", K::SINGULAR)
}
