//! A child process that cannot outlive this one.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How many lines of a log an error shows.
const TAIL: usize = 15;

/// A running child, its output in a log file. Dropping it kills it, and the kernel kills it when this process dies in
/// any other way (a panic, Ctrl-C, `kill -9`).
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command`; its standard output and error go to `log`.
    ///
    /// # Errors
    /// The log cannot be written, or the program (or `setpriv` of util-linux) is not there.
    pub fn spawn(name: &str, command: &Command, log: &Path) -> Result<Self> {
        let output = File::create(log).with_context(|| format!("creating the log {}", log.display()))?;
        let mut command = tied_to_this_process(command);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = fork(command)
            .with_context(|| format!("starting {name} by setpriv (install the package util-linux if it is missing)"))?;
        Ok(Self { name: name.to_owned(), child, log: log.to_owned() })
    }

    /// The name it was started under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where its output goes.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// An error with the end of its log, if it has ended.
    ///
    /// # Errors
    /// It has ended.
    pub fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => Err(self.ended(status)),
        }
    }

    fn ended(&self, status: ExitStatus) -> anyhow::Error {
        anyhow::anyhow!("{} ended ({status}); the end of {}:\n{}", self.name, self.log.display(), tail(&self.log))
    }

    /// Asks it to end (SIGTERM), and kills it when it has not within `grace`.
    pub fn stop(mut self, grace: Duration) {
        // Fails only where it has ended already.
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM);
        let deadline = Instant::now() + grace;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The last lines of a log, or why it cannot be read.
pub fn tail(log: &Path) -> String {
    match fs::read_to_string(log) {
        Ok(text) => {
            let lines: Vec<_> = text.lines().collect();
            lines[lines.len().saturating_sub(TAIL)..].join("\n")
        }
        Err(error) => format!("(cannot be read: {error})"),
    }
}

/// `command` under `setpriv --pdeathsig`, and in a process group of its own, so that Ctrl-C reaches only its owner.
fn tied_to_this_process(command: &Command) -> Command {
    let mut tied = Command::new("setpriv");
    tied.args(["--pdeathsig", "KILL", "--"]).arg(command.get_program()).args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        tied.current_dir(dir);
    }
    for (key, value) in command.get_envs() {
        match value {
            Some(value) => tied.env(key, value),
            None => tied.env_remove(key),
        };
    }
    tied.process_group(0);
    tied
}

/// Spawns on a thread that lasts as long as the process: the kernel sends the parent-death signal when the *thread*
/// that forked ends, and a test's thread ends long before others have done with a shared child.
fn fork(command: Command) -> io::Result<Child> {
    let (reply, child) = mpsc::channel();
    forker().send((command, reply)).map_err(io::Error::other)?;
    child.recv().map_err(io::Error::other)?
}

/// Runs `command` to its end in the network of [`prepare`], also where the thread that asks has entered another.
///
/// # Errors
/// The program is not there.
pub(crate) fn output(mut command: Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    fork(command)?.wait_with_output()
}

/// Starts the thread that spawns. It is in the network namespace of the thread that starts it, and so are all children:
/// whoever enters another namespace must have it started before.
pub(crate) fn prepare() {
    forker();
}

type Request = (Command, Sender<io::Result<Child>>);

fn forker() -> &'static Sender<Request> {
    static FORKER: OnceLock<Sender<Request>> = OnceLock::new();
    FORKER.get_or_init(|| {
        let (sender, requests) = mpsc::channel::<Request>();
        thread::spawn(move || {
            for (mut command, reply) in requests {
                // The asker waits below, so the reply is always taken.
                let _ = reply.send(command.spawn());
            }
        });
        sender
    })
}
