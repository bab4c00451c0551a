//! What is kept of a pod: what its end must tell, in little space, for there may be tens of thousands.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::pod::Pod;
use super::sandbox::{Sandbox, merge};
use crate::names::{POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};

/// What is kept of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// The node it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Box<str>>,
    /// Its service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account: Option<Box<str>>,
    /// Its labels as a selector has them, `a=b,c=d`: neither `=` nor `,` can be in one.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) labels: Box<str>,
    /// The last addresses it was seen with.
    #[serde(skip_serializing_if = "<[_]>::is_empty", rename = "podIPs")]
    pub pod_ips: Box<[Box<str>]>,
    /// What tells its sandbox.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub sandboxes: Box<[Sandbox]>,
    /// Until when it is given, once it is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// Does it only show a static pod?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mirror: bool,
}

impl Record {
    /// Of a pod as it is now, with what tells its sandbox.
    #[must_use]
    pub fn of(pod: &Pod, sandboxes: Vec<Sandbox>) -> Self {
        let labels: Vec<_> = pod.metadata.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Record {
            node: pod.spec.node_name.as_deref().filter(|node| !node.is_empty()).map(Into::into),
            service_account: pod.spec.service_account_name.as_deref().map(Into::into),
            labels: labels.join(",").into(),
            pod_ips: pod.addresses().map(Into::into).collect(),
            sandboxes: sandboxes.into(),
            deleted_at: pod.metadata.deletion_timestamp,
            mirror: pod.is_mirror(),
        }
    }

    /// Of a pod of which no more than its node and its composition (`NAMESPACE/NAME`) are known.
    pub(super) fn of_checkpoint(node: Option<String>, composition: Option<&str>) -> Self {
        let labels = composition.and_then(|composition| composition.split_once('/')).map(|(namespace, name)| {
            format!("{POD_COMPOSITION}={name},{POD_COMPOSITION_NAMESPACE}={namespace}").into()
        });
        Record { node: node.map(Into::into), labels: labels.unwrap_or_default(), ..Record::default() }
    }

    /// The composition that it works for, `NAMESPACE/NAME`, where it is a synthesizer's pod.
    pub(super) fn composition(&self) -> Option<String> {
        let value = |key: &str| {
            let mut labels = self.labels.split(',').filter_map(|label| label.split_once('='));
            labels.find_map(|(name, value)| (name == key && !value.is_empty()).then_some(value))
        };
        Some(format!("{}/{}", value(POD_COMPOSITION_NAMESPACE)?, value(POD_COMPOSITION)?))
    }

    /// Its labels.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<String, String> {
        let labels = self.labels.split(',').filter_map(|label| label.split_once('='));
        labels.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    /// What is kept once the pod was seen again, in the same sandbox: what is blank now is remembered.
    #[must_use]
    pub fn followed_by(&self, now: Record) -> Record {
        Record {
            sandboxes: merge(&self.sandboxes, &now.sandboxes).into(),
            pod_ips: if now.pod_ips.is_empty() { self.pod_ips.clone() } else { now.pod_ips },
            node: now.node.or_else(|| self.node.clone()),
            ..now
        }
    }
}
