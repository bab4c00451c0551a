//! `kubectl eno completion`.

use clap::{Args, ValueEnum};

/// `kubectl eno completion`.
#[derive(Debug, Args)]
pub struct CompletionFlags {
    /// For which shell; or for kubectl
    #[arg(value_enum, value_name = "SHELL")]
    pub script: Script,
}

/// Who is to complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Script {
    /// Completes kubectl-eno in bash
    Bash,
    /// Completes kubectl-eno in zsh
    Zsh,
    /// Completes kubectl-eno in fish
    Fish,
    /// Completes kubectl-eno in PowerShell
    Powershell,
    /// The program kubectl_complete-eno, by which kubectl's own completion completes "kubectl eno"
    Kubectl,
}
