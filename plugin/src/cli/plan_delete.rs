//! `kubectl eno plan-delete`.

use clap::{Args, ValueEnum};
use eno_shared::admission::composition::Propagation;

use super::{DownstreamFlags, OutputFlags, SourceFlags};

/// `kubectl eno plan-delete`.
#[derive(Debug, Args)]
pub struct PlanDeleteFlags {
    /// TYPE/NAME or TYPE NAME; the type is composition, symphony, namespace or resourceslice
    #[arg(value_name = "TYPE/NAME", required = true, num_args = 1..=2)]
    pub object: Vec<String>,
    /// How "kubectl delete" would be told to treat the dependents
    #[arg(long, value_enum, value_name = "CASCADE", default_value_t = Cascade::Background)]
    pub cascade: Cascade,
    /// Show all resources, not only the first ten of each kind of fate
    #[arg(long)]
    pub show_all: bool,
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

/// `--cascade` of `kubectl delete`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cascade {
    /// The object, then its dependents
    Background,
    /// Its dependents, then the object
    Foreground,
    /// The object only
    Orphan,
}

impl Cascade {
    /// The word, as kubectl takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Cascade::Background => "background",
            Cascade::Foreground => "foreground",
            Cascade::Orphan => "orphan",
        }
    }

    /// What a request would say.
    pub fn propagation(self) -> Propagation {
        match self {
            Cascade::Background => Propagation::Background,
            Cascade::Foreground => Propagation::Foreground,
            Cascade::Orphan => Propagation::Orphan,
        }
    }
}
