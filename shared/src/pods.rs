//! Part D: from the moment a pod is going, when is it truly destroyed?
//!
//! One look at a tracked pod: what was recorded of it, what the API server says now, and what follows. Time, retries and
//! delivery are the caller's.

pub mod backlog;
pub mod destroy;
pub mod node;
pub mod outbox;
pub mod pod;
pub mod record;
pub mod sandbox;
pub mod tracker;

use serde::{Deserialize, Serialize};

use crate::lookup::Lookup;

pub use sandbox::Sandbox;
use sandbox::{Compared, compare};

/// A pod at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodFacts {
    /// Its uid.
    pub uid: String,
    /// The node it is bound to.
    pub node: Option<String>,
    /// What tells its sandbox, by each source that says something.
    pub sandboxes: Vec<Sandbox>,
}

/// How a pod ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DestroyCause {
    /// No pod of its name exists.
    Gone,
    /// Its name belongs to another pod.
    Replaced,
    /// It is on another node.
    Moved,
    /// It runs in another sandbox.
    SandboxChanged,
}

impl DestroyCause {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            DestroyCause::Gone => "Gone",
            DestroyCause::Replaced => "Replaced",
            DestroyCause::Moved => "Moved",
            DestroyCause::SandboxChanged => "SandboxChanged",
        }
    }
}

/// What one look at a tracked pod says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PodVerdict {
    /// It is destroyed: tell everyone, and stop tracking it (after `SandboxChanged`: track the new sandbox).
    Destroy(DestroyCause),
    /// It is still there, and its sandbox can be told for the first time: record it.
    Record,
    /// It is still there.
    Keep,
    /// Nothing can be said: warn, and look again later.
    Retry(String),
}

/// Judges a tracked pod by a live read of the pod that has its name now.
#[must_use]
pub fn judge_pod(tracked: &PodFacts, now: &Lookup<PodFacts>) -> PodVerdict {
    let now = match now {
        Lookup::Missing => return PodVerdict::Destroy(DestroyCause::Gone), // D1
        Lookup::Unknown(why) => return PodVerdict::Retry(why.clone()),     // D2
        Lookup::Found(now) => now,
    };
    if now.uid != tracked.uid {
        return PodVerdict::Destroy(DestroyCause::Replaced); // D3
    }
    // From no node to one is a pod being scheduled, not one that moved.
    if let (Some(before), Some(after)) = (&tracked.node, &now.node)
        && before != after
    {
        return PodVerdict::Destroy(DestroyCause::Moved); // D4
    }
    match compare(&tracked.sandboxes, &now.sandboxes) {
        Compared::Unknown if now.sandboxes.is_empty() => PodVerdict::Keep, // D5
        Compared::Unknown => PodVerdict::Record,                           // D6
        Compared::Other(_) => PodVerdict::Destroy(DestroyCause::SandboxChanged), // D7
        Compared::Same => PodVerdict::Keep,                                // D8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(uid: &str, node: Option<&str>, sandbox: Option<(&str, &str)>) -> PodFacts {
        PodFacts {
            uid: uid.into(),
            node: node.map(Into::into),
            sandboxes: sandbox
                .map(|(source, id)| Sandbox { source: source.into(), id: id.into() })
                .into_iter()
                .collect(),
        }
    }

    #[test]
    fn only_a_404_is_gone() {
        let tracked = pod("u", Some("n"), None);
        assert_eq!(judge_pod(&tracked, &Lookup::Missing), PodVerdict::Destroy(DestroyCause::Gone));
        assert_eq!(judge_pod(&tracked, &Lookup::Unknown("timeout".into())), PodVerdict::Retry("timeout".into()));
    }

    #[test]
    fn another_uid_is_replaced_whatever_else_is_true() {
        for now in [pod("v", Some("n"), None), pod("v", Some("m"), Some(("calico", "2"))), pod("v", None, None)] {
            let verdict = judge_pod(&pod("u", Some("n"), Some(("calico", "1"))), &Lookup::Found(now));
            assert_eq!(verdict, PodVerdict::Destroy(DestroyCause::Replaced));
        }
    }

    #[test]
    fn another_node_is_moved_but_being_scheduled_is_not() {
        let on = |node| Lookup::Found(pod("u", node, None));
        assert_eq!(judge_pod(&pod("u", Some("n"), None), &on(Some("m"))), PodVerdict::Destroy(DestroyCause::Moved));
        assert_eq!(judge_pod(&pod("u", None, None), &on(Some("m"))), PodVerdict::Keep);
        assert_eq!(judge_pod(&pod("u", Some("n"), None), &on(None)), PodVerdict::Keep);
    }

    #[test]
    fn a_sandbox_is_recorded_then_compared() {
        let now = |sandbox| Lookup::Found(pod("u", Some("n"), sandbox));
        let with = |sandbox| pod("u", Some("n"), sandbox);
        assert_eq!(judge_pod(&with(Some(("calico", "1"))), &now(None)), PodVerdict::Keep);
        assert_eq!(judge_pod(&with(None), &now(Some(("calico", "1")))), PodVerdict::Record);
        assert_eq!(judge_pod(&with(Some(("calico", "1"))), &now(Some(("calico", "1")))), PodVerdict::Keep);
        let changed = judge_pod(&with(Some(("calico", "1"))), &now(Some(("calico", "2"))));
        assert_eq!(changed, PodVerdict::Destroy(DestroyCause::SandboxChanged));
    }

    #[test]
    fn sandboxes_told_by_different_sources_are_not_compared() {
        let verdict =
            judge_pod(&pod("u", None, Some(("pod-ips", "1"))), &Lookup::Found(pod("u", None, Some(("calico", "2")))));
        assert_eq!(verdict, PodVerdict::Record);
    }
}
