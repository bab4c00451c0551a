//! `kubectl eno tree`.

use clap::Args;

use super::{DownstreamFlags, OutputFlags, SourceFlags, WatchFlags};

/// `kubectl eno tree`.
#[derive(Debug, Args)]
pub struct TreeFlags {
    /// symphony/NAME or composition/NAME, or TYPE NAME; all of the namespace, where none is given
    #[arg(value_name = "TYPE/NAME", num_args = 0..=2)]
    pub object: Vec<String>,
    /// Show all resources, not only the first ten of each slice
    #[arg(long)]
    pub show_all: bool,
    /// Draw with ASCII characters only; by default, as the locale says
    #[arg(long)]
    pub ascii: bool,
    /// Watch?
    #[command(flatten)]
    pub watch: WatchFlags,
    /// Which cluster Eno's resources are in
    #[command(flatten)]
    pub downstream: DownstreamFlags,
    /// Where to read from
    #[command(flatten)]
    pub source: SourceFlags,
    /// How to print
    #[command(flatten)]
    pub output: OutputFlags,
}
