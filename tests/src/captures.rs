//! `cargo xtask captures`: what a terminal shows, and a browser, written to docs/. Of the bundled dump, so that it needs no cluster.

use std::fs;

use anyhow::{Result, ensure};
use tokio::process::Command;

use crate::terminal::Terminal;
use crate::{picture, plugin, workspace};

/// Arguments of `cargo xtask captures`.
#[derive(Debug, clap::Args)]
pub struct Captures {
    /// Only check that the files are as they would be written
    #[arg(long)]
    check: bool,
}

/// The dump, and when it was taken.
pub const DUMP: [&str; 5] = ["-f", "plugin/tests/data/demo.yaml", "--complete", "--now", "2026-03-01T12:00:00Z"];

impl Captures {
    /// Writes, or checks, all of them.
    ///
    /// # Errors
    /// The plugin is not built, or does not show what it should; with `--check`, a file is not as it should be.
    pub async fn run(self) -> Result<()> {
        let path = workspace::root().join("docs/top.txt");
        let text = top().await?;
        if self.check {
            let is = fs::read_to_string(&path).unwrap_or_default();
            ensure!(is == text, "docs/top.txt is not as `cargo xtask captures` writes it");
        } else {
            fs::write(&path, text)?;
            picture::write().await?;
        }
        Ok(())
    }
}

/// `kubectl eno top`: compositions, slices, and why one of them is stuck; then the slices in a small terminal.
///
/// # Errors
/// The plugin is not built, or does not show them.
pub async fn top() -> Result<String> {
    let mut terminal = open(24, 80)?;
    let mut text =
        String::from("What `kubectl eno top` shows of the bundled dump; written by `cargo xtask captures`.\n");
    let mut show = |title: &str, screen: &str| {
        text += &format!("\n== {title}\n");
        screen.lines().for_each(|line| text += &format!("{}\n", line.trim_end()));
    };
    terminal.screen_is("compositions", |screen| screen.contains("[1 compositions") && is_whole(screen)).await?;
    show("80 x 24: compositions, what is stuck first", &terminal.screen());
    terminal.type_in("2")?;
    terminal.screen_is("slices", |screen| screen.contains("[2 slices") && is_whole(screen)).await?;
    show("2: slices", &terminal.screen());
    terminal.type_in("j\r")?;
    terminal.screen_is("why", |screen| screen.contains("HOLD") && screen.contains("Esc back")).await?;
    show("Enter: why", &terminal.screen());
    terminal.type_in("qq")?;
    ensure!(terminal.ended().await?.0 == 0);

    let mut terminal = open(12, 40)?;
    terminal.screen_is("compositions", is_whole).await?;
    terminal.type_in("2")?;
    terminal.screen_is("slices", |screen| screen.contains("[2 slices") && is_whole(screen)).await?;
    show("40 x 12: slices", &terminal.screen());
    terminal.type_in("q")?;
    ensure!(terminal.ended().await?.0 == 0);
    Ok(text)
}

/// The last line is drawn last.
fn is_whole(screen: &str) -> bool {
    screen.trim_end().ends_with("q quit")
}

fn open(rows: u16, columns: u16) -> Result<Terminal> {
    let mut command = Command::new(plugin::binary()?);
    command.arg("top").args(DUMP).current_dir(workspace::root()).env("NO_COLOR", "1");
    Terminal::open_sized(command, rows, columns)
}
