//! Columns of tables, and those of tables of slices.

use jiff::Timestamp;

use super::{Item, Resources};
use crate::age::age;
use crate::finding::OwnerState;

/// One column of a table of such items.
pub struct Column<I> {
    /// Its header.
    pub header: &'static str,
    /// The jsonpath to what `--sort-by HEADER` sorts by.
    pub path: &'static str,
    /// Shown with `-o wide` only.
    pub wide: bool,
    cell: fn(&I, Timestamp) -> String,
}

impl<I> Column<I> {
    pub(super) const fn new(header: &'static str, path: &'static str, cell: fn(&I, Timestamp) -> String) -> Self {
        Column { header, path, wide: false, cell }
    }

    pub(super) const fn wide(header: &'static str, path: &'static str, cell: fn(&I, Timestamp) -> String) -> Self {
        Column { header, path, wide: true, cell }
    }

    /// The text of the item's cell.
    pub fn cell(&self, item: &I, now: Timestamp) -> String {
        (self.cell)(item, now)
    }
}

/// All columns, in their order. The first is shown only where there are several namespaces.
pub const COLUMNS: [Column<Item>; 13] = [
    Column::new("NAMESPACE", ".namespace", |item, _| item.namespace.clone()),
    Column::new("NAME", ".name", |item, _| item.name.clone()),
    Column::new("COMPOSITION", ".composition.name", |item, _| {
        item.composition.as_ref().map_or_else(none, |owner| owner.name.clone())
    }),
    Column::new("VERDICT", ".verdict", |item, _| item.verdict.to_owned()),
    Column::new("REASON", ".reason", |item, _| item.reason.to_owned()),
    Column::new("AGE", ".creationTimestamp", |item, now| age(item.creation_timestamp, now)),
    Column::wide("DELETING", ".deletionTimestamp", |item, now| {
        item.deletion_timestamp.map_or_else(none, |since| age(Some(since), now))
    }),
    Column::wide("FINALIZERS", ".finalizers", |item, _| joined(item.finalizers.iter().map(String::as_str))),
    Column::wide("RESOURCES", ".resources.total", |item, _| match &item.resources {
        Some(Resources { total, deleted, .. }) => format!("{deleted}/{total}"),
        None => "<unknown>".to_owned(),
    }),
    Column::wide("SYNTHESIS", ".synthesisUUID", |item, _| match item.synthesis_uuid.as_deref() {
        Some("") => "<unset>".to_owned(),
        Some(uuid) => uuid.chars().take(8).collect(),
        None => "<unknown>".to_owned(),
    }),
    Column::wide("OWNER-UID", ".composition.found", |item, _| {
        item.composition.as_ref().map_or_else(none, |owner| match owner.state {
            OwnerState::Found => "ok".to_owned(),
            OwnerState::Replaced => "mismatch".to_owned(),
            OwnerState::Gone => "gone".to_owned(),
            OwnerState::Unknown => "<unknown>".to_owned(),
        })
    }),
    Column::wide("BLOCKERS", ".blockers[*].code", |item, _| joined(item.blockers.iter().map(|blocker| blocker.code))),
    Column::wide("MESSAGE", ".message", |item, _| item.message.clone()),
];

/// What an empty cell shows.
pub fn none() -> String {
    "<none>".to_owned()
}

pub(super) fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.collect();
    if texts.is_empty() { none() } else { texts.join(",") }
}
