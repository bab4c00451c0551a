//! `kubectl eno compositions`: the state of each composition, and what it waits for.

use std::process::ExitCode;

use eno_shared::api::Composition;
use jiff::SignedDuration;

use super::listing::{Listing, check_names};
use crate::age::is_older;
use crate::cli::{Cli, CompositionsFlags};
use crate::failure::{ERROR, Failure};
use crate::finding::composition::CompositionFinding;
use crate::item::composition::{COLUMNS, CompositionItem};
use crate::output::{self, Format};
use crate::query::{Depth, Query};
use crate::selector::Selection;
use crate::snapshot::Snapshot;
use crate::source::Source;

/// Runs the command.
///
/// # Errors
/// Where nothing can be read, or the flags make no sense together.
pub(super) async fn run(flags: &CompositionsFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    let everywhere = flags.all_namespaces && flags.source.filenames.is_empty();
    check_names(&flags.names, everywhere, flags.selector.is_some() || flags.field_selector.is_some())?;
    let selection = Selection::parse(flags.selector.as_deref(), flags.field_selector.as_deref());
    let selection = selection.map_err(Failure::local)?;
    let (source, namespace) = super::facts(&flags.source, cli)?;
    let namespace = namespace.filter(|_| !flags.all_namespaces);
    let query = Query {
        namespace: namespace.clone(),
        depth: if matches!(format, Format::Text { wide: true }) { Depth::Content } else { Depth::Undone },
        slices_may_fail: true,
        ..Query::default()
    };
    let snapshot = source.snapshot(&query).await?;
    let patience = SignedDuration::try_from(flags.source.stuck_after).map_err(Failure::local)?;
    let now = snapshot.now;
    let findings = findings(&snapshot, namespace.as_deref());
    let missing: Vec<&String> =
        flags.names.iter().filter(|name| findings.iter().all(|finding| finding.name != *name)).collect();
    let mut items: Vec<CompositionItem> = findings
        .iter()
        .filter(|finding| flags.names.is_empty() || flags.names.iter().any(|name| name == finding.name))
        .filter(|finding| match &finding.composition {
            Ok(composition) => {
                let metadata = &composition.metadata;
                selection.matches(metadata)
                    && (!flags.deleting || metadata.is_deleting())
                    && flags.older_than.is_none_or(|age| is_older(metadata.creation_timestamp, age, now))
            }
            // Nobody can say whether it is one of those that are asked for.
            Err(_) => true,
        })
        .map(|finding| CompositionItem::new(finding, now, patience))
        .filter(|item| flags.states.is_empty() || flags.states.contains(&item.state()))
        .filter(|item| !flags.stuck || item.is_stuck())
        .collect();
    if let Some(by) = &flags.sort_by {
        let columns = COLUMNS.map(|column| (column.header, column.path));
        output::sort(&mut items, by, &columns)?;
    }
    let alone = flags.names.len() == 1 && missing.is_empty();
    let offline = matches!(source, Source::Dump(_));
    // Where the list was refused, a warning says so already.
    let place = namespace.as_deref().unwrap_or_default();
    if !offline && findings.is_empty() && snapshot.namespaces.compositions(place).incomplete().is_some() {
        return Ok(ExitCode::from(ERROR));
    }
    let listing = Listing {
        items,
        columns: &COLUMNS,
        coloured: "STATE",
        name: CompositionItem::name,
        named: !flags.names.is_empty(),
        alone,
        namespace: namespace.as_deref(),
        now,
    };
    listing.print::<Composition>(&format, &flags.output)?;
    let mut code = ExitCode::SUCCESS;
    for name in missing {
        code = Failure::not_found::<Composition>(name, offline).report();
    }
    Ok(code)
}

/// Of all compositions of the namespace, or of all namespaces.
fn findings<'s>(snapshot: &'s Snapshot, namespace: Option<&str>) -> Vec<CompositionFinding<'s>> {
    let asked = snapshot.namespaces.names().filter(|name| namespace.is_none_or(|asked| asked == *name));
    asked
        .flat_map(|namespace| {
            let names = snapshot.namespaces.compositions(namespace).names();
            names.filter_map(move |name| CompositionFinding::of(snapshot, namespace, name))
        })
        .collect()
}
