//! `cargo xtask bench`: figures, as ratios within one run on one machine. Release builds, a real control plane.

mod all;
mod cleanup;
pub(crate) mod figures;
mod load;
mod measure;
pub(crate) mod performance;
mod plugin;
mod pods;
mod report;
mod rollout;
mod store;
mod top;
mod webhook;

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Subcommand;

use crate::cluster::Cluster;
use crate::controlplane::{Binaries, ControlPlane, Options};
use crate::{crds, workspace};

/// Subcommands of `cargo xtask bench`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// How fast the webhook answers and what it needs for that, beside the webhook in Go, a policy, and none
    Webhook(webhook::Webhook),
    /// All of these: docs/performance.md and docs/figures-*.md
    All,
    /// How fast garbage slices go, and what that costs
    Cleanup(cleanup::Cleanup),
    /// What `kubectl eno slices` needs, beside `kubectl get`
    Plugin(plugin::Plugin),
    /// How many calls fail while the certificate changes and both replicas are replaced
    Rollout(rollout::Arguments),
    /// How long a browser needs to open the plugin's report
    Report(report::Report),
    /// What `kubectl eno top` needs while nothing changes, and while much does
    Top(top::Top),
    /// How soon it is told that pods are gone, and what that costs
    Pods(pods::Pods),
    /// Run a program and print what it needed, as JSON
    #[command(hide = true)]
    Measure(measure::Measure),
    /// Serve TLS and HTTP and do nothing else
    #[command(hide = true)]
    Floor(webhook::Floor),
}

impl Bench {
    /// Measures, and prints.
    ///
    /// # Errors
    /// Something cannot be built, started or measured.
    pub async fn run(self) -> Result<()> {
        if let Self::Report(report) = &self {
            // What is measured is the browser: it needs no release build, and no cluster.
            return report.run().await;
        }
        if cfg!(debug_assertions) {
            return again_in_release();
        }
        match &self {
            Self::Measure(measure) => return measure.run(),
            Self::Floor(floor) => return floor.run().await,
            Self::All => return all::run(),
            Self::Webhook(_)
            | Self::Cleanup(_)
            | Self::Plugin(_)
            | Self::Rollout(_)
            | Self::Report(_)
            | Self::Top(_)
            | Self::Pods(_) => {}
        }
        Binaries::ensure()?;
        // These have control planes of their own.
        match &self {
            Self::Rollout(rollout) => return rollout.run().await,
            Self::Webhook(webhook) => return webhook.run().await,
            Self::All
            | Self::Cleanup(_)
            | Self::Plugin(_)
            | Self::Report(_)
            | Self::Top(_)
            | Self::Pods(_)
            | Self::Measure(_)
            | Self::Floor(_) => {}
        }
        eprintln!("starting a control plane …");
        let controlplane = ControlPlane::start(Options::default()).await?;
        let cluster = Cluster::of(&controlplane).await?;
        crds::install(&cluster).await?;
        match self {
            Self::Cleanup(cleanup) => cleanup.run(&cluster).await,
            Self::Plugin(plugin) => plugin.run(&cluster).await,
            Self::Top(top) => top.run(&cluster).await,
            Self::Pods(pods) => pods.run(&cluster).await,
            Self::Report(_) | Self::Rollout(_) | Self::Webhook(_) | Self::All | Self::Measure(_) | Self::Floor(_) => {
                Ok(())
            }
        }
    }
}

/// Both sides of a comparison must be optimized: what is measured as it is released, and this process, which goes on so.
fn again_in_release() -> Result<()> {
    eprintln!("building, release …");
    workspace::build(&["--release", "--package=eno-webhook", "--package=kubectl-eno"])?;
    workspace::build(&["--profile=harness", "--package=eno-tests", "--bin=xtask"])?;
    let xtask = workspace::target().join("harness/xtask");
    let error = Command::new(&xtask).args(std::env::args_os().skip(1)).exec();
    Err(error).with_context(|| format!("running {}", xtask.display()))
}
