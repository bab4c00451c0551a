//! The objects that show a situation.

use std::sync::Arc;

use eno_shared::api::{self, Composition, ResourceSlice, Synthesis};
use eno_shared::names::{CLEANUP_FINALIZER, DELETION_STRATEGY, DELETION_STRATEGY_ORPHAN};
use eno_shared::{Compositions, Lookup, fixtures};
use jiff::{SignedDuration, Timestamp};

use super::facts::{Content, Current, Facts, InFlight, Neighbour, Owner, Slice};

impl Facts {
    pub fn slice(&self) -> ResourceSlice {
        let mut slice = fixtures::slice("web-a", &fixtures::composition("web"));
        let metadata = &mut slice.metadata;
        match self.owner {
            Owner::Found | Owner::Missing | Owner::Unknown => {}
            Owner::Replaced => metadata.owner_references[0].uid = "uid-of-the-old-web".into(),
            Owner::None => metadata.owner_references.clear(),
        }
        metadata.creation_timestamp = Some(self.created());
        metadata.deletion_timestamp = self.slice.is_deleting().then(|| fixtures::ago(1));
        metadata.finalizers = match self.slice {
            Slice::Live | Slice::Seconds4 | Slice::Seconds5 | Slice::Deleting => vec![CLEANUP_FINALIZER.into()],
            Slice::Bare => vec![],
            Slice::DeletingWithForeign => vec!["example.org/backup".into(), CLEANUP_FINALIZER.into()],
            Slice::DeletingForeignOnly => vec!["example.org/backup".into()],
        };
        slice.content = match self.content {
            Content::OneLeft => fixtures::content(2, 1),
            Content::AllDeleted => fixtures::content(2, 2),
            Content::Short => match fixtures::content(1, 1) {
                api::Content::Read { synthesis_uuid, states, .. } => {
                    api::Content::Read { synthesis_uuid, resources: 2, states }
                }
                api::Content::Unread => unreachable!("the fixture is of a slice that was read"),
            },
            Content::Unread => api::Content::Unread,
        };
        if let api::Content::Read { synthesis_uuid, .. } = &mut slice.content {
            let uuid = if self.in_flight == InFlight::AfterSameUuid { "in-flight" } else { "current" };
            *synthesis_uuid = uuid.into();
        }
        slice
    }

    pub fn compositions(&self) -> Compositions {
        let web = match self.owner {
            Owner::Found | Owner::Replaced | Owner::None => Lookup::Found(Arc::new(self.web())),
            Owner::Missing => Lookup::Missing,
            Owner::Unknown => Lookup::Unknown("403".into()),
        };
        let api = match self.neighbour {
            Neighbour::None => Lookup::Missing,
            Neighbour::Unknown => Lookup::Unknown("does not decode".into()),
            Neighbour::Live
            | Neighbour::Previous
            | Neighbour::Deleting
            | Neighbour::Reconciled
            | Neighbour::Finished => Lookup::Found(Arc::new(self.api())),
        };
        let read = [("web".to_owned(), web), ("api".to_owned(), api)];
        if self.whole { Compositions::whole(read) } else { Compositions::partial(read, "listing is forbidden") }
    }

    fn created(&self) -> Timestamp {
        fixtures::ago(self.slice.age_in_seconds())
    }

    fn web(&self) -> Composition {
        let mut web = fixtures::composition("web");
        if self.deleting {
            fixtures::delete(&mut web.metadata);
        }
        if !self.finalizer {
            web.metadata.finalizers.clear();
        }
        if self.orphans {
            web.metadata.annotations.insert(DELETION_STRATEGY.into(), DELETION_STRATEGY_ORPHAN.into());
        }
        let listed: &[&str] = if self.current == Current::Lists { &["web-z", "web-a"] } else { &["web-z"] };
        let mut current = fixtures::synthesis("current", listed);
        if self.observed {
            current.observed_composition_generation = web.metadata.generation;
        }
        if !self.reconciled {
            current.reconciled = None;
        }
        web.status.current_synthesis = (self.current != Current::None).then_some(current);
        let previous = if self.previous { "web-a" } else { "web-y" };
        web.status.previous_synthesis = Some(fixtures::synthesis("previous", &[previous]));
        web.status.in_flight_synthesis = self.in_flight();
        web
    }

    fn in_flight(&self) -> Option<Synthesis> {
        let after = match self.in_flight {
            InFlight::No => return None,
            InFlight::Before | InFlight::Canceled => Some(-10),
            InFlight::Undated => None,
            InFlight::Margin => Some(30),
            InFlight::After | InFlight::AfterListed | InFlight::AfterSameUuid => Some(31),
        };
        let listed: &[&str] = if self.in_flight == InFlight::AfterListed { &["web-a"] } else { &[] };
        let mut synthesis = fixtures::synthesis("in-flight", listed);
        synthesis.initialized = after.map(|seconds| self.created() + SignedDuration::from_secs(seconds));
        synthesis.canceled = (self.in_flight == InFlight::Canceled).then(fixtures::now);
        synthesis.reconciled = None;
        Some(synthesis)
    }

    fn api(&self) -> Composition {
        let mut api = fixtures::composition("api");
        let mut synthesis = fixtures::synthesis("of-api", &["api-z", "web-a"]);
        match self.neighbour {
            Neighbour::None | Neighbour::Unknown | Neighbour::Live => {}
            Neighbour::Previous => {
                api.status.previous_synthesis = Some(synthesis);
                return api;
            }
            Neighbour::Deleting => fixtures::delete(&mut api.metadata),
            Neighbour::Reconciled => {
                fixtures::delete(&mut api.metadata);
                synthesis.observed_composition_generation = api.metadata.generation;
            }
            Neighbour::Finished => {
                fixtures::delete(&mut api.metadata);
                api.metadata.finalizers.clear();
            }
        }
        api.status.current_synthesis = Some(synthesis);
        api
    }
}
