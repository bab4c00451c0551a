//! `-w` of the commands that show something.

use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};

use super::WaitFor;
use crate::duration;

/// `-w` of commands that list.
#[derive(Debug, Default, Args)]
#[command(group = ArgGroup::new("watching").args(["watch", "watch_only"]).multiple(true))]
pub struct ListWatchFlags {
    /// After listing, watch for changes: on a terminal the list is drawn again; else a line is added for each
    #[arg(short, long, conflicts_with = "filenames")]
    pub watch: bool,
    /// Watch for changes without listing first
    #[arg(long, conflicts_with = "filenames")]
    pub watch_only: bool,
    /// Watch until that is so of all that was listed at first
    #[arg(long, value_enum, value_name = "STATE", requires = "watching")]
    pub until: Option<ListUntil>,
    /// Watch no longer than this, such as 90s, 5m or 2h; with --until, exit with 124 then
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "watching")]
    pub timeout: Option<Duration>,
}

/// `-w` of commands that show one thing.
#[derive(Debug, Default, Args)]
pub struct WatchFlags {
    /// Watch for changes: on a terminal it is drawn again; else what has changed is added
    #[arg(short, long, conflicts_with_all = ["filenames", "target_same", "target_kubeconfig", "target_context"])]
    pub watch: bool,
    /// Watch until that is so
    #[arg(long, value_enum, value_name = "STATE", requires = "watch")]
    pub until: Option<WaitFor>,
    /// Watch no longer than this, such as 90s, 5m or 2h; with --until, exit with 124 then
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "watch")]
    pub timeout: Option<Duration>,
}

/// Until when a list is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListUntil {
    /// None of them exists any more
    Deleted,
    /// All resources of all of them are as they should be
    Reconciled,
    /// Nothing is listed any more: deleted, or not selected by the other flags
    Empty,
}

impl ListWatchFlags {
    /// Is anything watched?
    pub fn is_on(&self) -> bool {
        self.watch || self.watch_only
    }
}
