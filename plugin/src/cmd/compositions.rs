//! `kubectl eno compositions`: the state of each composition, and what it waits for.

use std::process::ExitCode;

use eno_shared::api::{Composition, Kind};
use eno_shared::names::ENO_GROUP;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::age::is_older;
use crate::cli::{Cli, CompositionsFlags};
use crate::failure::{ERROR, Failure};
use crate::finding::composition::CompositionFinding;
use crate::item::composition::{COLUMNS, Column, CompositionItem};
use crate::output::table::{Table, sanitized};
use crate::output::{self, Format, Objects};
use crate::query::{Depth, Query};
use crate::selector::Selection;
use crate::snapshot::Snapshot;
use crate::source::Source;
use crate::warnings::say;

/// Runs the command.
///
/// # Errors
/// Where nothing can be read, or the flags make no sense together.
pub(super) async fn run(flags: &CompositionsFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    check(flags)?;
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
    let one = flags.names.len() == 1 && missing.is_empty();
    let offline = matches!(source, Source::Dump(_));
    // Where the list was refused, a warning says so already.
    let place = namespace.as_deref().unwrap_or_default();
    if !offline && findings.is_empty() && snapshot.namespaces.compositions(place).incomplete().is_some() {
        return Ok(ExitCode::from(ERROR));
    }
    print(&format, items, one, namespace.as_deref(), now, flags)?;
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

/// What kubectl refuses, in its words.
fn check(flags: &CompositionsFlags) -> Result<(), Failure> {
    if flags.names.is_empty() {
        return Ok(());
    }
    if flags.all_namespaces && flags.source.filenames.is_empty() {
        return Err(Failure::local("a resource cannot be retrieved by name across all namespaces"));
    }
    if flags.selector.is_some() || flags.field_selector.is_some() {
        return Err(Failure::local("name cannot be provided when a selector is specified"));
    }
    Ok(())
}

fn print(
    format: &Format,
    items: Vec<CompositionItem>,
    one: bool,
    namespace: Option<&str>,
    now: Timestamp,
    flags: &CompositionsFlags,
) -> Result<(), Failure> {
    let nothing = items.is_empty();
    match format {
        Format::Text { wide } => {
            let shown =
                |column: &&Column| (*wide || !column.wide) && (namespace.is_none() || column.header != "NAMESPACE");
            let columns: Vec<&Column> = COLUMNS.iter().filter(shown).collect();
            let headers: Vec<&str> = columns.iter().map(|column| column.header).collect();
            let row = |item: &CompositionItem| columns.iter().map(|column| column.cell(item, now)).collect();
            let table = Table::new(&headers, items.iter().map(row).collect());
            let paint = output::painter(flags.output.color);
            let style = |header: &str, cell: &str| if header == "STATE" { paint(cell) } else { cell.to_owned() };
            output::lines(table.lines(!flags.output.no_headers, "", style))?;
        }
        Format::Name => {
            let name =
                |item: &CompositionItem| sanitized(&format!("{}.{ENO_GROUP}/{}", Composition::SINGULAR, item.name()));
            output::lines(items.iter().map(name).collect())?;
        }
        Format::Objects(form) => {
            let values = items.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
            let mut values = values.map_err(Failure::local)?;
            let objects = if one && values.len() == 1 { Objects::One(values.remove(0)) } else { Objects::List(values) };
            return form.print(objects, flags.output.no_headers);
        }
    }
    if nothing && flags.names.is_empty() {
        match namespace {
            Some(namespace) => say(format_args!("No resources found in {namespace} namespace.")),
            None => say("No resources found"),
        }
    }
    Ok(())
}
