//! The flags of `top`.

use std::path::PathBuf;

use clap::Args;

use super::output::Color;
use super::{OutboxFlags, SourceFlags};

/// `kubectl eno top`.
#[derive(Debug, Args)]
pub struct TopFlags {
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Plain lines, for screen readers: no boxes, and the cursor only moves on
    #[arg(long)]
    pub plain: bool,
    /// Folder for the backups of what is released
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub backup_dir: PathBuf,
    /// Where the webhook keeps what it knows of pods
    #[command(flatten)]
    pub outbox: OutboxFlags,
    /// Where to read from
    #[command(flatten)]
    pub source: SourceFlags,
    /// Colour verdicts and states
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}
