//! `kubectl eno`, as a user runs it: by kubectl, which finds the plugin on its PATH.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

use crate::cluster::{Cluster, Output};
use crate::workspace;

/// Runs `kubectl eno` with the cluster's kubeconfig.
///
/// # Errors
/// It cannot be run; its own failure is in the output.
pub async fn eno(cluster: &Cluster, args: &[&str]) -> Result<Output> {
    eno_with(cluster, cluster.kubeconfig(), args).await
}

/// Runs `kubectl eno` with a kubeconfig of the caller's.
///
/// # Errors
/// As for [`eno`].
pub async fn eno_with(cluster: &Cluster, kubeconfig: &Path, args: &[&str]) -> Result<Output> {
    output(command(cluster, kubeconfig, args)?).await
}

/// `kubectl eno`, to be run.
///
/// # Errors
/// The plugin is not built.
pub fn command(cluster: &Cluster, kubeconfig: &Path, args: &[&str]) -> Result<Command> {
    let mut command = Command::new(cluster.kubectl_path());
    command.arg("eno").args(args).env("KUBECONFIG", kubeconfig).env("PATH", path()?);
    Ok(command)
}

/// Runs a line of a shell in which `kubectl` is the cluster's, and has the plugin. Files go to `folder`.
///
/// # Errors
/// As for [`eno`].
pub async fn shell(cluster: &Cluster, folder: &Path, line: &str) -> Result<Output> {
    let kubectl = cluster.kubectl_path().parent().context("kubectl stands in a folder")?;
    let path = env::join_paths([kubectl.to_owned()].into_iter().chain(env::split_paths(&path()?)))?;
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("KUBECONFIG", cluster.kubeconfig()).env("PATH", path);
    output(command).await
}

/// The plugin itself, built beside the tests.
///
/// # Errors
/// It is not built.
pub fn binary() -> Result<PathBuf> {
    let binary = workspace::target().join("debug/kubectl-eno");
    ensure!(
        binary.is_file(),
        "no {}\nhint: build it with `cargo build`, or let `cargo xtask test` do all",
        binary.display()
    );
    Ok(binary)
}

/// The PATH on which kubectl finds the plugin.
fn path() -> Result<OsString> {
    let folder = binary()?.parent().context("the plugin stands in a folder")?.to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths([folder].into_iter().chain(env::split_paths(&path)))?)
}

async fn output(mut command: Command) -> Result<Output> {
    let program = command.as_std().get_program().to_owned();
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = output.await.with_context(|| format!("running {}", program.display()))?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(Output { stdout: text(&output.stdout), stderr: text(&output.stderr), code: output.status.code().unwrap_or(-1) })
}
