//! What files say of themselves, where they are snapshots.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::files;
use super::marker::Marker;

/// What the files of a dump say.
#[derive(Default)]
pub(super) struct Said {
    /// Is one of the files no snapshot?
    others: bool,
    /// When the last one was taken.
    pub taken: Option<Timestamp>,
    /// What they lack.
    pub lacks: Vec<String>,
    /// Namespaces of which they hold all.
    pub namespaces: BTreeSet<String>,
}

impl Said {
    /// Adds what a file says.
    pub(super) fn of(&mut self, file: &Path, objects: &[Box<RawValue>]) {
        let Some(marker) = objects.first().and_then(|object| Marker::read(object.get())) else {
            self.others = true;
            return;
        };
        self.taken = self.taken.max(Some(marker.taken));
        if let Some(lacks) = marker.lacks() {
            self.lacks.push(format!("{} is not all there was: {lacks}", files::shown(file)));
            self.namespaces.extend(marker.namespace.filter(|_| marker.missing.is_empty()));
        }
    }

    /// Are all files snapshots of all there was?
    pub(super) fn all(&self) -> bool {
        !self.others && self.taken.is_some() && self.lacks.is_empty()
    }
}
