//! What became of a slice, as it is told.

use std::fmt;

use eno_shared::api::{Kind, ResourceSlice};
use eno_shared::names::ENO_GROUP;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::plan::Step;
use crate::cli::{CleanupAction, DryRun};
use crate::failure::Failure;

/// What became of a slice.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was done, or would have been.
    Done {
        action: CleanupAction,
        /// Eno's finalizer came off.
        released: bool,
    },
    /// It did not exist any more.
    Gone,
    /// It has changed since the preview, and this is why nothing was done.
    Skipped(String),
    /// A request failed.
    Failed(Failure),
}

impl Outcome {
    /// In kubectl's words.
    pub fn lines(&self, step: &Step, dry_run: DryRun) -> Vec<String> {
        let (name, suffix) = (step.resource_name(), dry_run.suffix());
        match self {
            Outcome::Done { action: CleanupAction::Collect, .. } => vec![format!(
                "{}.{ENO_GROUP} \"{}\" deleted from {} namespace{suffix}",
                ResourceSlice::SINGULAR,
                step.name,
                step.namespace
            )],
            Outcome::Done { action: CleanupAction::Release, .. } => vec![format!("{name} finalizer released{suffix}")],
            Outcome::Gone => vec![format!("{name} is gone already")],
            Outcome::Skipped(why) => vec![format!("{name} skipped: changed since preview: {why}")],
            Outcome::Failed(failure) => vec![format!("{name} failed: {failure}")],
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Outcome::Done { action: CleanupAction::Collect, .. } => "deleted",
            Outcome::Done { action: CleanupAction::Release, .. } => "released",
            Outcome::Gone => "gone",
            Outcome::Skipped(_) => "skipped",
            Outcome::Failed(_) => "failed",
        }
    }
}

/// One item of `-o json`.
pub(super) fn item(step: &Step, outcome: &Outcome, now: Timestamp) -> Value {
    let (released, why) = match outcome {
        Outcome::Done { released, .. } => (*released, None),
        Outcome::Gone => (false, None),
        Outcome::Skipped(why) => (false, Some(why.clone())),
        Outcome::Failed(failure) => (false, Some(failure.to_string())),
    };
    json!({
        "namespace": step.namespace, "name": step.name, "uid": step.uid,
        "composition": Some(&step.composition).filter(|name| !name.is_empty()),
        "action": step.action.as_str(), "reason": step.reason.as_str(), "message": step.reason.to_string(),
        "creationTimestamp": step.created, "previewTimestamp": now,
        "outcome": outcome.word(), "finalizerReleased": released, "why": why,
    })
}

/// How many ended how.
#[derive(Debug, Default)]
pub(super) struct Tally {
    changed: usize,
    /// Of those, deleted and still held by finalizers.
    held: usize,
    gone: usize,
    skipped: usize,
    pub failed: usize,
}

impl Tally {
    /// Counts.
    pub fn of<'o>(outcomes: impl Iterator<Item = &'o Outcome>, dry_run: DryRun) -> Self {
        let mut tally = Tally::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Done { released, .. } => {
                    tally.changed += 1;
                    tally.held += usize::from(!released && dry_run == DryRun::None);
                }
                Outcome::Gone => tally.gone += 1,
                Outcome::Skipped(_) => tally.skipped += 1,
                Outcome::Failed(_) => tally.failed += 1,
            }
        }
        tally
    }

    /// All of them.
    pub fn all(&self) -> usize {
        self.changed + self.gone + self.skipped + self.failed
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { changed, held, gone, skipped, failed } = self;
        let held = if *held > 0 { format!(" ({held} still with finalizers)") } else { String::new() };
        let gone = if *gone > 0 { format!("{gone} gone already, ") } else { String::new() };
        write!(f, "{changed} changed{held}, {gone}{skipped} skipped, {failed} failed")
    }
}
