//! `cargo xtask`: what a developer runs besides cargo itself.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use eno_tests::{bench, captures, chaos, check, controlplane, demo, instructions, manifests, reference, release};

/// Developer tasks of kubectl-eno
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Xtask {
    /// Show on a real control plane what Eno loses, and that it is no longer lost
    Demo(demo::Demo),
    /// Everything that must pass: format, lints, hermetic tests, tests on a real control plane
    Test(check::Check),
    /// Measure on a real control plane, with release builds
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Count the instructions of the hot paths, by valgrind, against what is committed
    Instructions(instructions::Instructions),
    /// Let faults strike on a real control plane, and show that nothing is lost
    Chaos(chaos::Chaos),
    /// Make what is published: archives, krew manifest, image, manifests, bills of materials
    Release(release::Release),
    /// Write the manifests that come from the code
    Manifests,
    /// Write docs/reference.md, which comes from the code
    Reference,
    /// Write what terminals show to docs/
    Captures(captures::Captures),
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
        Xtask::Demo(demo) => demo.run().await,
        Xtask::Test(check) => check.run().await,
        Xtask::Bench(bench) => bench.run().await,
        Xtask::Instructions(instructions) => instructions.run(),
        Xtask::Chaos(chaos) => chaos.run().await,
        Xtask::Release(release) => release.run(),
        Xtask::Manifests => manifests::generated::write(),
        Xtask::Reference => reference::write(),
        Xtask::Captures(captures) => captures.run().await,
        Xtask::Controlplane(command) => command.run().await,
    }
}
