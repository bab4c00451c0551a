//! Flags of the commands that write.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Whether something is written at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// It is
    None,
    /// Nothing is sent that would write
    Client,
    /// The API server and its webhooks check it, and keep nothing
    Server,
}

impl DryRun {
    /// How kubectl ends the line of a result.
    pub fn suffix(self) -> &'static str {
        match self {
            DryRun::None => "",
            DryRun::Client => " (dry run)",
            DryRun::Server => " (server dry run)",
        }
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResultFormat {
    /// TYPE/NAME of what was changed
    Name,
    /// A list with what became of each
    Json,
}

/// Flags of every command that writes.
#[derive(Debug, Args)]
pub struct WriteFlags {
    /// Do not ask for confirmation
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Write nothing: only say what would be done (client), or have it checked by the API server and its webhooks (server)
    #[arg(long, value_enum, value_name = "none|client|server", hide_possible_values = true, default_value_t = DryRun::None)]
    pub dry_run: DryRun,
    /// How many requests run at once
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: u16,
    /// Refused: nothing can be written to a dump
    #[arg(short = 'f', long = "filename", hide = true, value_name = "FILE")]
    pub filenames: Vec<PathBuf>,
}
