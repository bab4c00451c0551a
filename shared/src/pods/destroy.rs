//! What everyone who must know of a pod's end is told.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{DestroyCause, Sandbox};

/// A pod.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PodRef {
    /// Its namespace.
    pub namespace: String,
    /// Its name, which another pod may have by now.
    pub name: String,
    /// What tells it from that one.
    pub uid: String,
}

/// The end of a pod, or of the sandbox it ran in. It says that the API server no longer has it, which is all that can be
/// known from there: a container that was deleted by force may still run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Destroy {
    /// The same for every telling of the same end, also by another replica: see [`Destroy::id_of`].
    pub id: String,
    /// Counts the ends told of one uid, from 1: a pod may outlive some of its sandboxes.
    pub sequence: u64,
    /// How it ended.
    pub cause: DestroyCause,
    /// Whose end it is.
    pub pod: PodRef,
    /// The node it was bound to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<String>,
    /// The sandbox that ended, where it could be told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sandbox: Option<Sandbox>,
    /// The last addresses it was seen with. Others may have them by now.
    #[serde(skip_serializing_if = "Vec::is_empty", default, rename = "podIPs")]
    pub pod_ips: Vec<String>,
    /// Its labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub labels: BTreeMap<String, String>,
    /// Its service account.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub service_account: Option<String>,
    /// When we found out.
    pub observed_at: Timestamp,
    /// Until when it was given (its `deletionTimestamp`), where it was seen going.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deleted_at: Option<Timestamp>,
    /// Is it certain that nothing of it runs any more, as far as Kubernetes can tell? Not where its node was lost and is
    /// neither gone nor tainted out of service.
    pub confirmed: bool,
}

impl Destroy {
    /// The id of an end: a UUID of version 5 below the cluster's own uid (that of its namespace `kube-system`). A cluster
    /// whose uid is no UUID counts as the nil one.
    ///
    /// It is made of what has ended, and not of how that was found out. A pod ends once: whether its name was free or taken
    /// when somebody looked, and which of its sandboxes was known, may differ between two replicas, and a receiver must
    /// still see a repeat. Only where the pod goes on, the sandbox that has ended is a part of it.
    #[must_use]
    pub fn id_of(cluster: &str, uid: &str, sandbox: Option<&Sandbox>, cause: DestroyCause) -> String {
        let cluster = Uuid::try_parse(cluster).unwrap_or_default();
        let (source, id) = sandbox.map_or(("", ""), |sandbox| (&sandbox.source, &sandbox.id));
        let ended = match cause {
            DestroyCause::Gone | DestroyCause::Replaced => format!("{uid}\npod"),
            DestroyCause::Moved | DestroyCause::SandboxChanged => format!("{uid}\n{}\n{source}\n{id}", cause.as_str()),
        };
        Uuid::new_v5(&cluster, ended.as_bytes()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_one_id_whoever_tells_it() {
        let cluster = "6c84fb90-12c4-11e1-840d-7b25c5ee775a";
        let sandbox = |id: &str| Sandbox { source: "calico".into(), id: id.into() };
        let id = |uid, sandbox: Option<&Sandbox>, cause| Destroy::id_of(cluster, uid, sandbox, cause);
        let gone = id("u", None, DestroyCause::Gone);
        // Fixed for ever: receivers keep ids.
        assert_eq!(gone, "f8b05a82-d12e-5ffc-820d-920d78dd7328");
        assert_eq!(id("u", Some(&sandbox("1")), DestroyCause::Replaced), gone);
        let changed = id("u", Some(&sandbox("1")), DestroyCause::SandboxChanged);
        assert_ne!(changed, gone);
        assert_ne!(id("u", Some(&sandbox("2")), DestroyCause::SandboxChanged), changed);
        assert_ne!(id("v", None, DestroyCause::Gone), gone);
        assert_ne!(Destroy::id_of("no uuid", "u", None, DestroyCause::Gone), gone);
    }
}
