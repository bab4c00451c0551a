//! `kubectl eno completion`: scripts for shells, and the answers that they, and kubectl, ask for on each press of Tab.

mod answer;
mod line;
mod names;
mod values;

use std::process::ExitCode;

use crate::cli::{CompletionFlags, Script};
use crate::failure::Failure;
use crate::output;
pub use answer::answer;

/// The first argument of whoever asks how a command line goes on. The words of the line follow; the last of them, which may
/// be empty, is the one to complete.
///
/// The answer is that of cobra's programs, which kubectl expects of its plugins: on each line a candidate, with a tab and a
/// description where there is one, and at last a colon with a number: 2 stands for "no space after it", 4 for "no files".
pub const ASK: &str = "__complete";

/// Prints a script.
///
/// # Errors
/// Where stdout fails.
pub(super) fn run(flags: &CompletionFlags) -> Result<ExitCode, Failure> {
    let script = match flags.script {
        Script::Bash => include_str!("completion/completion.bash"),
        Script::Zsh => include_str!("completion/completion.zsh"),
        Script::Fish => include_str!("completion/completion.fish"),
        Script::Powershell => include_str!("completion/completion.ps1"),
        Script::Kubectl => include_str!("completion/kubectl_complete-eno"),
    };
    output::lines(script.lines().map(str::to_owned).collect())?;
    Ok(ExitCode::SUCCESS)
}
