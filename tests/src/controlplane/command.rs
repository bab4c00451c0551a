//! `cargo xtask controlplane`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{self, Path, PathBuf};
use std::process;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};

use super::component::{Binaries, Component};
use super::{certs, daemon};
use crate::workspace;

/// Subcommands of `cargo xtask controlplane`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build what is missing of etcd, kube-apiserver, kube-controller-manager and kubectl
    Build,
    /// Start a control plane that stays until `down`
    Up(Place),
    /// Stop it and remove its folder
    Down(Place),
    /// Run the matching kubectl on it
    Kubectl {
        /// Where the control plane is
        #[command(flatten)]
        place: Place,
        /// What kubectl is to do
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        args: Vec<OsString>,
    },
    /// Hold a control plane until a signal comes: what `up` leaves behind
    #[command(hide = true)]
    Hold(Place),
}

/// Where a control plane is.
#[derive(Debug, Args)]
pub struct Place {
    /// Its folder [default: target/controlplane]
    #[arg(long)]
    dir: Option<PathBuf>,
}

impl Place {
    /// Absolute: it goes into kubeconfigs and flags, which must hold from any folder.
    fn dir(self) -> Result<PathBuf> {
        Ok(path::absolute(self.dir.unwrap_or_else(workspace::controlplane))?)
    }
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// Whatever stood in its way, for a person to read.
    pub async fn run(self) -> Result<()> {
        match self {
            Self::Build => build(),
            Self::Up(place) => up(&place.dir()?).await,
            Self::Down(place) => down(&place.dir()?).await,
            Self::Kubectl { place, args } => kubectl(&place.dir()?, args),
            Self::Hold(place) => daemon::hold(place.dir()?).await,
        }
    }
}

fn build() -> Result<()> {
    let binaries = Binaries::ensure()?;
    for component in Component::ALL {
        println!("{}", binaries.path(component).display());
    }
    Ok(())
}

/// Starts one in `dir`, unless one runs there, and says how to use it.
///
/// # Errors
/// It cannot be built or started.
pub async fn up(dir: &Path) -> Result<()> {
    if daemon::is_ready(dir) {
        eprintln!("a control plane runs in {} already", dir.display());
    } else {
        Binaries::ensure()?;
        eprintln!("starting etcd, kube-apiserver and kube-controller-manager …");
        let begun = Instant::now();
        daemon::start(dir).await?;
        eprintln!("ready in {} s", begun.elapsed().as_secs());
    }
    let option = if dir == workspace::controlplane() { String::new() } else { format!(" --dir {}", dir.display()) };
    println!("export KUBECONFIG={}", dir.join(certs::KUBECONFIG).display());
    eprintln!("look around:  cargo xtask controlplane kubectl{option} get namespaces");
    eprintln!("stop it:      cargo xtask controlplane down{option}");
    Ok(())
}

async fn down(dir: &Path) -> Result<()> {
    if daemon::stop(dir).await? {
        eprintln!("stopped; {} is removed", dir.display());
    } else {
        eprintln!("no control plane runs in {}", dir.display());
    }
    Ok(())
}

fn kubectl(dir: &Path, args: Vec<OsString>) -> Result<()> {
    ensure!(
        daemon::is_ready(dir),
        "no control plane runs in {}\nhint: start one with `cargo xtask controlplane up`",
        dir.display()
    );
    let binaries = Binaries::find()?;
    let kubectl = binaries.path(Component::Kubectl);
    let error = process::Command::new(kubectl).env("KUBECONFIG", dir.join(certs::KUBECONFIG)).args(args).exec();
    Err(error).with_context(|| format!("running {}", kubectl.display()))
}
