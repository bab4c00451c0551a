//! Where to read from: a cluster, or files.

use std::path::PathBuf;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use jiff::Timestamp;

use super::{Cli, Connection};
use crate::duration;
use crate::failure::Failure;

/// Where to read from, and how.
#[derive(Debug, Clone, Args)]
pub struct SourceFlags {
    /// Read files or folders instead of a cluster, or stdin (-); may be repeated. YAML or JSON, lists or not. All
    /// namespaces are shown unless -n is given
    #[arg(short, long = "filename", value_name = "FILE|DIR|-")]
    pub filenames: Vec<PathBuf>,
    /// Read folders with the folders below them
    #[arg(short = 'R', long, requires = "filenames")]
    pub recursive: bool,
    /// The files hold all compositions and slices there are: what is absent does not exist
    #[arg(long, requires = "filenames")]
    pub complete: bool,
    /// The moment at which the files are judged; the present one, unless given
    #[arg(long, requires = "filenames", value_name = "RFC3339")]
    pub now: Option<Timestamp>,
    /// How long something may wait before it counts as stuck, such as 90s, 5m or 7d
    #[arg(long, value_name = "TIME", default_value = "5m", env = "KUBECTL_ENO_STUCK_AFTER",
        hide_env_values = true, value_parser = duration::parse)]
    pub stuck_after: Duration,
    /// How many requests run at once
    #[arg(long, conflicts_with = "filenames", value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: u16,
}

/// Refuses flags that would be ignored: those of a connection, where files are read.
///
/// # Errors
/// Names the flag.
pub(super) fn check(cli: &Cli, matches: &ArgMatches) -> Result<(), Failure> {
    let source = match &cli.command {
        super::Command::Slices(flags) => &flags.source,
        super::Command::Compositions(flags) => &flags.source,
        super::Command::Why(flags) => &flags.source,
        super::Command::Orphans(flags) => &flags.source,
        super::Command::PlanDelete(flags) => &flags.source,
        super::Command::Tree(flags) => &flags.source,
        super::Command::Report(flags) => &flags.source,
        super::Command::Top(flags) => &flags.source,
        super::Command::Doctor(_)
        | super::Command::Wait(_)
        | super::Command::Snapshot(_)
        | super::Command::Cleanup(_)
        | super::Command::Resynth(_)
        | super::Command::Release(_)
        | super::Command::Restore(_)
        | super::Command::Completion(_)
        | super::Command::Version(_)
        | super::Command::Pods(_)
        | super::Command::Options => return Ok(()),
    };
    if source.filenames.is_empty() {
        return Ok(());
    }
    let connection = Connection::augment_args(clap::Command::new(""));
    let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    match connection.get_arguments().find(|argument| given(argument.get_id().as_str())) {
        None => Ok(()),
        Some(argument) => Err(Failure::local(format_args!(
            "--{} cannot be used with -f: files are read, and no server is contacted",
            argument.get_long().unwrap_or_default()
        ))),
    }
}
