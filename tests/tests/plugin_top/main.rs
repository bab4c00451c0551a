//! `kubectl eno top` on a terminal, driven by keys: what it shows, and what its keys do to the cluster.

mod act;
mod plain;
mod show;
mod survive;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use eno_tests::plugin;
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use tokio::process::Command;

const LIMIT: Duration = Duration::from_secs(30);

/// `kubectl eno top` in the namespace of the ground; what waits is stuck at once.
fn command(ground: &Guarded, kubeconfig: &Path, args: &[&str]) -> Result<Command> {
    let all = [&["top", "-n", ground.name(), "--stuck-after=0s"], args].concat();
    plugin::command(ground.cluster(), kubeconfig, &all)
}

fn top(ground: &Guarded, args: &[&str], rows: u16, columns: u16) -> Result<Terminal> {
    Terminal::open_sized(command(ground, ground.cluster().kubeconfig(), args)?, rows, columns)
}

/// Shows the slices, those alone whose row has these words.
async fn find_slice(terminal: &mut Terminal, words: &str) -> Result<()> {
    terminal.screen_is("the first picture", |screen| screen.contains("q quit")).await?;
    terminal.type_in(&format!("2/{words}\r"))?;
    terminal.screen_is(words, |screen| chosen(screen).contains(words)).await
}

/// The row under the cursor.
fn chosen(screen: &str) -> &str {
    screen.lines().find(|line| line.starts_with('>')).unwrap_or_default()
}

async fn exists(ground: &Guarded, name: &str) -> Result<bool> {
    Ok(ground.cluster().eno("ResourceSlice", ground.name()).get_metadata_opt(name).await?.is_some())
}
