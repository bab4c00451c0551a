//! `kubectl eno slices`: the verdict on each slice.

use std::process::ExitCode;

use eno_shared::Verdict;
use eno_shared::api::ResourceSlice;
use jiff::SignedDuration;

use super::listing::{Listing, check_names};
use crate::age::is_older;
use crate::cli::{Cli, SlicesFlags};
use crate::failure::Failure;
use crate::finding::Finding;
use crate::item::{COLUMNS, Item};
use crate::output::{self, Format};
use crate::query::{Depth, Query};
use crate::source::Source;
use crate::warnings::say;

/// Runs the command.
///
/// # Errors
/// Where the slices cannot be read, or the flags make no sense together.
pub(super) async fn run(flags: &SlicesFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    let everywhere = flags.all_namespaces && flags.source.filenames.is_empty();
    check_names(&flags.names, everywhere, flags.selector.is_some() || flags.field_selector.is_some())?;
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
    let alone = flags.names.len() == 1 && snapshot.missing.is_empty();
    let listing = Listing {
        items,
        columns: &COLUMNS,
        coloured: "VERDICT",
        name: Item::name,
        named: !flags.names.is_empty(),
        alone,
        namespace: namespace.as_deref(),
        now,
    };
    listing.print::<ResourceSlice>(&format, &flags.output)?;
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
