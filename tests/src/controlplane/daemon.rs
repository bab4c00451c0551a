//! A control plane that outlives the command that started it: a process of its own holds it until it is told to end.

use std::env;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

use super::{ControlPlane, Options, READY, certs, folder};
use crate::eventually::eventually;
use crate::process::tail;

/// How long `down` waits for the end.
const END: Duration = Duration::from_secs(30);

/// The audit log of a detached control plane, beside its kubeconfig.
pub const AUDIT_LOG: &str = "audit.log";

/// Holds a control plane in `dir` until a signal comes or a component ends.
///
/// # Errors
/// It does not start, or a component ended.
pub async fn hold(dir: PathBuf) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let options = Options { audit: Some(dir.join(AUDIT_LOG)), dir: Some(dir), ..Options::default() };
    let held = async {
        let mut controlplane = ControlPlane::start(options).await?;
        Err(controlplane.died().await)
    };
    tokio::select! {
        ended = held => ended,
        _ = terminate.recv() => Ok(()),
        _ = ctrl_c() => Ok(()),
    }
}

/// Starts a process that holds a control plane in `dir` (see [`hold`]), and waits until it is ready.
///
/// # Errors
/// It does not start: the error is that of the process. On Ctrl-C it is stopped again.
pub async fn start(dir: &Path) -> Result<()> {
    let log_path = log(dir);
    if let Some(parent) = log_path.parent() {
        fs::create_dir_all(parent)?;
    }
    let log = File::create(&log_path).with_context(|| format!("creating {}", log_path.display()))?;
    let mut child = Command::new(env::current_exe()?)
        .args(["controlplane", "hold", "--dir"])
        .arg(dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        // Ctrl-C at the terminal is not for it.
        .process_group(0)
        .spawn()
        .context("starting the process that holds the control plane")?;
    let outcome = tokio::select! {
        started = started(&mut child, dir, &log_path) => started,
        _ = ctrl_c() => Err(anyhow!("interrupted")),
    };
    if outcome.is_err() {
        // Fails only where it has ended already.
        let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM);
        child.wait()?;
    }
    outcome
}

async fn started(child: &mut Child, dir: &Path, log: &Path) -> Result<()> {
    let ended = eventually("the control plane to be ready", READY * 2, async || match child.try_wait()? {
        Some(status) => Ok(Some(status)),
        None if is_ready(dir) => Ok(None),
        None => bail!("it is starting; see {}", log.display()),
    })
    .await?;
    match ended {
        None => Ok(()),
        Some(status) => bail!("it ended ({status}):\n{}", tail(log)),
    }
}

/// Whether a ready control plane runs in `dir`.
pub fn is_ready(dir: &Path) -> bool {
    folder::is_owned(dir) && dir.join(certs::KUBECONFIG).exists()
}

/// Stops the control plane in `dir` and removes the folder. Returns whether one ran.
///
/// # Errors
/// It does not end, or the folder is not that of a control plane.
pub async fn stop(dir: &Path) -> Result<bool> {
    if !folder::is_owned(dir) {
        folder::remove_stale(dir)?;
        return Ok(false);
    }
    let pid = folder::owner(dir)?;
    kill(Pid::from_raw(pid), Signal::SIGTERM).with_context(|| format!("stopping process {pid}"))?;
    eventually("the control plane to end", END, async || {
        // The mark of its owner may be the first file of the folder that is removed.
        if dir.exists() && kill(Pid::from_raw(pid), None).is_ok() {
            bail!("process {pid} still holds {}; see {}", dir.display(), log(dir).display());
        }
        Ok(())
    })
    .await?;
    // The process removes what it held; this is for one that was killed meanwhile.
    folder::remove_stale(dir)?;
    Ok(true)
}

/// The log of the process that holds the control plane in `dir`: beside it, since the folder must be empty at first.
fn log(dir: &Path) -> PathBuf {
    dir.with_extension("log")
}
