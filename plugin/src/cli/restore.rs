//! The flags of `restore`.

use std::path::PathBuf;

use clap::Args;

use super::WriteFlags;

/// `kubectl eno restore`.
#[derive(Debug, Args)]
pub struct RestoreFlags {
    /// A backup of "kubectl eno release", or what "kubectl get -o yaml" printed; stdin (-)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only these slices of the file; may be repeated
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,
    /// Whether and how to write
    #[command(flatten)]
    pub write: WriteFlags,
}
