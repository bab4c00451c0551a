//! What a program needs, by the kernel's account of a process whose only child it is.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde_json::{Value, json};

/// Arguments of `cargo xtask bench measure`.
#[derive(Debug, clap::Args)]
pub struct Measure {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

impl Measure {
    /// Runs it. Its output is read by nobody.
    pub fn run(&self) -> Result<()> {
        let (program, args) = self.command.split_first().context("clap wants one")?;
        let begun = Instant::now();
        let status = Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
        let wall = begun.elapsed();
        ensure!(status.success(), "{program} ended with {status}");
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        let cpu = seconds(usage.user_time()) + seconds(usage.system_time());
        println!("{}", json!({"wall": wall.as_secs_f64(), "cpu": cpu, "kib": usage.max_rss()}));
        Ok(())
    }
}

/// What a program needed.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// Time on the clock.
    pub wall: Duration,
    /// Time of a core.
    pub cpu: Duration,
    /// The most memory it had, in MiB.
    pub mib: f64,
}

impl Needs {
    /// Runs a command so many times, each in a process of its own; the run of the median wall time.
    ///
    /// # Errors
    /// It cannot be run, or fails.
    pub fn of(command: &Command, times: usize) -> Result<Self> {
        let mut runs = (0..times).map(|_| Self::once(command)).collect::<Result<Vec<_>>>()?;
        runs.sort_by_key(|run| run.wall);
        runs.get(times / 2).copied().context("at least one run")
    }

    fn once(command: &Command) -> Result<Self> {
        let mut measured = Command::new(std::env::current_exe()?);
        measured.args(["bench", "measure", "--"]).arg(command.get_program()).args(command.get_args());
        measured.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = measured.output()?;
        ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let needed: Value = serde_json::from_slice(&output.stdout)?;
        let number = |name: &str| needed[name].as_f64().with_context(|| format!("no {name} in {needed}"));
        Ok(Self {
            wall: Duration::from_secs_f64(number("wall")?),
            cpu: Duration::from_secs_f64(number("cpu")?),
            mib: number("kib")? / 1024.0,
        })
    }
}
