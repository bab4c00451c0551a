//! A plan: what `-o json` prints, and what the text is made of.

use eno_shared::admission::Answer;
use serde::Serialize;

use super::danger::Danger;
use crate::cli::Cascade;
use crate::cmd::why::target::Kind;
use crate::downstream::Resource;
use crate::item::BlockerItem;

/// What a deletion would do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    /// `Composition`, `Symphony`, `Namespace` or `ResourceSlice`.
    pub kind: &'static str,
    pub namespace: String,
    pub name: String,
    pub cascade: &'static str,
    /// In a sentence.
    pub message: String,
    /// What happens, in this order.
    pub steps: Vec<Step>,
    /// Resources that Eno deletes, or that go with their namespace.
    pub deleted: Vec<Resource>,
    /// Resources that Eno leaves behind, by design.
    pub left_behind: Vec<Resource>,
    /// Resources that may be left behind by accident.
    pub at_risk: Vec<Resource>,
    /// What the deletion would wait for.
    pub blockers: Vec<BlockerItem>,
    pub dangers: Vec<Danger>,
    /// What eno-webhook would answer, if it is installed.
    pub webhook: Webhook,
    /// The command that is planned; null where there is nothing to do.
    pub command: Option<String>,
    /// Is what decides unknown?
    #[serde(skip)]
    pub cannot_tell: bool,
    #[serde(skip)]
    pub target: Kind,
}

/// One thing that happens.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    /// `composition/web`, `3 resources` …
    pub what: String,
    pub happens: String,
}

/// What eno-webhook would answer.
#[derive(Debug, Serialize)]
pub(super) struct Webhook {
    /// `allow`, `deny` or `retry`.
    pub outcome: &'static str,
    pub ground: &'static str,
    pub message: String,
    pub warnings: Vec<String>,
}

impl From<Answer> for Webhook {
    fn from(answer: Answer) -> Self {
        Webhook {
            outcome: answer.outcome.as_str(),
            ground: answer.ground.as_str(),
            message: answer.message,
            warnings: answer.warnings,
        }
    }
}

impl Plan {
    /// An empty plan.
    pub(super) fn new(target: Kind, namespace: &str, name: &str, cascade: Cascade, webhook: Webhook) -> Self {
        let kind = match target {
            Kind::Slice => "ResourceSlice",
            Kind::Composition => "Composition",
            Kind::Symphony => "Symphony",
            Kind::Namespace => "Namespace",
            Kind::Pod => "Pod",
        };
        Plan {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            cascade: cascade.as_str(),
            message: String::new(),
            steps: vec![],
            deleted: vec![],
            left_behind: vec![],
            at_risk: vec![],
            blockers: vec![],
            dangers: vec![],
            webhook,
            command: None,
            cannot_tell: false,
            target,
        }
    }

    /// Adds what happens next.
    pub(super) fn step(&mut self, what: impl Into<String>, happens: impl Into<String>) {
        self.steps.push(Step { what: what.into(), happens: happens.into() });
    }

    /// `composition.eno.azure.io/NAME`
    pub(super) fn resource_name(&self) -> String {
        format!("{}/{}", self.target.full_name(), self.name)
    }
}
