//! `-w`: lines in a pipe, a picture on a terminal, and the truth about the connection.

mod connection;
mod explained;
mod lists;
mod pods;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_tests::plugin::binary;
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

const LIMIT: Duration = Duration::from_secs(30);

/// The plugin, in the namespace of the ground.
fn command(ground: &Guarded, kubeconfig: &Path, args: &[&str]) -> Result<Command> {
    let mut command = Command::new(binary()?);
    command.args(args).args(["-n", ground.name(), "-w"]).env("KUBECONFIG", kubeconfig);
    Ok(command)
}

fn terminal(ground: &Guarded, args: &[&str], rows: u16, columns: u16) -> Result<Terminal> {
    Terminal::open_sized(command(ground, ground.cluster().kubeconfig(), args)?, rows, columns)
}

/// A watch whose lines are read.
struct Piped {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    errors: Lines<BufReader<ChildStderr>>,
}

impl Piped {
    fn start(ground: &Guarded, kubeconfig: &Path, args: &[&str]) -> Result<Self> {
        let mut command = command(ground, kubeconfig, args)?;
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("it has a standard output")?).lines();
        let errors = BufReader::new(child.stderr.take().context("it has a standard error")?).lines();
        Ok(Self { child, lines, errors })
    }

    /// The next line.
    async fn line(&mut self) -> Result<String> {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await.context("no line in time")??;
        line.context("it has ended")
    }

    /// The next line must have these words, and an age perhaps.
    async fn says(&mut self, words: &str) -> Result<()> {
        let line = self.line().await?;
        let said = line.split_whitespace().collect::<Vec<_>>().join(" ");
        ensure!(said.starts_with(words), "expected {words:?}, it says {line:?}");
        Ok(())
    }

    /// The next line on its standard error must say this.
    async fn warns(&mut self, text: &str) -> Result<()> {
        let line = tokio::time::timeout(LIMIT, self.errors.next_line()).await.context("no warning in time")??;
        let line = line.context("it has ended")?;
        ensure!(line.starts_with(text), "expected {text:?}, it says {line:?}");
        Ok(())
    }

    /// Its exit code, and what it said on its standard error since.
    async fn end(mut self) -> Result<(i32, String)> {
        let status = tokio::time::timeout(LIMIT, self.child.wait()).await.context("it does not end")??;
        let mut said = String::new();
        while let Some(line) = self.errors.next_line().await? {
            said += &(line + "\n");
        }
        Ok((status.code().unwrap_or(-1), said))
    }
}

async fn release(ground: &Guarded, slice: &str) -> Result<()> {
    let patch = json!([{"op": "test", "path": "/metadata/finalizers/0", "value": CLEANUP_FINALIZER},
        {"op": "remove", "path": "/metadata/finalizers/0"}]);
    ground.patch_slice(slice, "json", &patch).await?.success().map(drop)
}
