//! All figures, one after the other: a run must not disturb another.

use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The benchmarks, each with a control plane of its own.
const ALL: [&str; 7] = ["webhook", "cleanup", "pods", "rollout", "plugin", "top", "report"];

/// Runs all of them.
///
/// # Errors
/// The first that fails.
pub fn run() -> Result<()> {
    let xtask = std::env::current_exe()?;
    for bench in ALL {
        eprintln!("== bench {bench}");
        let status = Command::new(&xtask).args(["bench", bench]).status().context("running a benchmark")?;
        ensure!(status.success(), "bench {bench} ended with {status}");
    }
    Ok(())
}
