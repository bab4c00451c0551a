//! The columns of tables of compositions.

use super::{CompositionItem, Resources, Slices};
use crate::age::age;
use crate::item::column::{Column, joined, none};
use crate::item::first_and_more;

/// All columns, in their order. The first is shown only where there are several namespaces.
pub const COLUMNS: [Column<CompositionItem>; 15] = [
    Column::new("NAMESPACE", ".namespace", |item, _| item.namespace.clone()),
    Column::new("NAME", ".name", |item, _| item.name.clone()),
    Column::new("STATE", ".state", |item, _| item.state.to_owned()),
    Column::new("BLOCKED-BY", ".blockers[*].code", |item, _| {
        let codes: Vec<&str> = item.blockers.iter().map(|blocker| blocker.code).collect();
        first_and_more(&codes).unwrap_or_else(none)
    }),
    Column::new("SLICES", ".slices.total", |item, _| {
        let Slices { total, missing } = item.slices;
        if missing == 0 { total.to_string() } else { format!("{}/{total}", total - missing) }
    }),
    Column::new("RESOURCES", ".resources.total", |item, _| match &item.resources {
        Some(Resources { total, deleted, .. }) if item.deletion_timestamp.is_some() => format!("{deleted}/{total}"),
        Some(Resources { total, reconciled, .. }) => format!("{reconciled}/{total}"),
        None => "<unknown>".to_owned(),
    }),
    Column::new("AGE", ".creationTimestamp", |item, now| age(item.creation_timestamp, now)),
    Column::wide("DELETING", ".deletionTimestamp", |item, now| {
        item.deletion_timestamp.map_or_else(none, |since| age(Some(since), now))
    }),
    Column::wide("FINALIZERS", ".finalizers", |item, _| joined(item.finalizers.iter().map(String::as_str))),
    Column::wide("SYNTHESIS", ".syntheses.current", |item, _| {
        item.syntheses.current.as_ref().map_or_else(none, |uuid| uuid.chars().take(8).collect())
    }),
    Column::wide("SYNTHESIZER", ".synthesizer", |item, _| item.synthesizer.clone().unwrap_or_else(none)),
    Column::wide("SYMPHONY", ".symphony", |item, _| item.symphony.clone().unwrap_or_else(none)),
    Column::wide("DEPENDS-ON", ".dependsOn", |item, _| joined(item.depends_on.iter().map(String::as_str))),
    Column::wide("BLOCKERS", ".blockers[*].code", |item, _| joined(item.blockers.iter().map(|blocker| blocker.code))),
    Column::wide("MESSAGE", ".message", |item, _| item.message.clone()),
];
