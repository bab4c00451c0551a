//! `kubectl eno pods`: the pods that eno-webhook follows to their end, and what it has yet to tell of them.

mod letters;
mod list;
pub(super) mod release;
mod undelivered;

use std::process::ExitCode;

use crate::cli::{Cli, PodsAction, PodsFlags};
use crate::failure::Failure;
use letters::Wish;

/// Runs the command.
///
/// # Errors
/// As its actions.
pub(super) async fn run(flags: &PodsFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    match &flags.action {
        None => list::run(&flags.list, cli).await,
        Some(PodsAction::Release(flags)) => release::run(flags, cli).await,
        Some(PodsAction::Undelivered(flags)) => undelivered::run(flags, cli).await,
        Some(PodsAction::Redeliver(flags)) => letters::run(Wish::Redeliver, flags, cli).await,
        Some(PodsAction::Drop(flags)) => letters::run(Wish::Drop, flags, cli).await,
    }
}
