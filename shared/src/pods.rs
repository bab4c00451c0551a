//! Part D: from the moment a pod is going, when is it truly destroyed?
//!
//! One look at a tracked pod: what was recorded of it, what the API server says now, and what follows. Time, retries and
//! delivery are the caller's.

use crate::lookup::Lookup;

/// What a pod runs in: made anew when a node restarts the pod's sandbox, though the pod's uid stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Where the identity was read: a CNI annotation, a condition's transition time, the pod's addresses …
    pub source: String,
    /// The identity itself; only equal sources can be compared.
    pub id: String,
}

/// A pod at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodFacts {
    /// Its uid.
    pub uid: String,
    /// The node it is bound to.
    pub node: Option<String>,
    /// Its sandbox, where that can be told.
    pub sandbox: Option<Sandbox>,
}

/// How a pod ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// It is still there; remember its sandbox.
    Record(Sandbox),
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
    match (&tracked.sandbox, &now.sandbox) {
        (_, None) => PodVerdict::Keep,                            // D5
        (None, Some(found)) => PodVerdict::Record(found.clone()), // D6
        // Identities of different sources say nothing of each other: as if no sandbox had been recorded.
        (Some(recorded), Some(found)) if recorded.source != found.source => PodVerdict::Record(found.clone()),
        (Some(recorded), Some(found)) if recorded.id != found.id => {
            PodVerdict::Destroy(DestroyCause::SandboxChanged) // D7
        }
        (Some(_), Some(_)) => PodVerdict::Keep, // D8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(uid: &str, node: Option<&str>, sandbox: Option<(&str, &str)>) -> PodFacts {
        PodFacts {
            uid: uid.into(),
            node: node.map(Into::into),
            sandbox: sandbox.map(|(source, id)| Sandbox { source: source.into(), id: id.into() }),
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
        for now in [pod("v", Some("n"), None), pod("v", Some("m"), Some(("cni", "2"))), pod("v", None, None)] {
            let verdict = judge_pod(&pod("u", Some("n"), Some(("cni", "1"))), &Lookup::Found(now));
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
        let one = Sandbox { source: "cni".into(), id: "1".into() };
        assert_eq!(judge_pod(&with(Some(("cni", "1"))), &now(None)), PodVerdict::Keep);
        assert_eq!(judge_pod(&with(None), &now(Some(("cni", "1")))), PodVerdict::Record(one));
        assert_eq!(judge_pod(&with(Some(("cni", "1"))), &now(Some(("cni", "1")))), PodVerdict::Keep);
        let changed = judge_pod(&with(Some(("cni", "1"))), &now(Some(("cni", "2"))));
        assert_eq!(changed, PodVerdict::Destroy(DestroyCause::SandboxChanged));
    }

    #[test]
    fn sandboxes_told_by_different_sources_are_not_compared() {
        let verdict =
            judge_pod(&pod("u", None, Some(("podIPs", "1"))), &Lookup::Found(pod("u", None, Some(("cni", "2")))));
        assert_eq!(verdict, PodVerdict::Record(Sandbox { source: "cni".into(), id: "2".into() }));
    }
}
