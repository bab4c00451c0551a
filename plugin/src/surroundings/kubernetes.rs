//! Objects of Kubernetes' own, as far as they are read.

use eno_shared::api::Metadata;
use jiff::Timestamp;
use serde::Deserialize;

/// A namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Namespace {
    /// Its metadata.
    pub metadata: Metadata,
    /// What the namespace controller says.
    pub status: NamespaceStatus,
}

/// `status` of a namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NamespaceStatus {
    /// `Active` or `Terminating`.
    pub phase: String,
    /// Why its deletion takes long.
    pub conditions: Vec<Condition>,
}

/// A condition of a namespace or a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Its name.
    pub r#type: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// For people.
    pub message: Option<String>,
    /// When it became so.
    pub last_transition_time: Option<Timestamp>,
}

/// A pod.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Pod {
    /// Its metadata.
    pub metadata: Metadata,
    /// What it is to be.
    pub spec: PodSpec,
    /// What its node says.
    pub status: PodStatus,
}

/// `spec` of a pod.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node that it is bound to.
    pub node_name: Option<String>,
}

/// `status` of a pod.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: String,
    /// What has become of it.
    pub conditions: Vec<Condition>,
    /// One for each container that its node knows of.
    pub container_statuses: Vec<serde::de::IgnoredAny>,
}

impl Namespace {
    /// Is it being deleted?
    pub fn is_terminating(&self) -> bool {
        self.metadata.is_deleting() || self.status.phase == "Terminating"
    }
}
