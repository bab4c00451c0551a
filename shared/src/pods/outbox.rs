//! What outlives a process: pods that are followed, and destroys that not everyone has been told.
//!
//! It lies in ConfigMaps of the webhook's namespace, written by the leader alone:
//!
//! ```text
//! metadata.labels       kubectl-eno.dev/pod-outbox: shard
//! metadata.annotations  kubectl-eno.dev/outbox-format: "1"
//!                       kubectl-eno.dev/cluster-uid: the uid of namespace kube-system
//! data                  one entry a pod: its uid, and an [`Entry`] as JSON
//! ```
//!
//! An entry lies in one shard, which one does not matter. A pod that lives has a short one, a checkpoint; one that is going
//! has all that its end must tell; one that has ended has the destroys that are still to be told, and by which sink.
//!
//! Shards of another format or of another cluster are refused whole, and left as they are. An entry that cannot be read is
//! left in its shard, and stops no other.
//!
//! # Asking for another delivery
//! `kubectl eno pods redeliver ID… | --all` and `drop` do not touch shards. They create a ConfigMap of any name:
//!
//! ```text
//! metadata.labels       kubectl-eno.dev/pod-outbox: request
//! data                  redeliver: ids of destroys, separated by white space, or `*` for all that are undelivered
//!                       drop: likewise; `*` takes dead letters only
//! ```
//!
//! The leader carries it out, and deletes it once the shards say so: whoever asked waits for that. Ids that are not in the
//! outbox (any more) are ignored, since what is delivered needs no other delivery.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::destroy::Destroy;
use super::record::Record;
use crate::names::{CLUSTER_UID, OUTBOX_FORMAT};

/// The format that is written, and the only one that is read.
pub const FORMAT: &str = "1";

/// What is kept of one pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// How it is followed, until it has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub following: Option<Following>,
    /// What not everyone has been told, in the order in which it came about.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub undelivered: Vec<Undelivered>,
}

/// How a pod is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Following {
    /// Since when something says that it is going.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub going_since: Option<Timestamp>,
    /// How many ends of it were told: of its sandboxes.
    #[serde(skip_serializing_if = "is_zero")]
    pub ends: u32,
    /// Its node, while it lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The composition that it works for, `NAMESPACE/NAME`, while it lives: its end concerns the slices of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub composition: Option<String>,
    /// All that its end must tell, once it is going.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A destroy that not everyone has been told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undelivered {
    /// What is to be told.
    pub destroy: Destroy,
    /// To whom, by the names of the sinks.
    pub sinks: BTreeMap<String, Delivery>,
}

/// How the delivery to one sink stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Delivery {
    /// It is tried until it succeeds.
    Pending,
    /// It was given up.
    Dead {
        /// Why.
        why: String,
        /// When.
        at: Timestamp,
    },
}

/// Why a shard is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Another version of this program wrote it.
    #[error("it is of format {0:?}, and this program reads {FORMAT:?}: run the version that wrote it, or delete it")]
    Format(String),
    /// It was copied here from another cluster, as backups are.
    #[error("it is of the cluster {0:?}, and not of this one: what it says is not true here; delete it")]
    Cluster(String),
}

/// What a shard holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shard {
    /// By uid.
    pub entries: Vec<(String, Entry)>,
    /// Keys of what cannot be read, and why.
    pub aside: Vec<(String, String)>,
}

/// The annotations of a shard.
#[must_use]
pub fn annotations(cluster: &str) -> BTreeMap<String, String> {
    [(OUTBOX_FORMAT, FORMAT), (CLUSTER_UID, cluster)].map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

/// Reads a shard.
///
/// # Errors
/// It is not of this format, or not of this cluster.
pub fn decode(
    annotations: &BTreeMap<String, String>,
    data: &BTreeMap<String, String>,
    cluster: &str,
) -> Result<Shard, Refused> {
    let value = |key| annotations.get(key).map_or("", String::as_str);
    if value(OUTBOX_FORMAT) != FORMAT {
        return Err(Refused::Format(value(OUTBOX_FORMAT).to_owned()));
    }
    if value(CLUSTER_UID) != cluster {
        return Err(Refused::Cluster(value(CLUSTER_UID).to_owned()));
    }
    let mut shard = Shard::default();
    for (uid, entry) in data {
        match serde_json::from_str(entry) {
            Ok(entry) => shard.entries.push((uid.clone(), entry)),
            Err(error) => shard.aside.push((uid.clone(), error.to_string())),
        }
    }
    Ok(shard)
}

impl Entry {
    /// As it is stored; nothing where there is nothing to keep.
    #[must_use]
    pub fn encode(&self) -> Option<String> {
        let is_empty = self.following.is_none() && self.undelivered.is_empty();
        (!is_empty).then(|| serde_json::to_string(self).expect("its maps have texts for keys"))
    }
}

/// A request to the leader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// To be told again.
    pub redeliver: Which,
    /// Not to be told any more.
    pub drop: Which,
}

/// Which destroys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// All there are.
    All,
    /// Those of these ids.
    Ids(Vec<String>),
}

impl Default for Which {
    fn default() -> Self {
        Which::Ids(vec![])
    }
}

impl Which {
    fn of(text: &str) -> Self {
        match text.trim() {
            "*" => Which::All,
            ids => Which::Ids(ids.split_whitespace().map(Into::into).collect()),
        }
    }
}

impl Request {
    /// Reads one.
    #[must_use]
    pub fn of(data: &BTreeMap<String, String>) -> Self {
        let which = |key: &str| data.get(key).map_or_else(Which::default, |text| Which::of(text));
        Request { redeliver: which("redeliver"), drop: which("drop") }
    }
}

#[cfg(test)]
mod tests;
