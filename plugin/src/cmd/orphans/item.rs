//! An orphan as it is shown.

use serde::Serialize;

use super::known::Place;
use crate::downstream::Resource;

/// The columns.
pub(super) const HEADERS: [&str; 6] = ["NAMESPACE", "RESOURCE", "STATE", "SLICE", "COMPOSITION", "KNOWN-FROM"];

/// One orphan of `-o json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OrphanItem {
    #[serde(flatten)]
    resource: Resource,
    /// What is told of its presence.
    message: String,
    /// The slice that it is known from.
    slice: SliceItem,
    /// `cluster` or `snapshot`.
    known_from: &'static str,
}

#[derive(Debug, Serialize)]
struct SliceItem {
    namespace: String,
    name: String,
    composition: Option<String>,
}

impl OrphanItem {
    pub(super) fn new(place: Place, resource: Resource) -> Self {
        OrphanItem {
            message: resource.presence.to_string(),
            resource,
            slice: SliceItem { namespace: place.namespace, name: place.slice, composition: place.composition },
            known_from: if place.from_snapshot { "snapshot" } else { "cluster" },
        }
    }

    /// Does it surely exist?
    pub(super) fn is_there(&self) -> bool {
        self.resource.presence.is_there()
    }

    /// The cells below [`HEADERS`], and below `MESSAGE` where that is wanted.
    pub(super) fn row(&self, wide: bool) -> Vec<String> {
        let none = || "<none>".to_owned();
        let namespace = &self.resource.of.namespace;
        let mut row = vec![
            if namespace.is_empty() { none() } else { namespace.clone() },
            self.resource_name(),
            self.resource.presence.as_str().to_owned(),
            format!("{}/{}", self.slice.namespace, self.slice.name),
            self.slice.composition.clone().unwrap_or_else(none),
            self.known_from.to_owned(),
        ];
        row.extend(wide.then(|| self.message.clone()));
        row
    }

    /// `deployment.apps/NAME`
    pub(super) fn resource_name(&self) -> String {
        let (group, kind, _, name) = self.resource.of.identity();
        let dot = if group.is_empty() { "" } else { "." };
        format!("{}{dot}{group}/{name}", kind.to_lowercase())
    }
}
