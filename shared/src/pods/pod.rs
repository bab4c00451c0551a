//! A pod as the API server sends it, as far as it is read.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use crate::api::Metadata;

/// Annotation of a mirror pod: what tells the static pod that it stands for.
const CONFIG_HASH: &str = "kubernetes.io/config.hash";
/// Annotation that only a mirror pod has.
const CONFIG_MIRROR: &str = "kubernetes.io/config.mirror";
/// Condition: the sandbox is made, and its network is set up.
const READY_TO_START: &str = "PodReadyToStartContainers";

/// A pod. All else that is sent of it is skipped while parsing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Pod {
    /// Its metadata.
    pub metadata: Metadata,
    /// What is read of its `spec`.
    pub spec: PodSpec,
    /// What is read of its `status`.
    pub status: PodStatus,
}

/// What is read of a pod's `spec`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node it is bound to.
    pub node_name: Option<String>,
    /// Its service account.
    pub service_account_name: Option<String>,
    /// Does it use its node's network?
    pub host_network: bool,
}

/// What is read of a pod's `status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// Its conditions.
    pub conditions: Vec<Condition>,
    /// Its addresses; blank ones come about at termination.
    #[serde(rename = "podIPs")]
    pub pod_ips: Vec<PodIp>,
}

/// A condition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Which.
    pub r#type: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Since when.
    pub last_transition_time: Option<Timestamp>,
}

/// An address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PodIp {
    /// The address.
    pub ip: String,
}

impl Pod {
    /// What tells it from all others: its uid. The mirror pod of a static pod is made again at will, with another uid, while
    /// the static pod runs on, so there it is made of place and hash of the static pod.
    ///
    /// The hash alone would not do: anyone who may create a pod may write what looks like a mirror pod, with the hash or the
    /// uid of another, and so tell its end, or hide it.
    #[must_use]
    pub fn identity(&self) -> Cow<'_, str> {
        let Metadata { namespace, name, uid, .. } = &self.metadata;
        match self.metadata.annotation(CONFIG_HASH) {
            Some(hash) if self.is_mirror() && !hash.is_empty() => {
                let of = Uuid::new_v5(&Uuid::nil(), format!("{namespace}/{name}/{hash}").as_bytes());
                // No uid begins so.
                Cow::Owned(format!("static-{of}"))
            }
            Some(_) | None => Cow::Borrowed(uid),
        }
    }

    /// Does it only show a static pod of its node?
    #[must_use]
    pub fn is_mirror(&self) -> bool {
        self.metadata.annotation(CONFIG_MIRROR).is_some()
    }

    /// Its addresses, without blank ones.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.status.pod_ips.iter().map(|address| address.ip.as_str()).filter(|ip| !ip.is_empty())
    }

    /// Since when its sandbox is ready; nothing while it is not, or nobody says so.
    #[must_use]
    pub fn ready_to_start_since(&self) -> Option<Timestamp> {
        let condition = self.status.conditions.iter().find(|condition| condition.r#type == READY_TO_START)?;
        condition.last_transition_time.filter(|_| condition.status == "True")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(annotations: serde_json::Value) -> Pod {
        serde_json::from_value(json!({"metadata": {"uid": "u", "annotations": annotations}})).unwrap()
    }

    #[test]
    fn a_mirror_pod_is_told_by_its_static_pod() {
        assert_eq!(pod(json!({})).identity(), "u");
        let mirror = pod(json!({CONFIG_HASH: "h", CONFIG_MIRROR: "h"}));
        let again = Metadata { uid: "v".into(), ..mirror.metadata.clone() };
        assert_eq!(Pod { metadata: again, ..mirror.clone() }.identity(), mirror.identity());
        assert_ne!(pod(json!({CONFIG_HASH: "i", CONFIG_MIRROR: "i"})).identity(), mirror.identity());
        // The kubelet's file source writes the hash on pods too that are no mirrors.
        assert_eq!(pod(json!({CONFIG_HASH: "h"})).identity(), "u");
        assert_eq!(pod(json!({CONFIG_HASH: "", CONFIG_MIRROR: ""})).identity(), "u");
    }

    /// Who may create pods in one namespace must not speak for those of another.
    #[test]
    fn what_looks_like_a_mirror_pod_cannot_pass_for_another() {
        let mirror = pod(json!({CONFIG_HASH: "h", CONFIG_MIRROR: "h"}));
        for (namespace, name) in [("other", ""), ("", "other")] {
            let metadata = Metadata { namespace: namespace.into(), name: name.into(), ..mirror.metadata.clone() };
            assert_ne!(Pod { metadata, ..mirror.clone() }.identity(), mirror.identity());
        }
        let forged = pod(json!({CONFIG_HASH: "6c84fb90-12c4-11e1-840d-7b25c5ee775a", CONFIG_MIRROR: ""}));
        assert_ne!(forged.identity(), "6c84fb90-12c4-11e1-840d-7b25c5ee775a");
        // It is a key of the outbox.
        let odd = pod(json!({CONFIG_HASH: "a b\n/..", CONFIG_MIRROR: ""})).identity().into_owned();
        assert!(
            odd.starts_with("static-") && odd.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
            "{odd}"
        );
    }

    #[test]
    fn reads_what_the_api_server_sends_and_skips_the_rest() {
        let pod: Pod = serde_json::from_value(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "namespace": "b", "uid": "u", "managedFields": [{"manager": "kubelet"}]},
            "spec": {"nodeName": "n", "serviceAccountName": "s", "containers": [{"name": "c"}]},
            "status": {
                "phase": "Running", "podIPs": [{"ip": ""}, {"ip": "10.0.0.1"}],
                "conditions": [
                    {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
                    {"type": READY_TO_START, "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z"},
                ],
            },
        }))
        .unwrap();
        assert_eq!(pod.spec.node_name.as_deref(), Some("n"));
        assert_eq!(pod.addresses().collect::<Vec<_>>(), ["10.0.0.1"]);
        assert_eq!(pod.ready_to_start_since(), Some("2026-01-01T00:00:01Z".parse().unwrap()));
        let not_ready = Condition { status: "False".into(), ..pod.status.conditions[1].clone() };
        let pod = Pod { status: PodStatus { conditions: vec![not_ready], ..pod.status }, ..pod };
        assert_eq!(pod.ready_to_start_since(), None);
    }
}
