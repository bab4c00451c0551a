//! What a replica has to live with: a limit of memory, a clock that is wrong, a disk for its log that is full.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use jiff::SignedDuration;
use tempfile::TempDir;

/// The library that gives a process another time of day (the package `faketime`).
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
/// Where cgroups are mounted.
const CGROUPS: &str = "/sys/fs/cgroup";

/// The conditions.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// How many bytes of memory it may have: it is killed when it takes more.
    pub memory: Option<u64>,
    /// Every line of its log meets a full disk.
    pub full_log_disk: bool,
    /// Its clock.
    pub clock: Option<Clock>,
}

impl Conditions {
    /// What comes before the program on its command line.
    pub(super) fn prefix(&self) -> Vec<String> {
        let mut prefix = vec![];
        if let Some(Clock(file)) = &self.clock {
            let file = file.path().join(Clock::FILE);
            // Only the time of day: the kernel's timers are not concerned when someone sets a clock.
            let variables = [
                format!("LD_PRELOAD={FAKETIME}"),
                format!("FAKETIME_TIMESTAMP_FILE={}", file.display()),
                "FAKETIME_CACHE_DURATION=1".to_owned(),
                "DONT_FAKE_MONOTONIC=1".to_owned(),
                "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
            ];
            prefix.push("env".to_owned());
            prefix.extend(variables);
        }
        if self.full_log_disk {
            prefix.extend(["sh", "-c", "exec \"$@\" 2>/dev/full", "sh"].map(str::to_owned));
        }
        prefix
    }
}

/// The clock of replicas, which can be set while they run.
#[derive(Debug, Clone)]
pub struct Clock(std::sync::Arc<TempDir>);

impl Clock {
    const FILE: &str = "offset";

    /// One that is right.
    ///
    /// # Errors
    /// The library that moves clocks is not installed.
    pub fn new() -> Result<Self> {
        ensure!(Path::new(FAKETIME).exists(), "no {FAKETIME}: install the package faketime");
        // Replicas run as another user.
        let dir = super::readable_folder("eno-clock-")?;
        let clock = Self(dir.into());
        clock.set(SignedDuration::ZERO)?;
        Ok(clock)
    }

    /// Sets it to so much after the true time. It is seen within a second.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn set(&self, ahead: SignedDuration) -> Result<()> {
        // In one step: half a number would be another time.
        let new = self.0.path().join("new");
        fs::write(&new, format!("{:+}\n", ahead.as_secs()))?;
        fs::rename(new, self.0.path().join(Self::FILE)).context("setting a clock")
    }
}

/// A control group that limits memory, as the kubelet makes for a container; version 1 or 2, as the machine has it.
#[derive(Debug)]
pub(super) struct Cgroup {
    path: PathBuf,
    unified: bool,
}

impl Cgroup {
    /// Makes one with this limit in bytes.
    pub(super) fn new(limit: u64) -> Result<Self> {
        let root = Path::new(CGROUPS);
        let unified = root.join("cgroup.controllers").exists();
        let parent = if unified { root.to_owned() } else { root.join("memory") };
        let path = parent.join(format!("eno-{:08x}", fastrand::u32(..)));
        fs::create_dir(&path).with_context(|| format!("limiting memory by {}", path.display()))?;
        let cgroup = Self { path, unified };
        let file = if unified { "memory.max" } else { "memory.limit_in_bytes" };
        fs::write(cgroup.path.join(file), limit.to_string()).with_context(|| format!("writing {file}"))?;
        Ok(cgroup)
    }

    /// Puts a process into it.
    pub(super) fn add(&self, pid: u32) -> Result<()> {
        fs::write(self.path.join("cgroup.procs"), pid.to_string()).context("limiting the memory of a process")
    }

    /// The most bytes that were used.
    pub(super) fn peak(&self) -> Result<u64> {
        let file = if self.unified { "memory.peak" } else { "memory.max_usage_in_bytes" };
        Ok(fs::read_to_string(self.path.join(file)).with_context(|| format!("reading {file}"))?.trim().parse()?)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The process was killed and reaped before.
        if let Err(error) = fs::remove_dir(&self.path) {
            eprintln!("removing {}: {error}", self.path.display());
        }
    }
}
