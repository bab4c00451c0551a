//! What was heard, as a snapshot that is kept current, and what each piece of news makes different.

mod around;
mod heard;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eno_shared::Lookup;
use eno_shared::api::{Composition, Content, Kind, Metadata, ResourceSlice, Symphony, decode_value};
use jiff::Timestamp;
use serde_json::Value;

use super::{Change, Place};
use crate::outbox::Outbox;
use crate::query::Query;
use crate::snapshot::{Namespaces, Read, Seen, Snapshot};
use crate::surroundings::{Listing, Namespace};
use crate::warnings::Warnings;
use heard::Heard;

/// Why nothing is known yet.
const NOT_READ_YET: &str = "not read yet";

/// What was heard.
pub(super) struct Facts {
    pub query: Query,
    pub snapshot: Snapshot,
    /// The namespace, where only one is watched.
    pub namespace: Lookup<Namespace>,
    pub symphonies: Listing<Symphony>,
    /// The uid of the cluster, by which the outbox of pods is known to be its.
    pub cluster_uid: String,
    /// The pods that were followed at the last [`Facts::settle_pods`].
    followed: BTreeSet<Place>,
    warnings: Warnings,
    /// What was heard since the last [`Facts::settle`].
    heard: Heard,
    /// Slices whose content is older than their metadata.
    outdated: BTreeSet<Place>,
    /// Slices that could not be read: not tried again before [`Facts::retry`].
    failed: BTreeSet<Place>,
}

impl Facts {
    pub(super) fn new(query: Query, warnings: Warnings) -> Self {
        let unread = Read { otherwise: Some(NOT_READ_YET.to_owned()), ..Read::default() };
        let snapshot = Snapshot {
            now: Timestamp::now(),
            slices: vec![],
            slices_incomplete: Some(NOT_READ_YET.to_owned()),
            missing: vec![],
            namespaces: Namespaces::new(unread, BTreeMap::new()),
            pods: BTreeMap::new(),
            outbox: Outbox::default(),
        };
        Facts {
            query,
            snapshot,
            namespace: Lookup::Unknown(NOT_READ_YET.to_owned()),
            symphonies: Listing { items: vec![], incomplete: None },
            cluster_uid: String::new(),
            followed: BTreeSet::new(),
            warnings,
            heard: Heard::default(),
            outdated: BTreeSet::new(),
            failed: BTreeSet::new(),
        }
    }

    /// Compositions cannot be listed.
    pub(super) fn no_compositions(&mut self, why: String) {
        self.snapshot.namespaces.reread(Read { otherwise: Some(why), ..Read::default() });
        self.heard.everywhere = true;
    }

    /// These are all slices.
    pub(super) fn all_slices(&mut self, objects: Vec<Value>) {
        let mut old: BTreeMap<Place, Seen> = std::mem::take(&mut self.snapshot.slices)
            .into_iter()
            .map(|seen| (place_of(seen.metadata()), seen))
            .collect();
        for object in objects {
            let new = slice(object);
            let place = place_of(new.metadata());
            let seen = match old.remove(&place) {
                Some(seen) if is_same(seen.metadata(), new.metadata()) => seen,
                known => self.replaced(known, new),
            };
            self.snapshot.slices.push(seen);
        }
        self.snapshot.slices.sort_by(|a, b| a.place().cmp(&b.place()));
        self.heard.slices.extend(old.into_keys());
        self.heard.everywhere |= self.snapshot.slices_incomplete.take().is_some();
    }

    /// A slice was made or changed.
    pub(super) fn slice_exists(&mut self, object: Value) {
        let new = slice(object);
        match self.position(&place_of(new.metadata())) {
            Ok(index) if is_same(self.snapshot.slices[index].metadata(), new.metadata()) => {}
            Ok(index) => {
                let known = std::mem::take(&mut self.snapshot.slices[index]);
                self.snapshot.slices[index] = self.replaced(Some(known), new);
            }
            Err(index) => {
                let seen = self.replaced(None, new);
                self.snapshot.slices.insert(index, seen);
            }
        }
    }

    /// A slice is gone.
    pub(super) fn slice_gone(&mut self, object: Value) {
        let place = place_of(slice(object).metadata());
        if let Ok(index) = self.position(&place) {
            self.snapshot.slices.remove(index);
            self.heard.slices.insert(place);
        }
    }

    /// Its new metadata, with the content it had: until that is read again it is the best there is.
    fn replaced(&mut self, known: Option<Seen>, new: Seen) -> Seen {
        let place = place_of(new.metadata());
        let kept = known.filter(|known| known.metadata().uid == new.metadata().uid && new.unreadable.is_none());
        let seen = match kept {
            Some(mut known) if matches!(known.slice.content, Content::Read { .. }) => {
                self.outdated.insert(place.clone());
                known.slice.metadata = new.slice.metadata;
                known
            }
            Some(_) | None => new,
        };
        self.failed.remove(&place);
        self.heard.slices.insert(place);
        seen
    }

    /// A slice was read whole; an error is that it does not decode.
    pub(super) fn slice_read(&mut self, place: &Place, read: Result<Seen, String>) {
        let Ok(index) = self.position(place) else { return };
        let seen = &mut self.snapshot.slices[index];
        match read {
            Ok(whole) => *seen = whole.kept(self.query.depth),
            Err(why) => seen.unreadable = Some(why),
        }
        self.outdated.remove(place);
        self.heard.slices.insert(place.clone());
    }

    /// A slice could not be read.
    pub(super) fn slice_not_read(&mut self, place: Place) {
        self.failed.insert(place);
    }

    /// The API server answers again.
    pub(super) fn retry(&mut self) {
        self.heard.slices.extend(std::mem::take(&mut self.failed));
    }

    /// These are all compositions.
    pub(super) fn all_compositions(&mut self, objects: Vec<Value>) {
        let new: BTreeMap<Place, _> = objects.into_iter().map(|object| self.composition(object)).collect();
        let namespaces = &self.snapshot.namespaces;
        let old = namespaces
            .names()
            .flat_map(|home| namespaces.compositions(home).names().map(move |name| (home.to_owned(), name.to_owned())));
        let places: BTreeSet<Place> = old.chain(new.keys().cloned()).collect();
        for place in places {
            let known = self.snapshot.namespaces.compositions(&place.0).get(&place.1);
            match (known, new.get(&place).map_or(Lookup::Missing, |lookup| lookup.as_ref().map(Arc::as_ref))) {
                (Lookup::Found(a), Lookup::Found(b)) if is_same(&a.metadata, &b.metadata) => {}
                (old, new) => self.heard.composition(place.clone(), &old, &new),
            }
        }
        let read = Read {
            compositions: new.into_iter().map(|((namespace, name), lookup)| (namespace, name, lookup)).collect(),
            ..Read::default()
        };
        self.heard.everywhere |= self.snapshot.namespaces.otherwise_unknown();
        self.snapshot.namespaces.reread(read);
    }

    /// A composition was made or changed.
    pub(super) fn composition_exists(&mut self, object: Value) {
        let (place, new) = self.composition(object);
        let old = self.snapshot.namespaces.set(&place.0, &place.1, new.clone()).unwrap_or(Lookup::Missing);
        self.heard.composition(place, &old.as_ref().map(Arc::as_ref), &new.as_ref().map(Arc::as_ref));
    }

    /// A composition is gone.
    pub(super) fn composition_gone(&mut self, object: &Value) {
        let place = named(object);
        if let Some(old) = self.snapshot.namespaces.remove(&place.0, &place.1) {
            self.heard.composition(place, &old.as_ref().map(Arc::as_ref), &Lookup::Missing);
        }
    }

    fn composition(&self, object: Value) -> (Place, Lookup<Arc<Composition>>) {
        let place = named(&object);
        let lookup = match decode_value::<Composition>(object) {
            Ok(composition) => Lookup::Found(Arc::new(composition)),
            Err(error) => {
                let why = format!("{} {}: {error}", Composition::SINGULAR, place.1);
                self.warnings.warn(&why);
                Lookup::Unknown(why)
            }
        };
        (place, lookup)
    }

    /// Was anything heard that makes a difference?
    pub(super) fn is_unsettled(&self) -> bool {
        !self.heard.is_nothing()
    }

    /// What may be judged otherwise after all that was heard, neighbours included; and the slices that must be read whole.
    pub(super) fn settle(&mut self, change: &mut Change) -> Vec<Place> {
        let heard = std::mem::take(&mut self.heard);
        let (slices, compositions) = heard.touched(&self.snapshot);
        let now = self.snapshot.now;
        let wanted = slices.iter().filter(|place| self.must_be_read(place, now)).cloned().collect();
        change.slices.extend(slices);
        change.compositions.extend(compositions);
        wanted
    }

    /// Must it be read, or read again? Content that nothing asks for any more is dropped.
    fn must_be_read(&mut self, place: &Place, now: Timestamp) -> bool {
        let Ok(index) = self.position(place) else {
            self.outdated.remove(place);
            self.failed.remove(place);
            return false;
        };
        let seen = &self.snapshot.slices[index];
        let is_read = matches!(seen.slice.content, Content::Read { .. });
        if seen.unreadable.is_some() || self.failed.contains(place) || (is_read && !self.outdated.contains(place)) {
            return false;
        }
        let compositions = self.snapshot.namespaces.compositions(&place.0);
        let needs = self.query.wants(seen.metadata(), compositions) && {
            let of_metadata = |metadata: &Metadata| ResourceSlice::of_metadata(metadata.clone());
            let bare = if is_read { &of_metadata(seen.metadata()) } else { &seen.slice };
            self.query.needs_whole(bare, compositions, now)
        };
        if !needs && is_read {
            let metadata = std::mem::take(&mut self.snapshot.slices[index].slice.metadata);
            self.snapshot.slices[index] = Seen::of_metadata(metadata);
            self.outdated.remove(place);
        }
        needs
    }

    fn position(&self, (namespace, name): &Place) -> Result<usize, usize> {
        self.snapshot.position(namespace, name)
    }
}

/// A slice of which only metadata was sent.
fn slice(object: Value) -> Seen {
    let place = named(&object);
    match object.get("metadata").map(|metadata| serde_json::from_value::<Metadata>(metadata.clone())) {
        Some(Ok(metadata)) => Seen::of_metadata(metadata),
        Some(Err(error)) => unreadable(place, &error.to_string()),
        None => unreadable(place, "it has no metadata"),
    }
}

fn unreadable((namespace, name): Place, error: &str) -> Seen {
    let why = format!("{} {name}: {error}", ResourceSlice::SINGULAR);
    Seen { unreadable: Some(why), ..Seen::of_metadata(Metadata { namespace, name, ..Metadata::default() }) }
}

/// Are they of one version of one object?
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.uid == b.uid && a.resource_version == b.resource_version
}

pub(super) fn place_of(metadata: &Metadata) -> Place {
    (metadata.namespace.clone(), metadata.name.clone())
}

pub(super) fn named(object: &Value) -> Place {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}

#[cfg(test)]
mod tests;
