//! The commands.

mod options;
pub mod slices;
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
            Command::Why(flags) => why::run(flags, cli).await,
            Command::Options => options::run(),
        }
    })
}

/// Opens what the flags name, with the namespace they mean: `None` for all.
fn source(flags: &SourceFlags, cli: &Cli) -> Result<(Source, Option<String>), Failure> {
    let warnings = Warnings::default();
    let named = cli.global.namespace.clone().filter(|namespace| !namespace.is_empty());
    if flags.filenames.is_empty() {
        let Context { client, host, namespace, timeout } =
            Context::new(&cli.connection, cli.global.verbosity, &warnings)?;
        let concurrency = usize::from(flags.concurrency);
        let cluster = Cluster { client, host, timeout, concurrency, warnings };
        return Ok((Source::Cluster(cluster), Some(named.unwrap_or(namespace))));
    }
    let options = dump::Options {
        paths: flags.filenames.clone(),
        recursive: flags.recursive,
        now: flags.now.unwrap_or_else(Timestamp::now),
        complete: flags.complete,
        namespace: named.clone().unwrap_or_else(|| "default".to_owned()),
    };
    Ok((Source::Dump(Dump::read(options, warnings)?), named))
}
