//! `kubectl eno wait`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::duration;

/// `kubectl eno wait`.
#[derive(Debug, Args)]
pub struct WaitFlags {
    /// resourceslice/NAME or composition/NAME (or TYPE NAME)
    #[arg(value_name = "TYPE/NAME", required = true, num_args = 1..=2)]
    pub object: Vec<String>,
    /// What to wait for
    #[arg(long = "for", value_enum, value_name = "STATE", default_value_t = WaitFor::Deleted)]
    pub state: WaitFor,
    /// How long, such as 90s, 5m or 2h; 0 looks once
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse)]
    pub timeout: Duration,
}

/// What to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WaitFor {
    /// It does not exist any more, or another one has its name
    Deleted,
    /// All of its resources are as they should be
    Reconciled,
}
