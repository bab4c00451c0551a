//! The command line: flags, help, and nothing else.

mod cleanup;
mod completion;
mod compositions;
mod connection;
mod doctor;
mod downstream;
mod examples;
mod help;
mod orphans;
pub(crate) mod output;
mod plan_delete;
mod pods;
mod release;
mod report;
mod restore;
mod resynth;
mod snapshot;
mod source;
mod top;
mod tree;
mod version;
mod wait;
mod watch;
mod write;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap::error::ErrorKind;
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::failure::Failure;
pub use cleanup::{CleanupAction, CleanupFlags};
pub use completion::{CompletionFlags, Script};
pub use compositions::CompositionsFlags;
pub use connection::Connection;
pub use doctor::DoctorFlags;
pub use downstream::DownstreamFlags;
pub use examples::{EXAMPLES, Example};
pub use orphans::OrphansFlags;
pub use output::OutputFlags;
pub use plan_delete::{Cascade, PlanDeleteFlags};
pub use pods::{
    OutboxFlags, PodsAction, PodsFlags, PodsLettersFlags, PodsListFlags, PodsReleaseFlags, PodsUndeliveredFlags,
};
pub use release::ReleaseFlags;
pub use report::ReportFlags;
pub use restore::RestoreFlags;
pub use resynth::ResynthFlags;
pub use snapshot::{SnapshotFlags, SnapshotForm};
pub use source::SourceFlags;
pub use top::TopFlags;
pub use tree::TreeFlags;
pub use version::{VersionFlags, VersionForm};
pub use wait::{WaitFlags, WaitFor};
pub use watch::{ListUntil, ListWatchFlags, WatchFlags};
pub use write::{DryRun, ResultFormat, WriteFlags};

/// `kubectl eno`.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-eno",
    version,
    about = "Shows what may happen to the resource slices of Eno, and why",
    long_about = help::PLUGIN,
    after_long_help = help::EXIT_CODES,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    color = ColorChoice::Never,
    max_term_width = 100
)]
pub struct Cli {
    /// Which API server, as whom.
    #[command(flatten)]
    pub connection: Connection,
    /// Scope and verbosity.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// The namespace to look at
    #[arg(short, long, global = true, value_name = "NAMESPACE", hide = true)]
    pub namespace: Option<String>,
    /// From 6 on, each request to the API server is shown on stderr
    #[arg(short = 'v', long = "v", global = true, value_name = "LEVEL", default_value_t = 0, hide = true)]
    pub verbosity: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List resource slices with the verdict on each
    #[command(
        visible_alias = "slice",
        aliases = ["resourceslices", "resourceslice"],
        long_about = help::SLICES,
        after_help = examples::help("slices"),
    )]
    Slices(SlicesFlags),
    /// List compositions with their state, and what they wait for
    #[command(
        visible_alias = "comp",
        alias = "composition",
        long_about = help::COMPOSITIONS,
        after_help = examples::help("compositions"),
    )]
    Compositions(CompositionsFlags),
    /// Explain why an object is kept, held or stuck: a slice, composition, symphony, namespace or pod
    #[command(long_about = help::WHY, after_help = examples::help("why"))]
    Why(WhyFlags),
    /// Check that all is there which keeps slices from being lost, and that it works
    #[command(long_about = help::DOCTOR, after_help = examples::help("doctor"))]
    Doctor(DoctorFlags),
    /// Look at all of it, live, and act on it
    #[command(long_about = help::TOP, after_help = examples::help("top"))]
    Top(TopFlags),
    /// Wait until a resource slice or a composition is deleted or reconciled
    #[command(long_about = help::WAIT, after_help = examples::help("wait"))]
    Wait(WaitFlags),
    /// Write Eno's objects to a file, to look at offline
    #[command(long_about = help::SNAPSHOT, after_help = examples::help("snapshot"))]
    Snapshot(SnapshotFlags),
    /// Collect and release what the verdicts say
    #[command(long_about = help::CLEANUP, after_help = examples::help("cleanup"))]
    Cleanup(CleanupFlags),
    /// Ask for a new synthesis of a composition
    #[command(long_about = help::RESYNTH, after_help = examples::help("resynth"))]
    Resynth(ResynthFlags),
    /// Take one finalizer off what is being deleted
    #[command(long_about = help::RELEASE, after_help = examples::help("release"))]
    Release(ReleaseFlags),
    /// Make a lost resource slice again
    #[command(long_about = help::RESTORE, after_help = examples::help("restore"))]
    Restore(RestoreFlags),
    /// Draw symphonies, compositions, syntheses, slices and resources as a tree
    #[command(long_about = help::TREE, after_help = examples::help("tree"))]
    Tree(TreeFlags),
    /// Say what a deletion would do: what goes, what is orphaned, what blocks it
    #[command(long_about = help::PLAN_DELETE, after_help = examples::help("plan-delete"))]
    PlanDelete(PlanDeleteFlags),
    /// List resources that Eno made, that exist, and that no slice holds any more
    #[command(long_about = help::ORPHANS, after_help = examples::help("orphans"))]
    Orphans(OrphansFlags),
    /// Write a report to read in a browser: one HTML file, to attach to a ticket
    #[command(long_about = help::REPORT, after_help = examples::help("report"))]
    Report(ReportFlags),
    /// Print a script by which a shell, or kubectl, completes commands, flags and names
    #[command(long_about = help::COMPLETION, after_help = examples::help("completion"))]
    Completion(CompletionFlags),
    /// Print the versions of the plugin, the API server, Eno's CRDs and the webhook
    #[command(long_about = help::VERSION, after_help = examples::help("version"))]
    Version(VersionFlags),
    /// List the pods that are followed to their end, and what is yet to be told of them
    #[command(visible_alias = "po", alias = "pod", long_about = help::PODS, after_help = examples::help("pods"))]
    Pods(PodsFlags),
    /// List the flags that every command takes
    Options,
}

/// `kubectl eno slices`.
#[derive(Debug, Args)]
pub struct SlicesFlags {
    /// Names of slices; all, where none is given
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Label selector, such as app=web
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Field selector: metadata.name or metadata.namespace
    #[arg(long, value_name = "SELECTOR")]
    pub field_selector: Option<String>,
    /// Only these verdicts: keep, collect, wait, hold, release, unknown
    #[arg(long = "verdict", value_name = "VERDICT,…", value_delimiter = ',', value_parser = verdict)]
    pub verdicts: Vec<eno_shared::Verdict>,
    /// Only slices that this composition owns or refers to
    #[arg(long, value_name = "NAME")]
    pub composition: Option<String>,
    /// Only slices that are being deleted
    #[arg(long)]
    pub deleting: bool,
    /// Only slices that are stuck: something blocks them, for longer than --stuck-after
    #[arg(long)]
    pub stuck: bool,
    /// Only slices that are older than this, such as 90s, 5m or 7d
    #[arg(long, value_name = "TIME", value_parser = crate::duration::parse)]
    pub older_than: Option<std::time::Duration>,
    /// Sort by a column, or by a jsonpath of the items
    #[arg(long, value_name = "COLUMN|JSONPATH")]
    pub sort_by: Option<String>,
    /// Watch?
    #[command(flatten)]
    pub watch: ListWatchFlags,
    /// Where to read from
    #[command(flatten)]
    pub source: SourceFlags,
    /// How to print
    #[command(flatten)]
    pub output: OutputFlags,
}

/// `kubectl eno why`.
#[derive(Debug, Args)]
pub struct WhyFlags {
    /// TYPE/NAME or TYPE NAME; the type is resourceslice, composition, symphony, namespace or pod
    #[arg(value_name = "TYPE/NAME", required = true, num_args = 1..=2)]
    pub object: Vec<String>,
    /// Show all resources, not only the first three
    #[arg(long)]
    pub show_all: bool,
    /// Watch?
    #[command(flatten)]
    pub watch: WatchFlags,
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

fn verdict(text: &str) -> Result<eno_shared::Verdict, String> {
    let named = eno_shared::Verdict::ALL.into_iter().find(|verdict| verdict.as_str().eq_ignore_ascii_case(text));
    named.ok_or_else(|| {
        format!(
            "expected one of {}",
            eno_shared::Verdict::ALL.map(|verdict| verdict.as_str().to_lowercase()).join(", ")
        )
    })
}

/// Reads the command line.
///
/// # Errors
/// `Ok` of the inner result where help or the version was asked for and printed.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, Result<(), Failure>> {
    let args: Vec<OsString> = args.into_iter().collect();
    let matches = command(args.first().map(Path::new)).try_get_matches_from(args);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = parsed.map_err(|error| {
        // Nothing was asked for: that is answered as --help is, and is no error.
        if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            return Err(Failure::usage(error.render().to_string()));
        }
        // A reader of the help that has gone away is no failure.
        let _ = write!(std::io::stdout(), "{}", error.render());
        Ok(())
    })?;
    source::check(&cli, &matches).map_err(Err)?;
    Ok(cli)
}

/// The command, named as it was called: `kubectl eno` for kubectl's plugin.
pub fn command(called: Option<&Path>) -> clap::Command {
    let name = called.and_then(Path::file_stem).and_then(|name| name.to_str()).unwrap_or("kubectl-eno");
    let name =
        name.strip_prefix("kubectl-").map_or(name.to_owned(), |plugin| format!("kubectl {}", plugin.replace('_', "-")));
    Cli::command().bin_name(name)
}

/// The text of `kubectl eno options`.
pub fn options() -> String {
    let command = Global::augment_args(Connection::augment_args(clap::Command::new("options")));
    let mut command = command
        .mut_args(|argument| argument.hide(false))
        .disable_help_flag(true)
        .color(ColorChoice::Never)
        .max_term_width(100)
        .help_template("The following options can be passed to any command:\n\n{options}\n");
    command.render_help().to_string()
}
