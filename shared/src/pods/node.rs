//! What a pod's node adds: whether anything of the pod can still run there.

use serde::Deserialize;

use crate::lookup::Lookup;

/// A node, as far as it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Node {
    spec: NodeSpec,
    status: NodeStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct NodeSpec {
    taints: Vec<Taint>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Taint {
    key: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeStatus {
    conditions: Vec<super::pod::Condition>,
    node_info: NodeInfo,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeInfo {
    #[serde(rename = "bootID")]
    boot_id: String,
}

/// Taint that an operator sets on a node that is really off.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

impl Node {
    /// The id of its boot, where it says one.
    #[must_use]
    pub fn boot_id(&self) -> Option<&str> {
        Some(self.status.node_info.boot_id.as_str()).filter(|id| !id.is_empty())
    }

    /// Has nobody heard of it for long? (Not ready is another matter: it speaks.)
    #[must_use]
    pub fn is_lost(&self) -> bool {
        let ready = self.status.conditions.iter().find(|condition| condition.r#type == "Ready");
        ready.is_some_and(|ready| ready.status == "Unknown")
    }

    /// Did an operator say that it is off?
    #[must_use]
    pub fn is_out_of_service(&self) -> bool {
        self.spec.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE)
    }
}

/// Can nothing of a pod run any more, as far as Kubernetes can tell? `node` is the node it was bound to, if it was.
///
/// A node that is lost may run it still, and one that cannot be read may be lost. A node that is gone from the API, or
/// tainted out of service, is off.
#[must_use]
pub fn confirms_end(node: Option<&Lookup<Node>>) -> bool {
    match node {
        None | Some(Lookup::Missing) => true,
        Some(Lookup::Unknown(_)) => false,
        Some(Lookup::Found(node)) => node.is_out_of_service() || !node.is_lost(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(ready: &str, taints: serde_json::Value) -> Lookup<Node> {
        let node = json!({
            "spec": {"taints": taints},
            "status": {"conditions": [{"type": "Ready", "status": ready}], "nodeInfo": {"bootID": "b"}},
        });
        Lookup::Found(serde_json::from_value(node).unwrap())
    }

    #[test]
    fn a_lost_node_confirms_nothing_unless_it_is_known_to_be_off() {
        let off = json!([{"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoExecute"}]);
        assert!(confirms_end(None), "it was never bound to one");
        assert!(confirms_end(Some(&Lookup::Missing)));
        assert!(confirms_end(Some(&node("True", json!([])))));
        assert!(confirms_end(Some(&node("False", json!([])))), "it speaks");
        assert!(!confirms_end(Some(&node("Unknown", json!([])))));
        assert!(confirms_end(Some(&node("Unknown", off))));
        assert!(!confirms_end(Some(&Lookup::Unknown("forbidden".into()))));
    }
}
