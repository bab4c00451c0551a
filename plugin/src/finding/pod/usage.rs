//! Has Eno still a use for a pod?

use eno_shared::Lookup;
use eno_shared::api::{Composition, Metadata};
use eno_shared::names::POD_SYNTHESIS;

/// Has Eno still a use for a pod?
pub(super) enum Use {
    /// It makes the synthesis in flight.
    Working,
    /// No.
    Over {
        /// In the words of Eno's own collection of pods.
        cause: &'static str,
        /// For people.
        says: &'static str,
    },
    /// That cannot be told.
    Unknown(String),
}

impl Use {
    /// As Eno's controller asks, in its order.
    pub(super) fn of(pod: &Metadata, composition: &Lookup<&Composition>) -> Self {
        let over = |cause, says| Use::Over { cause, says };
        let composition = match composition {
            Lookup::Unknown(why) => return Use::Unknown(why.clone()),
            Lookup::Missing => return over("composition_deleted", "its composition does not exist"),
            Lookup::Found(composition) if composition.metadata.is_deleting() => {
                return over("composition_deleted", "its composition is being deleted");
            }
            Lookup::Found(composition) => composition,
        };
        let synthesis = pod.label(POD_SYNTHESIS).unwrap_or_default();
        match (&composition.status.in_flight_synthesis, &composition.status.current_synthesis) {
            (Some(in_flight), _) if in_flight.canceled.is_some() => over("timeout", "its synthesis was given up"),
            (Some(in_flight), _) if in_flight.uuid != synthesis => over("superseded", "a newer synthesis is in flight"),
            (Some(_), _) => Use::Working,
            (None, Some(current)) if current.uuid == synthesis => over("success", "its synthesis is done"),
            (None, _) => over("orphaned", "its synthesis is neither in flight nor the current one"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eno_shared::api::Synthesis;

    fn cause(change: impl FnOnce(&mut Composition)) -> Option<&'static str> {
        let mut pod = Metadata::default();
        pod.labels.insert(POD_SYNTHESIS.into(), "s1".into());
        let mut web = Composition::default();
        change(&mut web);
        match Use::of(&pod, &Lookup::Found(&web)) {
            Use::Over { cause, .. } => Some(cause),
            Use::Working => None,
            Use::Unknown(why) => panic!("{why}"),
        }
    }

    fn synthesis(uuid: &str) -> Option<Synthesis> {
        Some(Synthesis { uuid: uuid.into(), ..Synthesis::default() })
    }

    #[test]
    fn causes_are_those_of_eno() {
        let now = jiff::Timestamp::UNIX_EPOCH;
        assert_eq!(cause(|web| web.status.in_flight_synthesis = synthesis("s1")), None);
        assert_eq!(cause(|web| web.status.in_flight_synthesis = synthesis("s2")), Some("superseded"));
        assert_eq!(cause(|web| web.status.current_synthesis = synthesis("s1")), Some("success"));
        assert_eq!(cause(|web| web.status.current_synthesis = synthesis("s0")), Some("orphaned"));
        assert_eq!(cause(|web| web.metadata.deletion_timestamp = Some(now)), Some("composition_deleted"));
        let canceled = Some(Synthesis { canceled: Some(now), ..Synthesis::default() });
        assert_eq!(cause(|web| web.status.in_flight_synthesis = canceled), Some("timeout"));
        assert!(matches!(Use::of(&Metadata::default(), &Lookup::Unknown("403".into())), Use::Unknown(_)));
    }
}
