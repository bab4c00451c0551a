//! The flags of `release`.

use std::path::PathBuf;

use clap::Args;

use super::WriteFlags;

/// `kubectl eno release`.
#[derive(Debug, Args)]
pub struct ReleaseFlags {
    /// resourceslice/NAME or composition/NAME; several, if need be
    #[arg(value_name = "TYPE/NAME", required = true)]
    pub objects: Vec<String>,
    /// The finalizer to take off; all others stay
    #[arg(long, value_name = "FINALIZER", default_value = eno_shared::names::CLEANUP_FINALIZER)]
    pub finalizer: String,
    /// Take it off although something still needs the object, or nobody can say
    #[arg(long)]
    pub force: bool,
    /// Folder for the backup of what is released
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub backup_dir: PathBuf,
    /// Write no backup
    #[arg(long, conflicts_with = "backup_dir")]
    pub no_backup: bool,
    /// Whether and how to write
    #[command(flatten)]
    pub write: WriteFlags,
}
