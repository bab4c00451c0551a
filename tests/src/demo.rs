//! `cargo xtask demo`: what Eno loses today, and that it is no longer lost, told on a terminal.

mod offline;
mod pod;
mod stage;
mod story;

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::controlplane::{Binaries, ControlPlane, Options};
use crate::eno::Eno;
use crate::{crds, workspace};
use stage::Stage;
use story::{Guard, Loss};

/// Arguments of `cargo xtask demo`.
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// Show the plugin on a bundled dump, in seconds, with no control plane
    #[arg(long)]
    offline: bool,
    /// Leave the cluster up at the end, and say how to look around
    #[arg(long, conflicts_with = "offline")]
    keep: bool,
    /// How many compositions to delete, of three resources each
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=200))]
    compositions: u16,
}

impl Demo {
    /// Tells the story.
    ///
    /// # Errors
    /// A part of it cannot be built or started, or does not end.
    pub async fn run(self) -> Result<()> {
        let stage = Stage::new();
        stage.during("building kubectl-eno and eno-webhook", build).await?;
        if self.offline {
            return offline::tell(&stage).await;
        }
        stage
            .during("building the control plane, where it is not in the cache (some minutes, once)", control_plane)
            .await?;
        let controlplane = stage
            .wait("starting etcd, kube-apiserver and kube-controller-manager", ControlPlane::start(Options::default()));
        let controlplane = controlplane.await?;
        let cluster = Cluster::of(&controlplane).await?;
        crds::install(&cluster).await?;
        let stage = stage.on(&cluster);

        let eno = if Eno::bin_dir().is_some() { "Eno" } else { "a stand-in for Eno (ENO_BIN_DIR names real binaries)" };
        stage.title("Eno alone");
        stage.say(&format!("Eno's objects are there, {eno} is at work, and nothing guards the slices."));
        let alone = story::tell(&stage, &cluster, self.compositions.into(), Guard::Nobody).await?;

        stage.title("The same with eno-webhook");
        let guarded = story::tell(&stage, &cluster, self.compositions.into(), Guard::Webhook).await?;

        stage.title("A pod that is truly gone");
        pod::tell(&stage, &cluster).await?;

        stage.title("What was lost");
        stage.table(["", "Eno alone", "with eno-webhook"], &rows(&alone, &guarded));
        if self.keep {
            story::keep(&stage, &cluster).await?;
        }
        let lost: usize = guarded.iter().map(|loss| loss.lost).sum();
        ensure!(lost == 0, "something was lost though the webhook was there: please report this");
        Ok(())
    }
}

fn rows(alone: &[Loss], guarded: &[Loss]) -> Vec<[String; 3]> {
    alone
        .iter()
        .zip(guarded)
        .map(|(alone, guarded)| [alone.what.to_owned(), alone.to_string(), guarded.to_string()])
        .collect()
}

fn build() -> Result<()> {
    workspace::build(&["--package=eno-webhook", "--package=kubectl-eno", "--bins", "--examples"])
}

fn control_plane() -> Result<()> {
    Binaries::ensure().map(drop)
}
