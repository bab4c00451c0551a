//! `kubectl eno orphans`: resources that Eno made, that still exist, and that no slice holds any more.

mod item;
mod known;

use std::process::ExitCode;

use eno_shared::api::{Composition, Kind, ResourceSlice};
use jiff::Timestamp;
use serde_json::Value;

use crate::cli::{Cli, OrphansFlags};
use crate::downstream::{Downstream, Presence};
use crate::dump::{self, Dump};
use crate::failure::{CANNOT_TELL, Failure};
use crate::output::table::{Table, sanitized};
use crate::output::{self, Format, Objects};
use crate::query::{Depth, Query};
use crate::snapshot::Snapshot;
use crate::source::Source;
use crate::warnings::{Warnings, say};
use item::{HEADERS, OrphanItem};
use known::{Known, candidates};

/// Runs the command.
///
/// # Errors
/// Where slices or compositions cannot be read: then nobody can say what no slice holds. Where nobody says which cluster
/// the resources are in.
pub(super) async fn run(flags: &OrphansFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    if flags.source.filenames.is_empty() && !flags.downstream.is_given() {
        return Err(Failure::local(
            "which cluster are Eno's resources in? Pass --target-same, --target-context or --target-kubeconfig",
        ));
    }
    let (source, namespace) = super::source(&flags.source, cli)?;
    let namespace = namespace.filter(|_| !flags.all_namespaces);
    let downstream = Downstream::open(&flags.downstream, cli, &source)?;
    // Any slice may hold a resource, whatever its namespace.
    let snapshot = source.snapshot(&Query { depth: Depth::Everything, ..Query::default() }).await?;
    check(&snapshot, &source)?;
    let mut known = Known::of_slices(&snapshot, namespace.as_deref());
    if !flags.snapshots.is_empty() {
        known.add_snapshot(&older(flags)?, namespace.as_deref());
    }
    let (places, resources) = candidates(&snapshot, known).into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
    let looked = downstream.look(resources).await;
    let items: Vec<OrphanItem> = places
        .into_iter()
        .zip(looked)
        .filter(|(_, resource)| match resource.presence {
            Presence::Exists | Presence::Terminating { .. } | Presence::Unknown(_) => true,
            // Offline: it is not among the objects of the files.
            Presence::Gone | Presence::NotLookedAt => false,
        })
        .map(|(place, resource)| OrphanItem::new(place, resource))
        .collect();
    let unknown = items.iter().filter(|item| !item.is_there()).count();
    print(&format, &items, flags)?;
    if unknown > 0 {
        say(format_args!("Warning: of {unknown} resources it could not be told whether they exist"));
        return Ok(ExitCode::from(CANNOT_TELL));
    }
    Ok(ExitCode::SUCCESS)
}

/// A slice or composition that is not known may hold what seems to be an orphan.
fn check(snapshot: &Snapshot, source: &Source) -> Result<(), Failure> {
    if matches!(source, Source::Dump(_)) {
        return Ok(());
    }
    let unread = snapshot.slices.iter().find_map(|seen| match (&seen.unreadable, &seen.manifests) {
        (Some(why), _) => Some(why.clone()),
        (None, None) => Some(format!("resourceslice {} could not be read", seen.metadata().name)),
        (None, Some(_)) => None,
    });
    let incomplete = snapshot.slices_incomplete.clone().or(unread);
    let compositions = snapshot
        .slices
        .iter()
        .find_map(|seen| snapshot.namespaces.compositions(&seen.metadata().namespace).incomplete().map(str::to_owned));
    match incomplete.or(compositions) {
        None => Ok(()),
        Some(why) => Err(Failure::local(format_args!(
            "cannot tell what no slice holds, without all {} and {}: {why}",
            ResourceSlice::PLURAL,
            Composition::PLURAL
        ))
        .with_code(CANNOT_TELL)),
    }
}

/// The slices of the snapshots.
fn older(flags: &OrphansFlags) -> Result<Snapshot, Failure> {
    let options = dump::Options {
        paths: flags.snapshots.clone(),
        recursive: flags.source.recursive,
        now: Timestamp::now(),
        complete: false,
        namespace: "default".to_owned(),
    };
    Dump::read(options, Warnings::default())?.snapshot(&Query { depth: Depth::Everything, ..Query::default() })
}

fn print(format: &Format, items: &[OrphanItem], flags: &OrphansFlags) -> Result<(), Failure> {
    match format {
        Format::Text { wide } => {
            let rows = items.iter().map(|item| item.row(*wide)).collect();
            let mut headers = HEADERS.to_vec();
            headers.extend(wide.then_some("MESSAGE"));
            let table = Table::new(&headers, rows);
            output::lines(table.lines(!flags.output.no_headers, "", |_, cell| cell.to_owned()))?;
        }
        Format::Name => output::lines(items.iter().map(|item| sanitized(&item.resource_name())).collect())?,
        Format::Objects(form) => {
            let values = items.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
            return form.print(Objects::List(values.map_err(Failure::local)?), flags.output.no_headers);
        }
    }
    if items.is_empty() {
        say("No orphans found");
    }
    Ok(())
}
