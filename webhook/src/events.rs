//! Events for what people should find later: an override, a composition whose resources may be orphaned, and what the
//! controllers have to tell.
//!
//! They are posted in the background, from a queue with a bound. An answer never waits for one; when the queue is full, the
//! Event is dropped and counted.

use eno_shared::admission::Ground;
use eno_shared::names::REPORTING_CONTROLLER;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::admission::{Forced, Judged, Subject};
use crate::hooks::{Hook, Operation};
use crate::metrics::Metrics;
use crate::review::Request;

/// How many Events may wait.
const QUEUE: usize = 256;
/// The longest note that the API server takes.
const LONGEST_NOTE: usize = 1024;

/// Where answers leave their Events.
#[derive(Clone)]
pub struct Events {
    queue: mpsc::Sender<(Event, ObjectReference)>,
    metrics: Metrics,
}

/// What posts the Events of the queue.
pub struct Poster {
    queue: mpsc::Receiver<(Event, ObjectReference)>,
    metrics: Metrics,
}

impl Events {
    /// A queue, and what empties it.
    #[must_use]
    pub fn new(metrics: Metrics) -> (Self, Poster) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Events { queue: sender, metrics: metrics.clone() }, Poster { queue: receiver, metrics })
    }

    /// Tells what an answer is worth telling, if anything.
    pub(crate) fn tell(&self, hook: Hook, request: &Request<'_>, judged: &Judged) {
        let reason = match (judged.forced, &judged.answer.ground) {
            (Forced::Granted, _) => "Forced",
            (Forced::No, ground @ Ground::ResourcesMayBeOrphaned) => ground.as_str(),
            (Forced::No | Forced::Refused | Forced::Unknown, _) => return,
        };
        let action = match hook.rule().operation {
            Operation::Create => "Create",
            Operation::Update => "Update",
            Operation::Delete => "Delete",
        };
        let note = format!("{} (by {})", judged.answer.message, request.user_info.username);
        let event = Event {
            type_: EventType::Warning,
            reason: reason.into(),
            note: Some(note),
            action: action.into(),
            secondary: None,
        };
        self.post(event, reference(&judged.subject));
    }

    /// Leaves an Event to be posted.
    pub(crate) fn post(&self, mut event: Event, regarding: ObjectReference) {
        event.note = event.note.map(|note| note.chars().take(LONGEST_NOTE).collect());
        if self.queue.try_send((event, regarding)).is_err() {
            self.metrics.event("dropped");
        }
    }
}

impl Poster {
    /// Posts until told to stop, and then what is left in the queue.
    pub async fn run(mut self, client: Client, stop: CancellationToken) {
        let recorder = Recorder::new(client, Reporter::from(REPORTING_CONTROLLER));
        loop {
            tokio::select! {
                next = self.queue.recv() => match next {
                    Some((event, regarding)) => self.post(&recorder, &event, &regarding).await,
                    None => return,
                },
                () = stop.cancelled() => break,
            }
        }
        self.queue.close();
        while let Some((event, regarding)) = self.queue.recv().await {
            self.post(&recorder, &event, &regarding).await;
        }
    }

    async fn post(&self, recorder: &Recorder, event: &Event, regarding: &ObjectReference) {
        match recorder.publish(event, regarding).await {
            Ok(()) => self.metrics.event("posted"),
            Err(error) => {
                // The log line of the answer says all that the Event would have said.
                tracing::debug!(%error, reason = event.reason, name = regarding.name, "cannot post an Event");
                self.metrics.event("failed");
            }
        }
    }
}

fn reference(subject: &Subject) -> ObjectReference {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ObjectReference {
        api_version: text(&subject.api_version),
        kind: text(subject.kind),
        namespace: text(&subject.namespace),
        name: text(&subject.name),
        uid: text(&subject.uid),
        ..ObjectReference::default()
    }
}
