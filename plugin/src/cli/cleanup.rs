//! The flags of `cleanup`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{ResultFormat, WriteFlags};
use crate::duration;

/// What cleanup does to a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CleanupAction {
    /// Delete it
    Collect,
    /// Take Eno's finalizer off
    Release,
}

/// `kubectl eno cleanup`.
#[derive(Debug, Args)]
pub struct CleanupFlags {
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Label selector, such as app=web
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Only this: collect, release
    #[arg(long, value_enum, value_name = "ACTION,…", value_delimiter = ',', hide_possible_values = true)]
    pub only: Vec<CleanupAction>,
    /// Also collect slices without an owner that nothing refers to
    #[arg(long)]
    pub unowned: bool,
    /// Only slices that are older
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub min_age: Option<Duration>,
    /// At most so many slices
    #[arg(long, value_name = "NUMBER")]
    pub limit: Option<usize>,
    /// Go on with the others when one fails; so it is, unless --fail-fast is given
    #[arg(long, conflicts_with = "fail_fast")]
    pub keep_going: bool,
    /// Begin no other when one fails
    #[arg(long)]
    pub fail_fast: bool,
    /// Wait until the slices are gone
    #[arg(long)]
    pub wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "5m", requires = "wait", value_parser = duration::parse)]
    pub timeout: Duration,
    /// name or json; a line for each, unless given
    #[arg(short = 'o', long = "output", value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub output: Option<ResultFormat>,
    /// Whether and how to write
    #[command(flatten)]
    pub write: WriteFlags,
}
