//! Tells of destroys by Kubernetes Events, for people.
//!
//! Events are no transport: they are gathered, dropped where there are too many, and never tried again. Whoever must know of
//! each destroy has another sink.

use std::sync::Arc;

use eno_shared::pods::destroy::Destroy;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::{Failure, Sink};
use crate::controllers::note::Note;
use crate::controllers::report::Reporter;

/// Leaves a note for each destroy.
pub struct PodEvents(Reporter);

impl PodEvents {
    /// One that leaves its notes there. It knows of namespaces that take no Events any more.
    #[must_use]
    pub fn new(reporter: Reporter) -> Self {
        PodEvents(reporter)
    }
}

impl Sink for PodEvents {
    fn name(&self) -> &str {
        "events"
    }

    fn deliver(&self, destroy: Arc<Destroy>) -> BoxFuture<'_, Result<(), Failure>> {
        self.0.note(Note::destroyed(&destroy));
        ready(Ok(())).boxed()
    }
}

#[cfg(test)]
mod tests {
    use eno_shared::names::{POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};
    use eno_shared::pods::DestroyCause;
    use kube::runtime::events::EventType;

    use super::super::fixtures::destroy;
    use super::*;

    #[test]
    fn the_end_of_a_synthesizer_pod_is_told_on_its_composition() {
        let labels = [(POD_COMPOSITION, "web"), (POD_COMPOSITION_NAMESPACE, "team-a")];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let (event, regarding) = Note::destroyed(&Destroy { labels, ..destroy("synth-1", "u1") }).event(1);
        assert_eq!(regarding.kind.as_deref(), Some("Composition"));
        assert_eq!((regarding.namespace.as_deref(), regarding.name.as_deref()), (Some("team-a"), Some("web")));
        assert_eq!((&*event.reason, event.note.as_deref()), ("PodGone", Some("pod ns/synth-1 on node node-1 is gone")));
    }

    #[test]
    fn that_of_another_pod_on_itself_and_with_what_is_not_certain() {
        let doubtful = Destroy { confirmed: false, cause: DestroyCause::Replaced, ..destroy("web-0", "u1") };
        let (event, regarding) = Note::destroyed(&doubtful).event(1);
        assert_eq!((regarding.kind.as_deref(), regarding.uid.as_deref()), (Some("Pod"), Some("u1")));
        assert!(matches!(event.type_, EventType::Warning));
        assert!(event.note.is_some_and(|note| note.ends_with("it may still run there, since the node is lost")));
    }
}
