//! `kubectl eno slices`: the verdict on each slice.

use std::process::ExitCode;

use eno_shared::Verdict;
use eno_shared::api::ResourceSlice;
use jiff::SignedDuration;

use super::listing::{Listing, check_names};
use super::watch::list::List;
use super::watch::{self, Stage};
use crate::age::is_older;
use crate::cli::{Cli, ListUntil, SlicesFlags};
use crate::failure::Failure;
use crate::finding::Finding;
use crate::item::{COLUMNS, Item};
use crate::live::board::Selected;
use crate::live::{Feed, Wants};
use crate::output::{self, Format};
use crate::query::{Depth, Query};
use crate::snapshot::Snapshot;
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
    if flags.watch.is_on() {
        return watch(flags, cli, format).await;
    }
    let (source, namespace) = super::facts(&flags.source, cli)?;
    let namespace = namespace.filter(|_| !flags.all_namespaces);
    let query = query(flags, namespace.clone(), &format);
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

fn query(flags: &SlicesFlags, namespace: Option<String>, format: &Format) -> Query {
    let content = matches!(format, Format::Text { wide: true }) || flags.watch.until == Some(ListUntil::Reconciled);
    Query {
        namespace,
        names: flags.names.clone(),
        labels: flags.selector.clone(),
        fields: flags.field_selector.clone(),
        composition: flags.composition.clone(),
        deleting: flags.deleting,
        depth: if content { Depth::Content } else { Depth::Rules },
        slices_may_fail: false,
    }
}

async fn watch(flags: &SlicesFlags, cli: &Cli, format: Format) -> Result<ExitCode, Failure> {
    let stage = Stage::open(matches!(format, Format::Text { .. }), cli.global.verbosity);
    let (cluster, namespace) = super::cluster(cli, flags.source.concurrency, &stage.warnings)?;
    let namespace = Some(namespace).filter(|_| !flags.all_namespaces);
    let query = query(flags, namespace.clone(), &format);
    let wants = Wants { query: query.clone(), ..Wants::default() };
    let feed = Feed::start(&cluster, wants).await?;
    let asked = namespace.as_deref().unwrap_or_default();
    // Of what does not exist, nothing will ever be told; but it may be waited for to be gone.
    let absent = flags.names.iter().find(|name| feed.snapshot().seen(asked, name).is_none());
    if let Some(name) = absent.filter(|_| flags.watch.until.is_none_or(|until| until == ListUntil::Reconciled)) {
        return Err(Failure::not_found::<ResourceSlice>(name, false));
    }
    let (verdicts, stuck) = (flags.verdicts.clone(), flags.stuck);
    let keeps = move |snapshot: &Snapshot, item: &Item| {
        let wanted = snapshot.seen(item.namespace(), item.name()).is_some_and(|seen| {
            query.wants(seen.metadata(), snapshot.namespaces.compositions(&seen.metadata().namespace))
        });
        wanted
            && (verdicts.is_empty() || verdicts.iter().any(|verdict| item.is(*verdict)))
            && (!stuck || item.is_stuck())
    };
    let listing = watch::list::Listing {
        selected: Selected { keeps: Box::new(keeps), older_than: flags.older_than },
        patience: SignedDuration::try_from(flags.source.stuck_after).map_err(Failure::local)?,
        namespace: namespace.as_deref(),
        format,
        sort_by: flags.sort_by.clone(),
        output: &flags.output,
        watch: &flags.watch,
    };
    let mut list = List::new(listing, &feed)?;
    stage.watch(feed, &mut list, flags.watch.timeout).await
}
