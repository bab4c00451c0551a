//! `kubectl eno pods`.

use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::{ListUntil, ListWatchFlags, OutputFlags, WriteFlags, examples, help};
use crate::duration;

/// `kubectl eno pods`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct PodsFlags {
    /// What else to do than list
    #[command(subcommand)]
    pub action: Option<PodsAction>,
    /// Which pods
    #[command(flatten)]
    pub list: PodsListFlags,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum PodsAction {
    /// Delete a pod by force whose node is gone or out of service
    #[command(long_about = help::PODS_RELEASE, after_help = examples::help("pods release"))]
    Release(PodsReleaseFlags),
    /// List the ends of pods that not everyone has been told
    #[command(long_about = help::PODS_UNDELIVERED, after_help = examples::help("pods undelivered"))]
    Undelivered(PodsUndeliveredFlags),
    /// Have ends of pods told again
    #[command(long_about = help::PODS_REDELIVER, after_help = examples::help("pods redeliver"))]
    Redeliver(PodsLettersFlags),
    /// Have ends of pods told to nobody any more
    #[command(long_about = help::PODS_DROP, after_help = examples::help("pods drop"))]
    Drop(PodsLettersFlags),
}

/// `kubectl eno pods`, the list.
#[derive(Debug, Args)]
pub struct PodsListFlags {
    /// Names of pods; all, where none is given
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Only pods that are going, or have ended and not everyone has been told
    #[arg(long)]
    pub going: bool,
    /// Only pods that are stuck: going for longer than --stuck-after beyond the time they were given
    #[arg(long)]
    pub stuck: bool,
    /// How long a pod may take beyond the time it was given before it counts as stuck, such as 90s, 5m or 7d
    #[arg(long, value_name = "TIME", default_value = "5m", env = "KUBECTL_ENO_STUCK_AFTER",
        hide_env_values = true, value_parser = duration::parse)]
    pub stuck_after: Duration,
    /// Sort by a column, or by a jsonpath of the items
    #[arg(long, value_name = "COLUMN|JSONPATH")]
    pub sort_by: Option<String>,
    /// Where the webhook keeps what it knows
    #[command(flatten)]
    pub outbox: OutboxFlags,
    /// Whether to watch
    #[command(flatten)]
    pub watch: PodsWatchFlags,
    /// How to print
    #[command(flatten)]
    pub output: OutputFlags,
}

/// `-w` of `kubectl eno pods`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("watching").args(["watch", "watch_only"]).multiple(true))]
pub struct PodsWatchFlags {
    /// After listing, watch for changes: on a terminal the list is drawn again; else a line is added for each
    #[arg(short, long)]
    watch: bool,
    /// Watch for changes without listing first
    #[arg(long)]
    watch_only: bool,
    /// Watch until that is so
    #[arg(long, value_enum, value_name = "STATE", requires = "watching")]
    until: Option<PodsUntil>,
    /// Watch no longer than this, such as 90s, 5m or 2h; with --until, exit with 124 then
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "watching")]
    timeout: Option<Duration>,
}

/// Until when pods are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PodsUntil {
    /// Nothing is listed any more: ended and told to everyone, or not selected by the other flags
    Empty,
}

impl PodsWatchFlags {
    /// As of other lists.
    pub fn as_of_lists(&self) -> ListWatchFlags {
        let until = self.until.map(|PodsUntil::Empty| ListUntil::Empty);
        ListWatchFlags { watch: self.watch, watch_only: self.watch_only, until, timeout: self.timeout }
    }
}

/// Where the outbox is.
#[derive(Debug, Default, Args)]
pub struct OutboxFlags {
    /// Namespace of eno-webhook; that which its webhook configuration names, unless given
    #[arg(long, value_name = "NAMESPACE")]
    pub webhook_namespace: Option<String>,
}

/// `kubectl eno pods release`.
#[derive(Debug, Args)]
pub struct PodsReleaseFlags {
    /// The pod; pod/NAME is the same
    #[arg(value_name = "POD")]
    pub pod: String,
    /// Where the webhook keeps what it knows
    #[command(flatten)]
    pub outbox: OutboxFlags,
    /// Whether and how to write
    #[command(flatten)]
    pub write: WriteFlags,
}

/// `kubectl eno pods undelivered`.
#[derive(Debug, Args)]
pub struct PodsUndeliveredFlags {
    /// Only those that some sink would not take
    #[arg(long)]
    pub dead: bool,
    /// Sort by a column, or by a jsonpath of the items
    #[arg(long, value_name = "COLUMN|JSONPATH")]
    pub sort_by: Option<String>,
    /// Where the webhook keeps what it knows
    #[command(flatten)]
    pub outbox: OutboxFlags,
    /// How to print
    #[command(flatten)]
    pub output: OutputFlags,
}

/// `kubectl eno pods redeliver` and `drop`.
#[derive(Debug, Args)]
pub struct PodsLettersFlags {
    /// Ids, as "kubectl eno pods undelivered" lists them
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub ids: Vec<String>,
    /// All that some sink would not take
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// How long to wait for the webhook to carry it out, such as 30s
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration::parse)]
    pub timeout: Duration,
    /// Where the webhook keeps what it knows
    #[command(flatten)]
    pub outbox: OutboxFlags,
    /// Whether and how to write
    #[command(flatten)]
    pub write: WriteFlags,
}
