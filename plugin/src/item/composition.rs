//! A composition as it is shown.

use eno_shared::api::{Composition, CompositionRef, Synthesis};
use eno_shared::owner::symphony_owner;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::BlockerItem;
use crate::finding::composition::{CompositionFinding, Progress};

mod column;

pub use column::COLUMNS;

/// The state of a composition that cannot be read.
pub const UNKNOWN: &str = "Unknown";

/// One composition of `-o json`. Lists are never null; a null means that there is none, or that it was not read.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompositionItem {
    namespace: String,
    name: String,
    uid: String,
    state: &'static str,
    message: String,
    blockers: Vec<BlockerItem>,
    stuck: bool,
    /// Since when it waits; null where it waits for nothing.
    waiting_since: Option<Timestamp>,
    creation_timestamp: Option<Timestamp>,
    deletion_timestamp: Option<Timestamp>,
    finalizers: Vec<String>,
    synthesizer: Option<String>,
    symphony: Option<String>,
    depends_on: Vec<String>,
    syntheses: Syntheses,
    slices: Slices,
    /// Null where a slice was not read whole.
    resources: Option<Resources>,
}

/// The uuids of its syntheses.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Syntheses {
    current: Option<String>,
    previous: Option<String>,
    in_flight: Option<String>,
}

/// The slices of its current synthesis.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Slices {
    total: usize,
    missing: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Resources {
    total: usize,
    reconciled: usize,
    deleted: usize,
    failed: usize,
}

impl CompositionItem {
    /// From what the rules say.
    pub fn new(finding: &CompositionFinding<'_>, now: Timestamp, patience: SignedDuration) -> Self {
        let absent = Composition::default();
        let composition = finding.composition.as_ref().map_or(&absent, |composition| composition);
        let (metadata, status) = (&composition.metadata, &composition.status);
        let uuid = |synthesis: &Option<Synthesis>| synthesis.as_ref().map(|synthesis| synthesis.uuid.clone());
        let resources = finding.composition.as_ref().ok().and_then(|_| finding.progress());
        CompositionItem {
            namespace: finding.namespace.to_owned(),
            name: finding.name.to_owned(),
            uid: metadata.uid.clone(),
            state: finding.state().map_or(UNKNOWN, |state| state.as_str()),
            message: finding.message(),
            blockers: BlockerItem::all(&finding.blockers),
            stuck: finding.is_stuck(now, patience),
            waiting_since: finding.waiting_since,
            creation_timestamp: metadata.creation_timestamp,
            deletion_timestamp: metadata.deletion_timestamp,
            finalizers: metadata.finalizers.clone(),
            synthesizer: Some(composition.spec.synthesizer.name.clone()).filter(|name| !name.is_empty()),
            symphony: symphony_owner(metadata).map(|owner| owner.name.clone()),
            depends_on: composition.spec.depends_on.iter().map(|on| place(on, finding.namespace)).collect(),
            syntheses: Syntheses {
                current: uuid(&status.current_synthesis),
                previous: uuid(&status.previous_synthesis),
                in_flight: uuid(&status.in_flight_synthesis),
            },
            slices: Slices { total: finding.slices.len(), missing: finding.missing_slices() },
            resources: resources.map(|Progress { total, reconciled, deleted, failed }| Resources {
                total,
                reconciled,
                deleted,
                failed,
            }),
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

    /// Its state, in a word.
    pub fn state(&self) -> &'static str {
        self.state
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

    /// Its uid.
    pub fn uid(&self) -> &str {
        &self.uid
    }
}

/// `namespace/name` of a composition that is referred to.
fn place(on: &CompositionRef, home: &str) -> String {
    let namespace = if on.namespace.is_empty() { home } else { &on.namespace };
    format!("{namespace}/{}", on.name)
}
