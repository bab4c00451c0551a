//! `cargo xtask bench`: figures, as ratios within one run on one machine. Release builds, a real control plane.

mod admission;
mod cleanup;
mod figures;
mod load;
mod store;

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Subcommand;

use crate::cluster::Cluster;
use crate::controlplane::{Binaries, ControlPlane, Options};
use crate::{crds, workspace};

/// Subcommands of `cargo xtask bench`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// What the webhook adds to the deletion of a slice, live reads included
    Admission(admission::Admission),
    /// How fast garbage slices go, and what that costs
    Cleanup(cleanup::Cleanup),
}

impl Bench {
    /// Measures, and prints.
    ///
    /// # Errors
    /// Something cannot be built, started or measured.
    pub async fn run(self) -> Result<()> {
        if cfg!(debug_assertions) {
            return again_in_release();
        }
        Binaries::ensure()?;
        eprintln!("starting a control plane …");
        let controlplane = ControlPlane::start(Options::default()).await?;
        let cluster = Cluster::of(&controlplane).await?;
        crds::install(&cluster).await?;
        match self {
            Self::Admission(admission) => admission.run(&cluster).await,
            Self::Cleanup(cleanup) => cleanup.run(&cluster).await,
        }
    }
}

/// Both sides of a comparison must be release builds: this process, too.
fn again_in_release() -> Result<()> {
    eprintln!("building, release …");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["build", "--quiet", "--release", "--package", "eno-webhook", "--package", "eno-tests"];
    let status = Command::new(cargo).args(args).current_dir(workspace::root()).status().context("running cargo")?;
    ensure!(status.success(), "cargo build failed");
    let xtask = workspace::target().join("release/xtask");
    let error = Command::new(&xtask).args(std::env::args_os().skip(1)).exec();
    Err(error).with_context(|| format!("running {}", xtask.display()))
}
