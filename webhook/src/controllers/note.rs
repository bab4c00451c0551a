//! What is worth an Event: its words, and what it is about.

use std::collections::BTreeMap;

use eno_shared::Judgement;
use eno_shared::api::{Composition, Kind, Metadata, ResourceSlice};
use eno_shared::names::{ENO_API_VERSION, POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};
use eno_shared::owner::composition_owner;
use eno_shared::pods::DestroyCause;
use eno_shared::pods::destroy::{Destroy, PodRef};
use eno_shared::pods::tracker::Overdue;
use eno_shared::resynthesis::Refusal;
use eno_shared::stuck::Blocker;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Event, EventType};
use tracing::warn;

use super::look::{Looked, Outcome};

/// Something worth an Event on a composition.
#[derive(Debug)]
pub struct Note {
    /// The composition; the Lease of the controllers, where it concerns all.
    pub(super) regarding: ObjectReference,
    type_: EventType,
    pub(super) reason: &'static str,
    action: &'static str,
    /// For one of its kind.
    text: String,
    /// For several: goes on after the number.
    plural: &'static str,
}

/// The Lease of the controllers.
#[derive(Debug, Clone)]
pub struct LeaseName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl LeaseName {
    fn reference(&self) -> ObjectReference {
        ObjectReference {
            api_version: Some("coordination.k8s.io/v1".to_owned()),
            kind: Some("Lease".to_owned()),
            namespace: Some(self.namespace.clone()),
            name: Some(self.name.clone()),
            ..ObjectReference::default()
        }
    }
}

impl Note {
    /// A slice is held for too long.
    #[must_use]
    pub fn held(slice: &ResourceSlice, judgement: &Judgement, blockers: &[Blocker]) -> Self {
        let Metadata { namespace, name, .. } = &slice.metadata;
        let codes: Vec<_> = blockers.iter().map(Blocker::code).collect();
        warn!(%namespace, %name, reason = judgement.reason.as_str(), blockers = codes.join(","), "a slice is held for long");
        let blocked: Vec<_> = blockers.iter().map(|blocker| format!("{} ({blocker})", blocker.code())).collect();
        let text = format!(
            "slice {name} is held: {}. Blocked by: {}. Next: kubectl eno why resourceslice/{name} -n {namespace}",
            judgement.reason,
            if blocked.is_empty() { "nothing that its objects show".to_owned() } else { blocked.join("; ") }
        );
        Note {
            regarding: owner_of(slice, judgement),
            type_: EventType::Warning,
            reason: "SliceHeld",
            action: "Release",
            text,
            plural: "slices are held for long; see kubectl eno slices --verdict hold",
        }
    }

    /// Eno was asked for a new synthesis.
    #[must_use]
    pub fn resynthesis_asked(composition: &Composition) -> Self {
        Note {
            regarding: reference(&composition.metadata),
            type_: EventType::Normal,
            reason: "ResynthesisAsked",
            action: "Resynthesize",
            text: "a slice that it needs is being deleted; asked for a new synthesis, which replaces it".to_owned(),
            plural: "slices that it needs are being deleted; asked for a new synthesis, which replaces them",
        }
    }

    /// A new synthesis is needed, and may not be asked for.
    #[must_use]
    pub fn resynthesis_refused(composition: &Composition, why: &Refusal) -> Self {
        Note {
            regarding: reference(&composition.metadata),
            type_: EventType::Warning,
            reason: "ResynthesisNeeded",
            action: "Resynthesize",
            text: format!(
                "a slice that it needs is being deleted, and only a new synthesis frees it; none is asked for: {why}"
            ),
            plural: "slices that it needs are being deleted, and only a new synthesis frees them; none is asked for",
        }
    }

    /// Collecting pauses: too many slices are garbage at once.
    #[must_use]
    pub fn paused(lease: &LeaseName, slices: usize, known: usize) -> Self {
        Note {
            regarding: lease.reference(),
            type_: EventType::Warning,
            reason: "CollectingPaused",
            action: "Collect",
            text: format!(
                "{slices} of {known} slices are garbage at once, which is suspicious; a live look at all compositions decides. \
                 Next: kubectl eno slices -A --verdict collect"
            ),
            plural: "times collecting was paused, for a live look to decide",
        }
    }

    /// A pod is being deleted for longer than it was given.
    #[must_use]
    pub fn pod_overdue(overdue: &Overdue) -> Self {
        let Overdue { pod: PodRef { namespace, name, .. }, record } = overdue;
        let node = record.node.as_deref().unwrap_or("none");
        warn!(%namespace, %name, node, deleted_at = ?record.deleted_at, "a pod is being deleted for longer than it was given");
        Note {
            regarding: worked_for(&overdue.pod, &record.labels()),
            type_: EventType::Warning,
            reason: "PodOverdue",
            action: "FollowPod",
            text: format!(
                "pod {namespace}/{name} on node {node} should have ended by now. \
                 Next: kubectl eno why pod/{name} -n {namespace}"
            ),
            plural: "pods should have ended by now",
        }
    }

    /// What is known of pods finds no place to outlive the process, or there is no room for more ends.
    #[must_use]
    pub fn outbox_full(lease: &LeaseName, pending: usize, unsaved: usize) -> Self {
        warn!(
            pending,
            unsaved, "the outbox is full: pods that end wait, and what finds no place is lost if this process ends"
        );
        Note {
            regarding: lease.reference(),
            type_: EventType::Warning,
            reason: "OutboxFull",
            action: "FollowPod",
            text: format!(
                "{pending} destroys are undelivered, and {unsaved} pods are kept in memory alone. Mend the sinks, or drop what \
                 they will not take. Next: kubectl eno pods undelivered"
            ),
            plural: "times the outbox was full",
        }
    }

    /// A pod, or its sandbox, is destroyed: on the composition that it worked for, or else on the pod itself.
    #[must_use]
    pub fn destroyed(destroy: &Destroy) -> Self {
        let PodRef { namespace, name, .. } = &destroy.pod;
        let node = destroy.node.as_ref().map_or_else(String::new, |node| format!(" on node {node}"));
        let (reason, ended, plural) = match destroy.cause {
            DestroyCause::Gone => ("PodGone", "is gone", "pods are gone"),
            DestroyCause::Replaced => ("PodReplaced", "is gone; another pod has its name", "pods were replaced"),
            DestroyCause::Moved => ("PodMoved", "has left its node", "pods have left their nodes"),
            DestroyCause::SandboxChanged => {
                ("PodSandboxChanged", "runs in another sandbox", "pods run in other sandboxes")
            }
        };
        let (type_, doubt) = match destroy.confirmed {
            true => (EventType::Normal, ""),
            false => (EventType::Warning, "; it may still run there, since the node is lost"),
        };
        Note {
            regarding: worked_for(&destroy.pod, &destroy.labels),
            type_,
            reason,
            action: "FollowPod",
            text: format!("pod {namespace}/{name}{node} {ended}{doubt}"),
            plural,
        }
    }

    /// What a second look has written, if anything.
    #[must_use]
    pub fn written(looked: &Looked) -> Option<Self> {
        let (reason, action, done, plural) = match looked.outcome {
            Outcome::Collected { .. } => ("SliceCollected", "Collect", "collected", "slices collected"),
            Outcome::Released => ("SliceReleased", "Release", "released", "slices released"),
            Outcome::Restored => {
                ("FinalizerRestored", "Restore", "got its finalizer back", "slices got their finalizer back")
            }
            Outcome::WouldAct
            | Outcome::Stays
            | Outcome::Disagreed
            | Outcome::Changed
            | Outcome::Gone
            | Outcome::NotLeading
            | Outcome::Failed(_) => return None,
        };
        let text = format!("slice {} {done}: {}", looked.slice.metadata.name, looked.judgement.reason);
        let regarding = owner_of(&looked.slice, &looked.judgement);
        Some(Note { regarding, type_: EventType::Normal, reason, action, text, plural })
    }

    /// The Event of so many notes of the same kind, and what it is about.
    #[must_use]
    pub fn event(self, count: usize) -> (Event, ObjectReference) {
        let Note { regarding, type_, reason, action, text, plural } = self;
        let note = if count == 1 { text } else { format!("{count} {plural}; one of them: {text}") };
        let (reason, action) = (reason.to_owned(), action.to_owned());
        (Event { type_, reason, note: Some(note), action, secondary: None }, regarding)
    }
}

/// The composition a slice belongs to; the slice itself, where it belongs to none.
fn owner_of(slice: &ResourceSlice, judgement: &Judgement) -> ObjectReference {
    let metadata = &slice.metadata;
    if let Some(owner) = composition_owner(metadata) {
        let (name, uid) = (owner.name.clone(), owner.uid.clone());
        return reference(&Metadata { namespace: metadata.namespace.clone(), name, uid, ..Metadata::default() });
    }
    match judgement.reason.composition() {
        Some(name) => {
            let namespace = metadata.namespace.clone();
            reference(&Metadata { namespace, name: name.to_owned(), ..Metadata::default() })
        }
        None => ObjectReference { kind: Some(ResourceSlice::KIND.to_owned()), ..reference(metadata) },
    }
}

/// The composition of a synthesizer's pod, or the pod.
fn worked_for(pod: &PodRef, labels: &BTreeMap<String, String>) -> ObjectReference {
    let label = |label: &str| labels.get(label).filter(|value| !value.is_empty()).cloned();
    match (label(POD_COMPOSITION_NAMESPACE), label(POD_COMPOSITION)) {
        (Some(namespace), Some(name)) => reference(&Metadata { namespace, name, ..Metadata::default() }),
        (None, _) | (_, None) => ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            namespace: Some(pod.namespace.clone()),
            name: Some(pod.name.clone()),
            uid: Some(pod.uid.clone()),
            ..ObjectReference::default()
        },
    }
}

fn reference(composition: &Metadata) -> ObjectReference {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ObjectReference {
        api_version: Some(ENO_API_VERSION.to_owned()),
        kind: Some(Composition::KIND.to_owned()),
        namespace: text(&composition.namespace),
        name: text(&composition.name),
        uid: text(&composition.uid),
        ..ObjectReference::default()
    }
}
