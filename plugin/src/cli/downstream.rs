//! Which cluster Eno's resources are in.

use std::path::PathBuf;

use clap::Args;

/// Which cluster Eno's resources are in: nothing in Eno's objects says.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The cluster that Eno's resources are in")]
pub struct DownstreamFlags {
    /// It is the one that holds Eno's objects
    #[arg(long, conflicts_with_all = ["filenames", "target_kubeconfig", "target_context"])]
    pub target_same: bool,
    /// It is the one of this kubeconfig; that of --kubeconfig, unless given
    #[arg(long, conflicts_with = "filenames", value_name = "FILE")]
    pub target_kubeconfig: Option<PathBuf>,
    /// It is the one of this context
    #[arg(long, conflicts_with = "filenames", value_name = "NAME")]
    pub target_context: Option<String>,
}

impl DownstreamFlags {
    /// Does any of them say where it is?
    pub fn is_given(&self) -> bool {
        self.target_same || self.target_kubeconfig.is_some() || self.target_context.is_some()
    }
}
