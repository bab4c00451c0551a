//! What a report tells: findings, what is stuck, and what could not be read.

use std::path::{Path, PathBuf};

use eno_shared::api::Symphony;
use jiff::{SignedDuration, Timestamp};

use crate::finding::Finding;
use crate::finding::composition::CompositionFinding;
use crate::snapshot::Snapshot;
use crate::surroundings::Listing;

/// Where it was read.
pub(super) enum Origin {
    /// A cluster: the host of its API server.
    Cluster(String),
    /// Files, by their names alone: a ticket need not tell whose folders they lie in.
    Files(Vec<String>),
}

impl Origin {
    /// The files of `-f`.
    pub(super) fn files(paths: &[PathBuf]) -> Self {
        let name = |path: &PathBuf| match path.file_name() {
            Some(name) if path != Path::new("-") => name.to_string_lossy().into_owned(),
            Some(_) | None => "stdin".to_owned(),
        };
        Origin::Files(paths.iter().map(name).collect())
    }
}

/// What a report tells. The place of a finding in its list is its id in the page.
pub(super) struct Contents<'a> {
    pub origin: Origin,
    /// The only namespace; all, where there is none.
    pub namespace: Option<&'a str>,
    /// The moment at which all is judged.
    pub now: Timestamp,
    /// How long something may wait before it is stuck.
    pub patience: SignedDuration,
    pub symphonies: &'a [Symphony],
    pub compositions: Vec<CompositionFinding<'a>>,
    pub slices: Vec<Finding<'a>>,
    /// What could not be read, in sentences.
    pub gaps: Vec<String>,
}

impl<'a> Contents<'a> {
    /// Asks the rules about all of a snapshot.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        symphonies: &'a Listing<Symphony>,
        origin: Origin,
        namespace: Option<&'a str>,
        patience: SignedDuration,
    ) -> Self {
        let now = snapshot.now;
        let namespaces = &snapshot.namespaces;
        let homes: Vec<&str> = namespaces.names().filter(|name| namespace.is_none_or(|asked| asked == *name)).collect();
        let compositions = homes.iter().copied().flat_map(|home| {
            let names = namespaces.compositions(home).names();
            names.filter_map(move |name| CompositionFinding::of(snapshot, home, name))
        });
        let partial = |home: &str| namespaces.compositions(home).incomplete().map(str::to_owned);
        let mut gaps: Vec<String> = snapshot.slices_incomplete.iter().chain(&symphonies.incomplete).cloned().collect();
        gaps.extend(snapshot.slices.iter().filter_map(|seen| partial(&seen.metadata().namespace)));
        gaps.extend(homes.iter().copied().filter_map(partial));
        gaps.extend(snapshot.slices.iter().filter_map(|seen| seen.unreadable.clone()));
        gaps.sort();
        gaps.dedup();
        Contents {
            origin,
            namespace,
            now,
            patience,
            symphonies: &symphonies.items,
            compositions: compositions.collect(),
            slices: snapshot.slices.iter().map(|seen| Finding::of(seen, namespaces, now)).collect(),
            gaps,
        }
    }

    /// The slices that are stuck, by their ids.
    pub(super) fn stuck_slices(&self) -> impl Iterator<Item = (usize, &Finding<'a>)> {
        self.slices.iter().enumerate().filter(|(_, slice)| slice.is_stuck(self.now, self.patience))
    }

    /// The compositions that are stuck, by their ids.
    pub(super) fn stuck_compositions(&self) -> impl Iterator<Item = (usize, &CompositionFinding<'a>)> {
        self.compositions.iter().enumerate().filter(|(_, composition)| composition.is_stuck(self.now, self.patience))
    }
}
