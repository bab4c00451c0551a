//! The commands.

mod cleanup;
pub mod completion;
mod compositions;
mod doctor;
mod listing;
mod options;
mod orphans;
mod plan_delete;
mod pods;
mod release;
mod report;
mod restore;
mod resynth;
pub mod slices;
mod snapshot;
mod top;
mod tree;
mod version;
mod wait;
mod watch;
mod webhook_namespace;
pub mod why;

use std::process::ExitCode;

use jiff::Timestamp;

use crate::cli::{Cli, Command, SourceFlags};
use crate::cluster::Cluster;
use crate::context::Context;
use crate::dump::{self, Dump};
use crate::failure::Failure;
use crate::source::Source;
use crate::warnings::Warnings;

/// Runs the command.
///
/// # Errors
/// What people read on stderr.
pub fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match &cli.command {
            Command::Slices(flags) => slices::run(flags, cli).await,
            Command::Compositions(flags) => compositions::run(flags, cli).await,
            Command::Tree(flags) => tree::run(flags, cli).await,
            Command::PlanDelete(flags) => plan_delete::run(flags, cli).await,
            Command::Orphans(flags) => orphans::run(flags, cli).await,
            Command::Why(flags) => why::run(flags, cli).await,
            Command::Doctor(flags) => doctor::run(flags, cli).await,
            Command::Top(flags) => top::run(flags, cli).await,
            Command::Wait(flags) => wait::run(flags, cli).await,
            Command::Snapshot(flags) => snapshot::run(flags, cli).await,
            Command::Cleanup(flags) => cleanup::run(flags, cli).await,
            Command::Resynth(flags) => resynth::run(flags, cli).await,
            Command::Release(flags) => release::run(flags, cli).await,
            Command::Restore(flags) => restore::run(flags, cli).await,
            Command::Report(flags) => report::run(flags, cli).await,
            Command::Completion(flags) => completion::run(flags),
            Command::Version(flags) => version::run(flags, cli).await,
            Command::Pods(flags) => pods::run(flags, cli).await,
            Command::Options => options::run(),
        }
    })
}

/// The cluster that the flags name, and the namespace they mean.
fn cluster(cli: &Cli, concurrency: u16, warnings: &Warnings) -> Result<(Cluster, String), Failure> {
    let Context { client, host, namespace, timeout, .. } =
        Context::new(&cli.connection, cli.global.verbosity, warnings)?;
    let named = cli.global.namespace.clone().filter(|namespace| !namespace.is_empty());
    let cluster = Cluster { client, host, timeout, concurrency: usize::from(concurrency), warnings: warnings.clone() };
    Ok((cluster, named.unwrap_or(namespace)))
}

/// Opens what the flags name, with the namespace they mean: `None` for all.
fn source(flags: &SourceFlags, cli: &Cli) -> Result<(Source, Option<String>), Failure> {
    open(flags, cli, Dump::read_names)
}

/// The same for commands that show no manifests and nothing but Eno's: a dump is read faster so.
fn facts(flags: &SourceFlags, cli: &Cli) -> Result<(Source, Option<String>), Failure> {
    open(flags, cli, Dump::read_facts)
}

fn open(
    flags: &SourceFlags,
    cli: &Cli,
    read: impl FnOnce(dump::Options, Warnings) -> Result<Dump, Failure>,
) -> Result<(Source, Option<String>), Failure> {
    let warnings = Warnings::default();
    let named = cli.global.namespace.clone().filter(|namespace| !namespace.is_empty());
    if flags.filenames.is_empty() {
        let (cluster, namespace) = cluster(cli, flags.concurrency, &warnings)?;
        return Ok((Source::Cluster(cluster), Some(namespace)));
    }
    let options = dump::Options {
        paths: flags.filenames.clone(),
        recursive: flags.recursive,
        now: flags.now.unwrap_or_else(Timestamp::now),
        complete: flags.complete,
        namespace: named.clone().unwrap_or_else(|| "default".to_owned()),
    };
    let dump = read(options, warnings)?;
    Ok((Source::Dump(if flags.now.is_none() { dump.judged_as_taken() } else { dump }), named))
}
