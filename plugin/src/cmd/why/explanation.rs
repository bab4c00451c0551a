//! An explanation: what `-o json` prints, and what the text is made of.

use jiff::Timestamp;
use serde::Serialize;

use super::target::Kind;
use crate::downstream::Resource;
use crate::item::composition::{CompositionItem, UNKNOWN};
use crate::item::{BlockerItem, Item};

/// Why an object is as it is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explanation {
    /// `ResourceSlice`, `Composition`, `Symphony`, `Namespace` or `Pod`.
    pub kind: &'static str,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// Of a slice: the verdict. Of others: the state.
    #[serde(flatten)]
    pub says: Says,
    /// The sentence that follows from the facts.
    pub message: String,
    pub stuck: bool,
    pub waiting_since: Option<Timestamp>,
    pub creation_timestamp: Option<Timestamp>,
    pub deletion_timestamp: Option<Timestamp>,
    pub because: Vec<Fact>,
    pub blockers: Vec<BlockerItem>,
    /// What nobody would delete, if the finalizers were removed by force.
    pub orphans: Vec<Resource>,
    pub next: Vec<super::next::Step>,
    /// The moment of which all this is true.
    pub now: Timestamp,
}

/// What differs between the kinds.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum Says {
    /// Of a slice.
    Slice { verdict: &'static str, reason: &'static str },
    /// Of a composition.
    Composition {
        state: &'static str,
        syntheses: Vec<SynthesisItem>,
        slices: Vec<Item>,
        /// Empty, unless it is being deleted.
        deletion_steps: Vec<DeletionStep>,
    },
    /// Of a symphony.
    Symphony { state: &'static str, compositions: Vec<CompositionItem> },
    /// Of a namespace.
    Namespace { state: &'static str, compositions: Vec<CompositionItem> },
    /// Of the pod of a synthesizer.
    Pod {
        state: &'static str,
        /// Why Eno has no use for it; null where it has, or where that cannot be told.
        cause: Option<&'static str>,
    },
}

/// A fact, and the field it is read from.
#[derive(Debug, Serialize)]
pub(super) struct Fact {
    pub fact: String,
    pub source: String,
}

/// A synthesis of a composition.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SynthesisItem {
    /// `current`, `previous` or `inFlight`.
    pub name: &'static str,
    pub uuid: String,
    pub initialized: Option<Timestamp>,
    pub synthesized: Option<Timestamp>,
    pub reconciled: Option<Timestamp>,
    pub canceled: Option<Timestamp>,
    pub slices: Vec<String>,
}

/// A step of a deletion, in Eno's order.
#[derive(Debug, Serialize)]
pub(super) struct DeletionStep {
    pub step: &'static str,
    pub done: bool,
}

impl Explanation {
    /// Is the verdict that was asked for Unknown?
    pub(super) fn cannot_tell(&self) -> bool {
        self.word() == UNKNOWN
    }

    /// The verdict or the state.
    pub(super) fn word(&self) -> &'static str {
        match &self.says {
            Says::Slice { verdict, .. } => verdict,
            Says::Composition { state, .. }
            | Says::Symphony { state, .. }
            | Says::Namespace { state, .. }
            | Says::Pod { state, .. } => state,
        }
    }

    /// `resourceslice.eno.azure.io/NAME`.
    pub(super) fn resource_name(&self) -> String {
        let kind = match &self.says {
            Says::Slice { .. } => Kind::Slice,
            Says::Composition { .. } => Kind::Composition,
            Says::Symphony { .. } => Kind::Symphony,
            Says::Namespace { .. } => Kind::Namespace,
            Says::Pod { .. } => Kind::Pod,
        };
        format!("{}/{}", kind.full_name(), self.name)
    }

    /// Of something that nothing is known of.
    pub(super) fn of_nothing(now: Timestamp) -> Self {
        Explanation {
            kind: "",
            namespace: String::new(),
            name: String::new(),
            uid: String::new(),
            says: Says::Pod { state: UNKNOWN, cause: None },
            message: String::new(),
            stuck: false,
            waiting_since: None,
            creation_timestamp: None,
            deletion_timestamp: None,
            because: vec![],
            blockers: vec![],
            orphans: vec![],
            next: vec![],
            now,
        }
    }
}
