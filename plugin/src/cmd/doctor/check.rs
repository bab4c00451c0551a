//! What a check found.

use serde::Serialize;

use super::id::Id;

/// How many objects are named.
const FEW: usize = 5;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// All is well.
    Passed,
    /// Something should be looked at.
    Warning,
    /// Something is broken.
    Failed,
    /// It could not be told.
    Skipped,
}

/// One check, as `-o json` prints it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Check {
    pub id: Id,
    pub section: &'static str,
    pub outcome: Outcome,
    pub message: String,
    /// More of it, one line each.
    pub details: Vec<String>,
}

impl Check {
    pub(super) fn passed(id: Id, message: impl Into<String>) -> Self {
        Self::new(id, Outcome::Passed, message)
    }

    pub(super) fn warning(id: Id, message: impl Into<String>) -> Self {
        Self::new(id, Outcome::Warning, message)
    }

    pub(super) fn failed(id: Id, message: impl Into<String>) -> Self {
        Self::new(id, Outcome::Failed, message)
    }

    pub(super) fn skipped(id: Id, message: impl Into<String>) -> Self {
        Self::new(id, Outcome::Skipped, message)
    }

    fn new(id: Id, outcome: Outcome, message: impl Into<String>) -> Self {
        Check { id, section: id.section(), outcome, message: message.into(), details: vec![] }
    }

    /// With the first few of these, and how many more there are.
    pub(super) fn with_few(self, details: Vec<String>) -> Self {
        let more = details.len().saturating_sub(FEW);
        let more = (more > 0).then(|| format!("… {more} more"));
        self.with(details.into_iter().take(FEW)).with(more)
    }

    /// With more of it.
    pub(super) fn with(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }
}
