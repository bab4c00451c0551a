//! What the controllers tell: metrics at once, Events in the background and never in a flood.
//!
//! Notes of the same kind on the same composition are told together, a few Events at a time. In a namespace that is being
//! deleted no Event can be made: there, log and metrics say it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eno_shared::Verdict;
use k8s_openapi::api::core::v1::ObjectReference;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::look::Looked;
use super::metrics::{ControllerMetrics, LookAgainDelays};
use super::note::Note;
use crate::events::Events;

/// How often notes are told.
const PERIOD: Duration = Duration::from_secs(10);
/// How many Events are made in a period; what is left over waits for the next.
const EVENTS: usize = 20;
/// How many notes may wait to be gathered.
const NOTES: usize = 1024;
/// How many different notes are gathered. The metrics count all.
const GATHERED: usize = 2000;

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

    /// Where it is counted how long slices wait for their next look.
    #[must_use]
    pub fn look_again_delays(&self) -> LookAgainDelays {
        self.metrics.look_again_delays.clone()
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
            _ = period.tick() => tell_some(&mut gathered, &terminating, &events),
        }
    }
    tell_some(&mut gathered, &terminating, &events);
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

fn tell_some(gathered: &mut HashMap<Place, (Note, usize)>, terminating: &Terminating, events: &Events) {
    gathered.retain(|_, (note, _)| !terminating.has_place_of(note));
    let mut told = 0;
    let some = gathered.extract_if(|_, _| {
        told += 1;
        told <= EVENTS
    });
    for (_, (note, count)) in some {
        let (event, regarding) = note.event(count);
        events.post(event, regarding);
    }
}
