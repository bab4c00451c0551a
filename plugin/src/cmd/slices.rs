//! `kubectl eno slices`: the verdict on each slice.

use std::process::ExitCode;

use eno_shared::Verdict;
use eno_shared::api::ResourceSlice;
use eno_shared::names::ENO_GROUP;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::age::is_older;
use crate::cli::{Cli, SlicesFlags};
use crate::failure::Failure;
use crate::finding::Finding;
use crate::item::{COLUMNS, Column, Item};
use crate::output::table::{Table, sanitized};
use crate::output::{self, Format, Objects};
use crate::query::{Depth, Query};
use crate::source::Source;
use crate::warnings::say;

/// Runs the command.
///
/// # Errors
/// Where the slices cannot be read, or the flags make no sense together.
pub(super) async fn run(flags: &SlicesFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    check(flags)?;
    let (source, namespace) = super::facts(&flags.source, cli)?;
    let namespace = namespace.filter(|_| !flags.all_namespaces);
    let query = Query {
        namespace: namespace.clone(),
        names: flags.names.clone(),
        labels: flags.selector.clone(),
        fields: flags.field_selector.clone(),
        composition: flags.composition.clone(),
        deleting: flags.deleting,
        depth: if matches!(format, Format::Text { wide: true }) { Depth::Content } else { Depth::Rules },
        slices_may_fail: false,
    };
    let snapshot = source.snapshot(&query).await?;
    let patience = SignedDuration::try_from(flags.source.stuck_after).map_err(Failure::local)?;
    let now = snapshot.now;
    let findings = snapshot.slices.iter().map(|seen| Finding::of(seen, &snapshot.namespaces, now));
    let mut items: Vec<Item> = findings
        .filter(|finding| {
            let created = finding.seen.metadata().creation_timestamp;
            flags.older_than.is_none_or(|age| is_older(created, age, now))
        })
        .filter(|finding| flags.verdicts.is_empty() || flags.verdicts.contains(&finding.judgement.verdict))
        .map(|finding| Item::new(&finding, now, patience))
        .filter(|item| !flags.stuck || item.is_stuck())
        .collect();
    if let Some(by) = &flags.sort_by {
        let columns = COLUMNS.map(|column| (column.header, column.path));
        output::sort(&mut items, by, &columns)?;
    }
    let unknown = items.iter().filter(|item| item.is(Verdict::Unknown)).count();
    let one = flags.names.len() == 1 && snapshot.missing.is_empty();
    print(&format, items, one, namespace.as_deref(), now, flags)?;
    if unknown > 0 && !flags.source.filenames.is_empty() && !flags.source.complete {
        let verdicts = if unknown == 1 { "1 verdict is" } else { &format!("{unknown} verdicts are") };
        say(format_args!(
            "Warning: {verdicts} Unknown: the dump may lack compositions (--complete says that it does not)"
        ));
    }
    let mut code = ExitCode::SUCCESS;
    for name in &snapshot.missing {
        code = Failure::not_found::<ResourceSlice>(name, matches!(source, Source::Dump(_))).report();
    }
    Ok(code)
}

/// What kubectl refuses, in its words.
fn check(flags: &SlicesFlags) -> Result<(), Failure> {
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
    items: Vec<Item>,
    one: bool,
    namespace: Option<&str>,
    now: Timestamp,
    flags: &SlicesFlags,
) -> Result<(), Failure> {
    let nothing = items.is_empty();
    match format {
        Format::Text { wide } => {
            let shown =
                |column: &&Column| (*wide || !column.wide) && (namespace.is_none() || column.header != "NAMESPACE");
            let columns: Vec<&Column> = COLUMNS.iter().filter(shown).collect();
            let headers: Vec<&str> = columns.iter().map(|column| column.header).collect();
            let row = |item: &Item| columns.iter().map(|column| column.cell(item, now)).collect();
            let table = Table::new(&headers, items.iter().map(row).collect());
            let paint = output::painter(flags.output.color);
            let style = |header: &str, cell: &str| if header == "VERDICT" { paint(cell) } else { cell.to_owned() };
            output::lines(table.lines(!flags.output.no_headers, "", style))?;
        }
        Format::Name => {
            output::lines(
                items.iter().map(|item| sanitized(&format!("resourceslice.{ENO_GROUP}/{}", item.name()))).collect(),
            )?;
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
