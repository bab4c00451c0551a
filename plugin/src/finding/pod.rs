//! What the rules say of the pod of a synthesizer.

mod usage;

use eno_shared::Lookup;
use eno_shared::api::{Composition, Metadata};
use eno_shared::names::{POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};
use eno_shared::stuck::{Blocker, pod_blockers};
use jiff::{SignedDuration, Timestamp};

use crate::item::composition::UNKNOWN;
use crate::snapshot::Namespaces;
use usage::Use;

/// State and blockers of a pod.
#[derive(Debug)]
pub struct PodFinding<'s> {
    /// The composition that it works for.
    pub composition: Option<Lookup<&'s Composition>>,
    /// In a word.
    pub state: &'static str,
    /// Why Eno has no use for it; `None` where it has, or where that cannot be told.
    pub cause: Option<&'static str>,
    /// The sentence for people.
    pub message: String,
    /// What its end waits for.
    pub blockers: Vec<Blocker>,
    /// Since when it waits, where it does.
    pub waiting_since: Option<Timestamp>,
}

/// The composition that a pod works for: namespace and name.
pub fn composition_of(pod: &Metadata) -> Option<(&str, &str)> {
    Some((pod.label(POD_COMPOSITION_NAMESPACE)?, pod.label(POD_COMPOSITION)?))
}

impl<'s> PodFinding<'s> {
    /// Asks the rules.
    pub fn of(pod: &Metadata, namespaces: &'s Namespaces, now: Timestamp) -> Self {
        let composition = composition_of(pod).map(|(namespace, name)| namespaces.compositions(namespace).get(name));
        let (state, cause, message) = match composition.as_ref().map(|composition| Use::of(pod, composition)) {
            None => ("NotOfEno", None, "it is not the pod of a synthesizer".to_owned()),
            Some(Use::Unknown(why)) => (UNKNOWN, None, format!("its composition could not be read: {why}")),
            Some(Use::Working) if !pod.is_deleting() => {
                ("Working", None, "it makes the synthesis that is in flight".to_owned())
            }
            Some(Use::Working) => ("Ending", None, "it is being deleted, though its synthesis is in flight".to_owned()),
            Some(Use::Over { cause, says }) if pod.is_deleting() => ("Ending", Some(cause), says.to_owned()),
            Some(Use::Over { cause, says }) => {
                ("Leftover", Some(cause), format!("{says}; eno-controller has yet to delete it"))
            }
        };
        let blockers = pod_blockers(pod, now);
        let waiting_since = pod.deletion_timestamp.filter(|_| !blockers.is_empty());
        PodFinding { composition, state, cause, message, blockers, waiting_since }
    }

    /// Does it wait for something, and for longer than patience lasts?
    pub fn is_stuck(&self, now: Timestamp, patience: SignedDuration) -> bool {
        self.waiting_since.is_some_and(|since| now.duration_since(since) >= patience)
    }
}
