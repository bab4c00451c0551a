//! `kubectl eno orphans`.

use std::path::PathBuf;

use clap::Args;

use super::{DownstreamFlags, OutputFlags, SourceFlags};

/// `kubectl eno orphans`.
#[derive(Debug, Args)]
pub struct OrphansFlags {
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Snapshots or backups of slices, whose resources are looked for too; may be repeated
    #[arg(long = "from", value_name = "FILE|DIR")]
    pub snapshots: Vec<PathBuf>,
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
