//! What the controllers tell: metrics at once, Events in the background and never in a flood.
//!
//! Notes of the same kind on the same composition are told together, a few Events at a time. In a namespace that is being
//! deleted no Event can be made: there, log and metrics say it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eno_shared::api::{Composition, Kind, Metadata, ResourceSlice};
use eno_shared::names::ENO_API_VERSION;
use eno_shared::owner::composition_owner;
use eno_shared::stuck::Blocker;
use eno_shared::{Judgement, Verdict};
use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::{Event, EventType};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tracing::warn;

use super::look::{Looked, Outcome};
use super::metrics::ControllerMetrics;
use crate::events::Events;

/// How often notes are told.
const PERIOD: Duration = Duration::from_secs(10);
/// How many Events are made in a period; what is left over waits for the next.
const EVENTS: usize = 20;
/// How many notes may wait to be gathered.
const NOTES: usize = 1024;
/// How many different notes are gathered. The metrics count all.
const GATHERED: usize = 2000;

/// Something worth an Event on a composition.
#[derive(Debug)]
pub struct Note {
    /// The composition; the Lease of the controllers, where it concerns all.
    regarding: ObjectReference,
    type_: EventType,
    reason: &'static str,
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
    pub fn resynthesis_refused(composition: &Composition, why: &str) -> Self {
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
        let lease = ObjectReference {
            api_version: Some("coordination.k8s.io/v1".to_owned()),
            kind: Some("Lease".to_owned()),
            namespace: Some(lease.namespace.clone()),
            name: Some(lease.name.clone()),
            ..ObjectReference::default()
        };
        Note {
            regarding: lease,
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

    fn written(looked: &Looked) -> Option<Self> {
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

/// Where the controllers leave what they have to tell.
#[derive(Clone)]
pub struct Reporter {
    notes: mpsc::Sender<Note>,
    metrics: ControllerMetrics,
    terminating: Terminating,
}

/// Namespaces that are being deleted: nothing can be created there, not even an Event.
#[derive(Debug, Clone, Default)]
struct Terminating(Arc<Mutex<HashSet<String>>>);

impl Terminating {
    fn names(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_place_of(&self, note: &Note) -> bool {
        note.regarding.namespace.as_ref().is_some_and(|namespace| self.names().contains(namespace))
    }
}

impl Reporter {
    /// One that counts by `metrics`, and the future that tells its notes by `events`; it ends with the last reporter.
    pub fn new(metrics: ControllerMetrics, events: Events) -> (Self, impl Future<Output = ()>) {
        let (notes, gathered) = mpsc::channel(NOTES);
        let terminating = Terminating::default();
        (Reporter { notes, metrics, terminating: terminating.clone() }, tell(gathered, events, terminating))
    }

    /// Leaves a note. Where no Event can be made, or too many wait, it is only counted: the log has it.
    pub fn note(&self, note: Note) {
        self.metrics.noted(note.reason);
        if !self.terminating.has_place_of(&note) {
            let _ = self.notes.try_send(note);
        }
    }

    /// A namespace is being deleted, or is not (any more).
    pub fn namespace(&self, name: &str, terminating: bool) {
        let mut names = self.terminating.names();
        if terminating {
            names.insert(name.to_owned());
        } else {
            names.remove(name);
        }
    }

    /// The namespaces are listed anew.
    pub fn forget_namespaces(&self) {
        self.terminating.names().clear();
    }

    /// Is the namespace being deleted?
    #[must_use]
    pub fn is_terminating(&self, namespace: &str) -> bool {
        self.terminating.names().contains(namespace)
    }

    /// A second look has ended.
    pub fn looked(&self, looked: &Looked) {
        self.metrics.looked(looked);
        if let Some(note) = Note::written(looked) {
            self.note(note);
        }
    }

    /// A watch has failed, and begins again.
    pub fn watch_restarted(&self, what: &'static str) {
        self.metrics.watch_restarted(what);
    }

    /// Collecting pauses, or goes on.
    pub fn paused(&self, paused: bool) {
        self.metrics.paused(paused);
    }

    /// This process leads, or does not any more.
    pub fn leads(&self, leads: bool) {
        self.metrics.leads(leads);
    }

    /// The state of things.
    pub fn counted(&self, verdicts: &HashMap<(Verdict, &'static str), usize>, queue: usize, oldest_hold: Duration) {
        self.metrics.counted(verdicts, queue, oldest_hold);
    }
}

#[derive(PartialEq, Eq, Hash)]
struct Place {
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    reason: &'static str,
}

async fn tell(mut notes: mpsc::Receiver<Note>, events: Events, terminating: Terminating) {
    let mut gathered: HashMap<Place, (Note, usize)> = HashMap::new();
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            note = notes.recv() => {
                let Some(note) = note else { break };
                gather(&mut gathered, note);
            }
            _ = period.tick() => {
                gathered.retain(|_, (note, _)| !terminating.has_place_of(note));
                tell_some(&mut gathered, &events);
            }
        }
    }
    tell_some(&mut gathered, &events);
}

fn gather(gathered: &mut HashMap<Place, (Note, usize)>, note: Note) {
    let ObjectReference { namespace, name, uid, .. } = note.regarding.clone();
    let place = Place { namespace, name, uid, reason: note.reason };
    if let Some((_, count)) = gathered.get_mut(&place) {
        *count += 1;
    } else if gathered.len() < GATHERED {
        gathered.insert(place, (note, 1));
    }
}

fn tell_some(gathered: &mut HashMap<Place, (Note, usize)>, events: &Events) {
    let mut told = 0;
    let some = gathered.extract_if(|_, _| {
        told += 1;
        told <= EVENTS
    });
    for (_, (note, count)) in some {
        let text = if count == 1 { note.text } else { format!("{count} {}; one of them: {}", note.plural, note.text) };
        let event = Event {
            type_: note.type_,
            reason: note.reason.to_owned(),
            note: Some(text),
            action: note.action.to_owned(),
            secondary: None,
        };
        events.post(event, note.regarding);
    }
}
