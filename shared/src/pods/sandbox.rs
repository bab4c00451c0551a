//! What a pod's sandbox can be told by, without access to its node.
//!
//! A pod keeps its uid when its node makes its sandbox anew: new network namespace, new processes, perhaps new addresses.
//! The Kubernetes API has no field for it, so a chain of sources is asked, the most certain first. All that tell something
//! are kept, since a source may fall silent for a while: the condition is False between two sandboxes.
//!
//! Two kinds of sources are told apart:
//! - an *identity* is the sandbox's own id: equal means the same sandbox, whatever the others say;
//! - a *trace* is something that a new sandbox changes: another value means another sandbox, an equal one means nothing.
//!
//! Never asked: container ids and restart counts. All containers of a pod may restart in one sandbox, and others have
//! taken the one for the other at the cost of addresses in use (aws/amazon-vpc-cni-k8s#712).

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::pod::Pod;

/// What tells a sandbox, by one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Where it was read: the name of an [`Extractor`].
    pub source: String,
    /// What was read; only equal sources can be compared.
    pub id: String,
}

/// How far a source can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It may change for another reason.
    Medium,
    /// It changes with the sandbox, or nearly so.
    High,
    /// It is the sandbox's own id.
    Certain,
}

/// What can be known of a pod when its sandbox is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The pod.
    pub pod: &'a Pod,
    /// The boot id of its node, where that was read.
    pub boot_id: Option<&'a str>,
    /// The id of its container in its CiliumEndpoint, where there is one.
    pub cilium: Option<&'a str>,
}

/// One source.
pub trait Extractor: Sync {
    /// Its name.
    fn source(&self) -> &'static str;
    /// How far it can be trusted; [`Confidence::Certain`] marks an identity, all else a trace.
    fn confidence(&self) -> Confidence;
    /// What it tells, if anything.
    fn extract(&self, evidence: &Evidence<'_>) -> Option<String>;
    /// Do two values that it told belong to different sandboxes?
    fn differ(&self, before: &str, after: &str) -> bool {
        before != after
    }
}

/// All sources, the most certain first.
pub const CHAIN: [&dyn Extractor; 6] = [&Calico, &Cilium, &ReadyToStart, &Addresses, &NodeBoot, &Multus];

/// What all sources together tell, in the order of [`CHAIN`].
#[must_use]
pub fn sandboxes(evidence: &Evidence<'_>) -> Vec<Sandbox> {
    let told = CHAIN.iter().filter_map(|source| {
        let id = source.extract(evidence)?;
        Some(Sandbox { source: source.source().to_owned(), id })
    });
    told.collect()
}

/// What a comparison of sandboxes says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compared {
    /// Nothing can be compared.
    Unknown,
    /// Nothing says that it is another.
    Same,
    /// It is another: the recorded one by the source that says so.
    Other(Sandbox),
}

/// Compares what was recorded with what is told now.
#[must_use]
pub fn compare(recorded: &[Sandbox], now: &[Sandbox]) -> Compared {
    let mut compared = Compared::Unknown;
    for extractor in CHAIN {
        let by_source = |sandboxes: &[Sandbox]| sandboxes.iter().position(|one| one.source == extractor.source());
        let (Some(before), Some(after)) = (by_source(recorded), by_source(now)) else { continue };
        if extractor.differ(&recorded[before].id, &now[after].id) {
            return Compared::Other(recorded[before].clone());
        }
        compared = Compared::Same;
        if extractor.confidence() == Confidence::Certain {
            return compared;
        }
    }
    compared
}

/// What is recorded from now on: what is told now, and of sources that are silent now what they told before.
#[must_use]
pub fn merge(recorded: &[Sandbox], now: &[Sandbox]) -> Vec<Sandbox> {
    let by_source = |extractor: &&dyn Extractor| {
        let of = |sandboxes: &[Sandbox]| sandboxes.iter().find(|one| one.source == extractor.source()).cloned();
        of(now).or_else(|| of(recorded))
    };
    CHAIN.iter().filter_map(by_source).collect()
}

/// Calico's annotation: the container id that its CNI plugin was called with, which is the sandbox's own. Calico sets it to
/// tell namesakes apart (projectcalico/calico libcalico-go/lib/apis constants); blank while a sandbox is taken down.
struct Calico;

impl Extractor for Calico {
    fn source(&self) -> &'static str {
        "calico"
    }
    fn confidence(&self) -> Confidence {
        Confidence::Certain
    }
    fn extract(&self, evidence: &Evidence<'_>) -> Option<String> {
        filled(evidence.pod.metadata.annotation("cni.projectcalico.org/containerID")?)
    }
}

/// Cilium's endpoint of the pod: `status.external-identifiers.container-id`, the sandbox's own. The operator may make the
/// endpoint anew for the same sandbox, so its uid is not asked.
struct Cilium;

impl Extractor for Cilium {
    fn source(&self) -> &'static str {
        "cilium"
    }
    fn confidence(&self) -> Confidence {
        Confidence::Certain
    }
    fn extract(&self, evidence: &Evidence<'_>) -> Option<String> {
        filled(evidence.cilium?)
    }
}

/// When the kubelet last said that sandbox and network are ready (KEP-3085, on since 1.29): condition
/// `PodReadyToStartContainers`. It tests what also makes it renew the sandbox. Only True counts: False is between two
/// sandboxes, or the end. Absent on old nodes and on some that are not kubelets.
struct ReadyToStart;

impl Extractor for ReadyToStart {
    fn source(&self) -> &'static str {
        "ready-to-start"
    }
    fn confidence(&self) -> Confidence {
        Confidence::High
    }
    fn extract(&self, evidence: &Evidence<'_>) -> Option<String> {
        Some(evidence.pod.ready_to_start_since()?.to_string())
    }
}

/// The pod's addresses. A pod on its node's network has the node's, which no sandbox changes. Blank ones at termination say
/// nothing (kubernetes/kubernetes#125370); an address may be given again to the next sandbox.
struct Addresses;

impl Extractor for Addresses {
    fn source(&self) -> &'static str {
        "pod-ips"
    }
    fn confidence(&self) -> Confidence {
        Confidence::High
    }
    fn extract(&self, evidence: &Evidence<'_>) -> Option<String> {
        if evidence.pod.spec.host_network {
            return None;
        }
        let mut addresses: Vec<&str> = evidence.pod.addresses().collect();
        addresses.sort_unstable();
        filled(&addresses.join(","))
    }
    /// One that is added, as of the second family, makes no other sandbox.
    fn differ(&self, before: &str, after: &str) -> bool {
        !before.split(',').any(|address| after.split(',').any(|other| other == address))
    }
}

/// The boot of the node (`status.nodeInfo.bootID`): no sandbox outlives it.
struct NodeBoot;

impl Extractor for NodeBoot {
    fn source(&self) -> &'static str {
        "node-boot"
    }
    fn confidence(&self) -> Confidence {
        Confidence::High
    }
    fn extract(&self, evidence: &Evidence<'_>) -> Option<String> {
        filled(evidence.boot_id?)
    }
}

/// What Multus says of the pod's interfaces, condensed to their names, MAC and IP addresses. The annotation may be written
/// again for other reasons.
struct Multus;

#[derive(Deserialize)]
struct Interface {
    #[serde(default)]
    interface: String,
    #[serde(default)]
    mac: String,
    #[serde(default)]
    ips: Vec<String>,
}

impl Extractor for Multus {
    fn source(&self) -> &'static str {
        "multus"
    }
    fn confidence(&self) -> Confidence {
        Confidence::Medium
    }
    fn extract(&self, evidence: &Evidence<'_>) -> Option<String> {
        let status = evidence.pod.metadata.annotation("k8s.v1.cni.cncf.io/network-status")?;
        let mut interfaces: Vec<Interface> = serde_json::from_str(status).ok()?;
        interfaces.sort_by(|a, b| a.interface.cmp(&b.interface));
        let mut condensed = String::new();
        for Interface { interface, mac, ips } in &interfaces {
            let _ = write!(condensed, "{interface} {mac} {};", ips.join(","));
        }
        filled(&condensed)
    }
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
