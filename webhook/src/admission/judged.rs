//! An answer with what surrounds it: the object, the evidence, the patch, the override.

use eno_shared::admission::{Answer, Outcome, carries_override};
use eno_shared::api::{Kind, Metadata};
use eno_shared::names::ENO_API_VERSION;
use json_patch::Patch;

use crate::review::Request;

/// What was judged, and how.
#[derive(Debug)]
pub struct Judged {
    /// The object.
    pub subject: Subject,
    /// The answer of the rules, an override applied, the mode not.
    pub answer: Answer,
    /// What the answer rests on.
    pub evidence: Evidence,
    /// Change of the object that goes with the answer.
    pub patch: Option<Patch>,
    /// What became of an override.
    pub forced: Forced,
}

/// What an answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Live reads.
    Live,
    /// The objects in the review alone.
    Review,
    /// Nothing: something could not be read.
    None,
}

/// What became of an override.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forced {
    /// Nobody asked for one, or there was nothing to override.
    No,
    /// The request passes because of it.
    Granted,
    /// The requester may not.
    Refused,
    /// It could not be told whether the requester may.
    Unknown,
}

impl Judged {
    /// An answer about an object.
    #[must_use]
    pub fn new(subject: Subject, answer: Answer, evidence: Evidence) -> Self {
        let evidence = if answer.outcome == Outcome::Retry { Evidence::None } else { evidence };
        Judged { subject, answer, evidence, patch: None, forced: Forced::No }
    }

    pub(super) fn live<K: Kind>(object: &K, answer: Answer) -> Self {
        Self::new(Subject::of(object), answer, Evidence::Live)
    }

    pub(super) fn from_review<K: Kind>(object: &K, answer: Answer) -> Self {
        Self::new(Subject::of(object), answer, Evidence::Review)
    }

    /// The annotation on the object as it would be counts too.
    pub(super) fn or_overridden_by(mut self, new: &Metadata) -> Self {
        self.subject.carries_override |= carries_override(new);
        self
    }
}

impl Evidence {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Evidence::Live => "live",
            Evidence::Review => "review",
            Evidence::None => "none",
        }
    }
}

impl Forced {
    /// The word, where an override was asked for.
    #[must_use]
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Forced::No => None,
            Forced::Granted => Some("granted"),
            Forced::Refused => Some("refused"),
            Forced::Unknown => Some("unknown"),
        }
    }
}

/// The object of a review.
#[derive(Debug, Default, Clone)]
pub struct Subject {
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its kind; empty where that is not known.
    pub kind: &'static str,
    /// Its namespace; empty for what is not in one.
    pub namespace: String,
    /// Its name; empty where it has none yet.
    pub name: String,
    /// Its uid; empty where it has none yet.
    pub uid: String,
    /// Is the override annotation on it, with its own uid?
    pub carries_override: bool,
}

impl Subject {
    /// An object of Eno's.
    #[must_use]
    pub fn of<K: Kind>(object: &K) -> Self {
        Self::of_kind(ENO_API_VERSION, K::KIND, object.metadata())
    }

    pub(super) fn of_kind(api_version: &str, kind: &'static str, metadata: &Metadata) -> Self {
        Subject {
            api_version: api_version.to_owned(),
            kind,
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
            carries_override: carries_override(metadata),
        }
    }

    /// An object that does not decode: what the request says of it.
    #[must_use]
    pub fn of_request(request: &Request<'_>) -> Self {
        Subject { namespace: request.namespace.clone(), name: request.name.clone(), ..Subject::default() }
    }

    /// `ResourceSlice team-a/web-x1`
    #[must_use]
    pub fn title(&self) -> String {
        let kind = if self.kind.is_empty() { "the object" } else { self.kind };
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => kind.to_owned(),
            ("", name) => format!("{kind} {name}"),
            (namespace, "") => format!("{kind} in namespace {namespace}"),
            (namespace, name) => format!("{kind} {namespace}/{name}"),
        }
    }
}
