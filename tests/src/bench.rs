//! `cargo xtask bench`: figures, as ratios within one run on one machine. Release builds, a real control plane.

mod admission;
mod figures;

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
}

impl Bench {
    /// Measures, and prints.
    ///
    /// # Errors
    /// Something cannot be built, started or measured.
    pub async fn run(self) -> Result<()> {
        build()?;
        Binaries::ensure()?;
        eprintln!("starting a control plane …");
        let controlplane = ControlPlane::start(Options::default()).await?;
        let cluster = Cluster::of(&controlplane).await?;
        crds::install(&cluster).await?;
        match self {
            Self::Admission(admission) => admission.run(&cluster).await,
        }
    }
}

fn build() -> Result<()> {
    eprintln!("building eno-webhook, release …");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["build", "--quiet", "--release", "--package", "eno-webhook"];
    let status = Command::new(cargo).args(args).current_dir(workspace::root()).status().context("running cargo")?;
    ensure!(status.success(), "cargo build failed");
    Ok(())
}
