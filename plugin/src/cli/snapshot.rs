//! `kubectl eno snapshot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `kubectl eno snapshot`.
#[derive(Debug, Args)]
pub struct SnapshotFlags {
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Keep manifests whole, but for those of Secrets
    #[arg(long)]
    pub full: bool,
    /// Write to this file; to stdout, unless given
    #[arg(long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// json is read back much faster; yaml is for people
    #[arg(short = 'o', long = "output", value_enum, value_name = "FORMAT", default_value_t = SnapshotForm::Json)]
    pub form: SnapshotForm,
}

/// How a snapshot is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SnapshotForm {
    /// One List
    Json,
    /// One document for each object
    Yaml,
}
