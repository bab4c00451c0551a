//! A program that the release calls.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// A call of a program, in the workspace's folder. Its errors are shown as it writes them.
pub struct Tool {
    command: Command,
    hint: Option<&'static str>,
}

impl Tool {
    /// A program found on `PATH`, of this Debian package.
    pub fn named(name: &str, package: &'static str) -> Self {
        Tool { command: Command::new(name), hint: Some(package) }.in_workspace()
    }

    /// A program whose place is known.
    pub fn at(path: &Path) -> Self {
        Tool { command: Command::new(path), hint: None }.in_workspace()
    }

    /// The cargo that runs us.
    pub fn cargo() -> Self {
        Tool { command: workspace::cargo(&[]), hint: None }
    }

    fn in_workspace(self) -> Self {
        self.current_dir(workspace::root())
    }

    pub fn current_dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    pub fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    /// Runs it. What it prints is progress.
    pub fn run(self) -> Result<()> {
        self.text().map(drop)
    }

    /// Runs it, and returns what it printed.
    pub fn text(mut self) -> Result<String> {
        let program = self.command.get_program().to_string_lossy().into_owned();
        let output = self.command.stderr(Stdio::inherit()).output().with_context(|| match self.hint {
            Some(package) => format!("cannot run {program}\nhint: apt-get install {package}"),
            None => format!("cannot run {program}"),
        })?;
        ensure!(output.status.success(), "{:?} ended with {}", self.command, output.status);
        String::from_utf8(output.stdout).with_context(|| format!("what {program} printed is no text"))
    }
}
