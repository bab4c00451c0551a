//! `cargo xtask`: what a developer runs besides cargo itself.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use eno_tests::controlplane;

/// Developer tasks of kubectl-eno
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Xtask {
    /// A real control plane to test on
    #[command(subcommand)]
    Controlplane(controlplane::command::Command),
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Xtask::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(xtask: Xtask) -> Result<()> {
    match xtask {
        Xtask::Controlplane(command) => command.run().await,
    }
}
