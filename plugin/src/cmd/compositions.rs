//! `kubectl eno compositions`: the state of each composition, and what it waits for.

use std::process::ExitCode;

use eno_shared::Lookup;
use eno_shared::api::Composition;
use jiff::SignedDuration;

use super::listing::{Listing, check_names};
use super::watch::list::List;
use super::watch::{self, Stage};
use crate::age::is_older;
use crate::cli::{Cli, CompositionsFlags, ListUntil};
use crate::failure::{CANNOT_TELL, ERROR, Failure};
use crate::finding::composition::CompositionFinding;
use crate::item::composition::{COLUMNS, CompositionItem};
use crate::live::board::Selected;
use crate::live::{Feed, Wants};
use crate::output::{self, Format};
use crate::query::{Depth, Query};
use crate::selector::Selection;
use crate::snapshot::Snapshot;
use crate::source::Source;
use crate::warnings::Warnings;

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
    if flags.watch.is_on() {
        return watch(flags, cli, format, selection).await;
    }
    let (source, namespace) = super::facts(&flags.source, cli)?;
    let namespace = namespace.filter(|_| !flags.all_namespaces);
    let query = query(namespace.clone(), &format);
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
    if !offline && namespace.is_none() && snapshot.namespaces.otherwise_unknown() {
        Warnings::default().warn(
            "compositions can be listed in single namespaces only: those in namespaces without slices are not shown",
        );
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

fn query(namespace: Option<String>, format: &Format) -> Query {
    let depth = if matches!(format, Format::Text { wide: true }) { Depth::Content } else { Depth::Undone };
    Query { namespace, depth, slices_may_fail: true, ..Query::default() }
}

async fn watch(
    flags: &CompositionsFlags,
    cli: &Cli,
    format: Format,
    selection: Selection,
) -> Result<ExitCode, Failure> {
    let stage = Stage::open(matches!(format, Format::Text { .. }), cli.global.verbosity);
    let (cluster, namespace) = super::cluster(cli, flags.source.concurrency, &stage.warnings)?;
    let namespace = Some(namespace).filter(|_| !flags.all_namespaces);
    let wants = Wants { query: query(namespace.clone(), &format), ..Wants::default() };
    let feed = Feed::start(&cluster, wants).await?;
    let place = namespace.as_deref().unwrap_or_default();
    let known = feed.snapshot().namespaces.compositions(place);
    // Of what does not exist, nothing will ever be told; but it may be waited for to be gone.
    let absent = flags.names.iter().find(|name| matches!(known.get(name), Lookup::Missing));
    if let Some(name) = absent.filter(|_| flags.watch.until.is_none_or(|until| until == ListUntil::Reconciled)) {
        return Err(Failure::not_found::<Composition>(name, false));
    }
    if let Some(why) = known.incomplete().filter(|_| flags.watch.until.is_some()) {
        // Of what nobody can see, nobody can say when it will be so.
        return Err(Failure::local(format_args!("cannot tell when it will be so: {why}")).with_code(CANNOT_TELL));
    }
    let (names, states, deleting, stuck) = (flags.names.clone(), flags.states.clone(), flags.deleting, flags.stuck);
    let keeps = move |snapshot: &Snapshot, item: &CompositionItem| {
        let selected = match snapshot.namespaces.compositions(item.namespace()).get(item.name()) {
            Lookup::Found(composition) => {
                selection.matches(&composition.metadata) && (!deleting || composition.metadata.is_deleting())
            }
            // Nobody can say whether it is one of those that are asked for.
            Lookup::Unknown(_) => true,
            Lookup::Missing => false,
        };
        selected
            && (names.is_empty() || names.iter().any(|name| name == item.name()))
            && (states.is_empty() || states.contains(&item.state()))
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
