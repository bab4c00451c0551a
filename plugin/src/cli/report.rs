//! `kubectl eno report`.

use std::path::PathBuf;

use clap::Args;

use super::SourceFlags;

/// `kubectl eno report`.
#[derive(Debug, Args)]
pub struct ReportFlags {
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Write to this file; to stdout, unless given
    #[arg(long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// Where to read from
    #[command(flatten)]
    pub source: SourceFlags,
}
