//! A slice as it is shown: one shape for JSON, YAML, jsonpath and the cells of tables.

use eno_shared::Verdict;
use eno_shared::api::{Content, ResourceState};
use eno_shared::stuck::Blocker;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::finding::{Finding, OwnerState};

mod column;
pub mod composition;
pub mod pod;

pub use column::{COLUMNS, Column, none};

/// One slice of `-o json`. Lists are never null; a null means that there is none, or that it was not read.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    namespace: String,
    name: String,
    uid: String,
    verdict: &'static str,
    reason: &'static str,
    message: String,
    /// Null where no composition owns it.
    composition: Option<OwnerItem>,
    blockers: Vec<BlockerItem>,
    stuck: bool,
    /// Since when it waits; null where it waits for nothing.
    waiting_since: Option<Timestamp>,
    creation_timestamp: Option<Timestamp>,
    deletion_timestamp: Option<Timestamp>,
    finalizers: Vec<String>,
    /// Null where only metadata was read.
    resources: Option<Resources>,
    /// Null where only metadata was read.
    #[serde(rename = "synthesisUUID")]
    synthesis_uuid: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct OwnerItem {
    name: String,
    uid: String,
    /// Null where that cannot be told.
    found: Option<bool>,
    #[serde(skip)]
    state: OwnerState,
}

/// One blocker of `-o json`.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct BlockerItem {
    /// Its code, of a closed list.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Resources {
    total: usize,
    deleted: usize,
    failed: usize,
}

/// The first code, and how many more there are.
pub fn first_and_more(codes: &[&str]) -> Option<String> {
    match codes {
        [] => None,
        [only] => Some((*only).to_owned()),
        [first, rest @ ..] => Some(format!("{first},+{}", rest.len())),
    }
}

impl BlockerItem {
    /// Blockers as they are shown.
    pub fn all(blockers: &[Blocker]) -> Vec<Self> {
        blockers.iter().map(|blocker| BlockerItem { code: blocker.code(), message: blocker.to_string() }).collect()
    }
}

impl Item {
    /// From what the rules say.
    pub fn new(finding: &Finding<'_>, now: Timestamp, patience: SignedDuration) -> Self {
        let metadata = finding.seen.metadata().clone();
        let (resources, synthesis_uuid) = match &finding.seen.slice.content {
            Content::Unread => (None, None),
            Content::Read { synthesis_uuid, resources, states } => {
                let count = |is: fn(&ResourceState) -> bool| states.iter().filter(|state| is(state)).count();
                let resources = Resources {
                    total: *resources,
                    deleted: count(|state| state.deleted),
                    failed: count(|state| !state.reconciliation_error.is_empty()),
                };
                (Some(resources), Some(synthesis_uuid.clone()))
            }
        };
        Item {
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
            verdict: finding.judgement.verdict.as_str(),
            reason: finding.judgement.reason.as_str(),
            message: finding.message(),
            composition: finding.owner.as_ref().map(|owner| OwnerItem {
                name: owner.name.clone(),
                uid: owner.uid.clone(),
                found: owner.state.found(),
                state: owner.state,
            }),
            blockers: BlockerItem::all(&finding.blockers),
            stuck: finding.is_stuck(now, patience),
            waiting_since: finding.waiting_since,
            creation_timestamp: metadata.creation_timestamp,
            deletion_timestamp: metadata.deletion_timestamp,
            finalizers: metadata.finalizers,
            resources,
            synthesis_uuid,
        }
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Is this the verdict?
    pub fn is(&self, verdict: Verdict) -> bool {
        self.verdict == verdict.as_str()
    }

    /// The sentence for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Does it wait, for longer than patience lasts?
    pub fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Since when it waits, where it does.
    pub fn waiting_since(&self) -> Option<Timestamp> {
        self.waiting_since
    }

    /// Is it being deleted?
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// When it was made.
    pub fn creation_timestamp(&self) -> Option<Timestamp> {
        self.creation_timestamp
    }

    /// The composition that owns it.
    pub fn composition(&self) -> Option<&str> {
        self.composition.as_ref().map(|owner| owner.name.as_str())
    }

    /// What it waits for, in a few letters.
    pub fn blocked_by(&self) -> String {
        let codes: Vec<&str> = self.blockers.iter().map(|blocker| blocker.code).collect();
        first_and_more(&codes).unwrap_or_else(none)
    }

    /// Its uid.
    pub fn uid(&self) -> &str {
        &self.uid
    }
}
