//! A terminal, in which the plugin asks, and draws.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
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
    seen: Arc<Mutex<Seen>>,
    reading: JoinHandle<()>,
}

/// What came to the terminal.
struct Seen {
    /// All that was written.
    written: String,
    /// What is shown now.
    screen: vt100::Parser,
}

impl Terminal {
    /// Runs a command in a terminal of 24 rows and 80 columns.
    ///
    /// # Errors
    /// There is no terminal, or it cannot be run.
    pub fn open(command: Command) -> Result<Self> {
        Self::open_sized(command, 24, 80)
    }

    /// Runs a command in a terminal of its own, as a login shell would: Ctrl-C and a new size reach it as signals.
    ///
    /// # Errors
    /// There is no terminal, or it cannot be run.
    pub fn open_sized(command: Command, rows: u16, columns: u16) -> Result<Self> {
        let pty = openpty(&Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }, None)?;
        let stdio = || pty.slave.try_clone().map(Stdio::from);
        let child = in_session(command.as_std())
            .stdin(stdio()?)
            .stdout(stdio()?)
            .stderr(stdio()?)
            .env("TERM", "xterm")
            .kill_on_drop(true)
            .spawn()?;
        let keyboard = File::from(pty.master);
        let screen = vt100::Parser::new(cells(rows)?, cells(columns)?, 0);
        let (mut output, seen) = (keyboard.try_clone()?, Arc::new(Mutex::new(Seen { written: String::new(), screen })));
        let see = Arc::clone(&seen);
        let reading = thread::spawn(move || {
            let mut buffer = [0; 4096];
            // An error is how Linux says that the other end is closed.
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                let mut seen = see.lock().expect("nobody panics with it");
                seen.written.push_str(&String::from_utf8_lossy(&buffer[..read]));
                seen.screen.process(&buffer[..read]);
            }
        });
        Ok(Self { child, keyboard, seen, reading })
    }

    /// The process id of the command, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Does it echo what is typed, line by line, as a shell wants it?
    ///
    /// # Errors
    /// The terminal is closed.
    pub fn is_cooked(&self) -> Result<bool> {
        let wanted = rustix::termios::LocalModes::ECHO | rustix::termios::LocalModes::ICANON;
        Ok(rustix::termios::tcgetattr(&self.keyboard)?.local_modes.contains(wanted))
    }

    /// All that it has written so far.
    pub fn shown(&self) -> String {
        self.seen.lock().expect("nobody panics with it").written.clone()
    }

    /// What it shows now, line by line.
    pub fn screen(&self) -> String {
        self.seen.lock().expect("nobody panics with it").screen.screen().contents()
    }

    /// Gives it another size.
    ///
    /// # Errors
    /// The terminal is closed.
    pub fn resize(&self, rows: u16, columns: u16) -> Result<()> {
        self.seen.lock().expect("nobody panics with it").screen.screen_mut().set_size(cells(rows)?, cells(columns)?);
        let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(rustix::termios::tcsetwinsize(&self.keyboard, size)?)
    }

    /// Waits until what it shows is as it must be.
    ///
    /// # Errors
    /// It is not in time: says what it shows.
    pub async fn screen_is(&self, what: &str, check: impl Fn(&str) -> bool) -> Result<()> {
        eventually(&format!("the screen to show {what}"), LIMIT, async || {
            let screen = self.screen();
            ensure!(check(&screen), "it shows:\n{screen}");
            Ok(())
        })
        .await
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
            ensure!(self.reading.is_finished(), "it shows:\n{}", self.shown());
            Ok(())
        })
        .await?;
        Ok((status.code().unwrap_or(-1), self.shown()))
    }
}

fn cells(count: u16) -> Result<NonZero<u16>> {
    NonZero::new(count).context("a terminal has rows and columns")
}

/// The command as the leader of a session whose terminal is its standard input.
fn in_session(command: &std::process::Command) -> Command {
    let mut session = Command::new("setsid");
    session.arg("--ctty").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => session.env(name, value),
            None => session.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        session.current_dir(folder);
    }
    session
}
