//! A terminal, in which the plugin asks.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::pty::{Winsize, openpty};
use tokio::process::{Child, Command};

use crate::eventually::eventually;

/// How long a terminal may take to show something, or the command to end.
const LIMIT: Duration = Duration::from_secs(30);

/// A command in a terminal.
pub struct Terminal {
    child: Child,
    keyboard: File,
    shown: Arc<Mutex<String>>,
    screen: JoinHandle<()>,
}

impl Terminal {
    /// Runs a command in a terminal of 80 columns.
    ///
    /// # Errors
    /// There is no terminal, or it cannot be run.
    pub fn open(mut command: Command) -> Result<Self> {
        let pty = openpty(&Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }, None)?;
        let stdio = || pty.slave.try_clone().map(Stdio::from);
        let child = command
            .stdin(stdio()?)
            .stdout(stdio()?)
            .stderr(stdio()?)
            .env("TERM", "xterm")
            .kill_on_drop(true)
            .spawn()?;
        let keyboard = File::from(pty.master);
        let (mut screen, shown) = (keyboard.try_clone()?, Arc::<Mutex<String>>::default());
        let show = Arc::clone(&shown);
        let reading = thread::spawn(move || {
            let mut buffer = [0; 4096];
            // An error is how Linux says that the other end is closed.
            while let Ok(read @ 1..) = screen.read(&mut buffer) {
                show.lock().expect("nobody panics with it").push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
        });
        Ok(Self { child, keyboard, shown, screen: reading })
    }

    /// All that it has shown so far.
    pub fn shown(&self) -> String {
        self.shown.lock().expect("nobody panics with it").clone()
    }

    /// Waits until it shows this.
    ///
    /// # Errors
    /// It does not in time: says what it shows.
    pub async fn shows(&self, text: &str) -> Result<()> {
        eventually(&format!("the terminal to show {text:?}"), LIMIT, async || {
            let shown = self.shown();
            ensure!(shown.contains(text), "it shows:\n{shown}");
            Ok(())
        })
        .await
    }

    /// Types this.
    ///
    /// # Errors
    /// The terminal is closed.
    pub fn type_in(&mut self, text: &str) -> Result<()> {
        Ok(self.keyboard.write_all(text.as_bytes())?)
    }

    /// Waits for the end of the command. Returns its exit code and all that was shown.
    ///
    /// # Errors
    /// It does not end in time.
    pub async fn ended(mut self) -> Result<(i32, String)> {
        let status = tokio::time::timeout(LIMIT, self.child.wait()).await.context("the command does not end")??;
        // What was written last may not be read yet.
        eventually("the terminal to be closed", LIMIT, async || {
            ensure!(self.screen.is_finished(), "it shows:\n{}", self.shown());
            Ok(())
        })
        .await?;
        Ok((status.code().unwrap_or(-1), self.shown()))
    }
}
