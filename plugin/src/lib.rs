//! The kubectl plugin. It shows what the rules of `eno-shared` say, and decides nothing itself.
//!
//! ```text
//!  cli ─▶ source ─┬─ dump     (-f: files)       ┐
//!                 └─ cluster  (live; context)   ┴─▶ Snapshot ─▶ Finding (verdict, blockers) ─▶ Item ─▶ output
//! ```
//!
//! A [`snapshot::Snapshot`] is what was read, of a cluster or of a dump; commands cannot tell which. Read
//! [`mod@cmd::slices`] first: all others look like it.

mod age;
pub mod cli;
mod cluster;
pub mod cmd;
mod confirm;
mod context;
mod dialogue;
mod downstream;
mod dump;
mod duration;
mod failure;
mod finding;
mod identity;
mod interrupt;
mod item;
mod live;
mod outbox;
mod output;
mod progress;
mod query;
mod resources;
mod selector;
pub mod snapshot;
mod source;
mod surroundings;
mod warnings;
mod whole;
mod writer;

use std::ffi::OsString;
use std::process::ExitCode;

use failure::Failure;

/// Runs the command line and says how it ended: see `kubectl eno --help`, "Exit codes".
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if let [_, ask, words @ ..] = args.as_slice()
        && ask == cmd::completion::ASK
    {
        return cmd::completion::answer(words);
    }
    let ended = match cli::parse(args) {
        Ok(cli) => cmd::run(&cli),
        Err(stop) => stop.map(|()| ExitCode::SUCCESS),
    };
    ended.unwrap_or_else(|failure: Failure| failure.report())
}
