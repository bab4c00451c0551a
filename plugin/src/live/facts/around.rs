//! What surrounds slices and compositions: namespaces, symphonies, pods.

use std::collections::BTreeSet;

use eno_shared::Lookup;
use eno_shared::api::{Kind, Symphony, decode_value};
use serde_json::Value;

use super::{Facts, named, place_of};
use crate::item::pod;
use crate::live::{Change, Place};
use crate::surroundings::Listing;

impl Facts {
    /// These are all namespaces that are watched.
    pub(in crate::live) fn all_namespaces(&mut self, objects: Vec<Value>) {
        let found: BTreeSet<String> = objects.iter().map(|object| named(object).1).collect();
        let known = self.snapshot.namespaces.known_terminating();
        known.into_iter().filter(|name| !found.contains(name)).for_each(|gone| self.namespace_gone(gone));
        if found.is_empty() {
            self.namespace = Lookup::Missing;
        }
        objects.into_iter().for_each(|object| self.namespace_exists(object));
    }

    /// A namespace was made or changed.
    pub(in crate::live) fn namespace_exists(&mut self, object: Value) {
        let (name, terminating) = (named(&object).1, object["metadata"]["deletionTimestamp"].is_string());
        if self.snapshot.namespaces.terminating(&name).unwrap_or_default() != terminating {
            self.heard.namespaces.insert(name.clone());
        }
        if self.query.namespace.as_ref() == Some(&name) {
            let read = serde_json::from_value(object);
            let new = read.map_or_else(|error| Lookup::Unknown(error.to_string()), Lookup::Found);
            if new != self.namespace {
                self.heard.namespaces.insert(name.clone());
                self.namespace = new;
            }
        }
        self.snapshot.namespaces.set_terminating(name, terminating);
    }

    /// A namespace is gone.
    pub(in crate::live) fn namespace_gone(&mut self, name: String) {
        if self.query.namespace.as_ref() == Some(&name) {
            self.namespace = Lookup::Missing;
        }
        self.snapshot.namespaces.forget_terminating(&name);
        self.heard.namespaces.insert(name);
    }

    /// These are all symphonies. One that does not decode may be any.
    pub(in crate::live) fn all_symphonies(&mut self, objects: Vec<Value>) {
        self.symphonies = Listing { items: vec![], incomplete: None };
        objects.into_iter().for_each(|object| self.symphony_exists(object));
    }

    /// A symphony was made or changed.
    pub(in crate::live) fn symphony_exists(&mut self, object: Value) {
        let place = named(&object);
        self.symphony_gone(&place);
        match decode_value::<Symphony>(object) {
            Ok(symphony) => {
                let items = &mut self.symphonies.items;
                let index = items.partition_point(|known| place_of(&known.metadata) < place);
                items.insert(index, symphony);
            }
            Err(error) => {
                let why = format!("{} {}: {error}", Symphony::SINGULAR, place.1);
                self.warnings.warn(&why);
                self.symphonies.incomplete = Some(why);
            }
        }
    }

    /// A symphony is gone.
    pub(in crate::live) fn symphony_gone(&mut self, place: &Place) {
        self.symphonies.items.retain(|known| place_of(&known.metadata) != *place);
    }

    /// A shard of the outbox of pods was made or changed.
    pub(in crate::live) fn shard_exists(&mut self, object: Value) {
        self.snapshot.outbox.put(object, &self.cluster_uid, &self.warnings);
    }

    /// What may be shown otherwise of the pods that are followed: those that are, and those that were when this was asked
    /// last. They are few, and cheap to judge.
    pub(in crate::live) fn settle_pods(&mut self, change: &mut Change) {
        let now: BTreeSet<Place> = pod::places(&self.snapshot.outbox).collect();
        change.followed.extend(std::mem::replace(&mut self.followed, now.clone()));
        change.followed.extend(now);
    }

    /// A pod was made or changed.
    pub(in crate::live) fn pod_exists(&mut self, object: Value) {
        let place = named(&object);
        // Pods decide nothing: one that does not decode is not shown.
        if let Ok(pod) = serde_json::from_value(object) {
            self.snapshot.pods.insert(place, pod);
        }
    }
}
