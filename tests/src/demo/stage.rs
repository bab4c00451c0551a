//! How the story looks on a terminal: titles, commands as a person would type them, progress on what takes long.

use std::env;
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::process::Command;
use tokio::task::spawn_blocking;

use crate::cluster::{Cluster, Output};
use crate::workspace;

/// Where the story is told.
pub struct Stage {
    emphasis: bool,
    kubectl: Option<(PathBuf, PathBuf)>,
}

impl Stage {
    /// This terminal. Without one, and with `NO_COLOR`, nothing is emphasized.
    pub fn new() -> Self {
        Self { emphasis: stdout().is_terminal() && env::var_os("NO_COLOR").is_none(), kubectl: None }
    }

    /// The same, with commands going to this cluster.
    pub fn on(self, cluster: &Cluster) -> Self {
        Self { kubectl: Some((cluster.kubectl_path().to_owned(), cluster.kubeconfig().to_owned())), ..self }
    }

    /// Begins a part.
    pub fn title(&self, text: &str) {
        println!("\n{}", self.bold(&format!("== {text}")));
    }

    /// Says a sentence.
    pub fn say(&self, text: &str) {
        println!("{text}");
    }

    fn bold(&self, text: &str) -> String {
        if self.emphasis { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Shows that something is going on until `work`, which blocks, has ended.
    pub async fn during<T: Send + 'static>(
        &self,
        what: &str,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.wait(what, async { spawn_blocking(work).await? }).await
    }

    /// Shows that something is going on until `work` has ended.
    pub async fn wait<T>(&self, what: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        let style = ProgressStyle::with_template("{spinner} {msg} … {elapsed}").context("a template of ours")?;
        // Hidden where stderr is no terminal; there a line at the beginning is all.
        let progress = ProgressBar::new_spinner().with_style(style).with_message(what.to_owned());
        if progress.is_hidden() {
            eprintln!("{what} …");
        }
        progress.enable_steady_tick(Duration::from_millis(100));
        let done = work.await;
        progress.finish_and_clear();
        done.with_context(|| what.to_owned())
    }

    /// Runs kubectl, showing the command and what it prints.
    pub async fn kubectl(&self, args: &[&str]) -> Result<Output> {
        println!("{}", self.bold(&format!("$ kubectl {}", args.join(" "))));
        let output = self.run(args).await?;
        print!("{}{}", output.stdout, output.stderr);
        Ok(output)
    }

    /// Runs kubectl with the plugin on its PATH.
    async fn run(&self, args: &[&str]) -> Result<Output> {
        let (kubectl, kubeconfig) = self.kubectl.as_ref().context("there is no cluster")?;
        let mut command = Command::new(kubectl);
        command.args(args).env("KUBECONFIG", kubeconfig).env("PATH", plugin_path()?);
        command.env("KUBECACHEDIR", kubeconfig.with_file_name("kubectl-cache"));
        run(command).await
    }

    /// Runs the plugin itself, showing the command as `kubectl eno`.
    pub async fn plugin(&self, shown: &str, args: &[&str]) -> Result<Output> {
        println!("{}", self.bold(&format!("$ kubectl eno {shown}")));
        let mut command = Command::new(programs().join("kubectl-eno"));
        command.args(args).current_dir(workspace::root());
        let output = run(command).await?;
        print!("{}{}", output.stdout, output.stderr);
        Ok(output)
    }

    /// Prints a table with a first column of words.
    pub fn table(&self, header: [&str; 3], rows: &[[String; 3]]) {
        let widths: [usize; 3] = std::array::from_fn(|column| {
            rows.iter().map(|row| row[column].len()).chain([header[column].len()]).max().unwrap_or_default()
        });
        let line = |cells: [&str; 3]| {
            let cells: Vec<_> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            cells.join("   ").trim_end().to_owned()
        };
        println!("{}", self.bold(&line(header)));
        for row in rows {
            println!("{}", line(row.each_ref().map(String::as_str)));
        }
    }

    /// Keeps the cluster up until Ctrl-C, and says how to look around in a namespace.
    pub async fn keep(&self, cluster: &Cluster, namespace: &str) -> Result<()> {
        println!("\nThe cluster stays up until you press Ctrl-C. In another terminal:");
        println!("  export KUBECONFIG={}", cluster.kubeconfig().display());
        println!("  export PATH={}:$PATH", programs().display());
        println!("  kubectl eno slices -A");
        println!("  kubectl eno tree -n {namespace}");
        println!("  kubectl eno plan-delete namespace/{namespace}");
        println!("  kubectl delete resourceslices.eno.azure.io --all -n {namespace}");
        println!("  kubectl delete namespace {namespace}");
        tokio::signal::ctrl_c().await?;
        Ok(())
    }
}

/// Where cargo puts the programs.
fn programs() -> PathBuf {
    workspace::target().join("debug")
}

fn plugin_path() -> Result<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths([programs()].into_iter().chain(env::split_paths(&path)))?)
}

async fn run(mut command: Command) -> Result<Output> {
    let output = command.output().await.with_context(|| format!("running {:?}", command.as_std().get_program()))?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(Output { stdout: text(&output.stdout), stderr: text(&output.stderr), code: output.status.code().unwrap_or(-1) })
}
