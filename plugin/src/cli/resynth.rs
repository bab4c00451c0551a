//! The flags of `resynth`.

use std::time::Duration;

use clap::Args;

use super::WriteFlags;
use crate::duration;

/// `kubectl eno resynth`.
#[derive(Debug, Args)]
pub struct ResynthFlags {
    /// Name of the composition
    #[arg(value_name = "COMPOSITION")]
    pub composition: String,
    /// Ask for it although resources could be orphaned, or a synthesis is in flight already
    #[arg(long)]
    pub force: bool,
    /// Wait until a new synthesis is current
    #[arg(long)]
    pub wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "wait", value_parser = duration::parse)]
    pub timeout: Duration,
    /// Whether and how to write
    #[command(flatten)]
    pub write: WriteFlags,
}
