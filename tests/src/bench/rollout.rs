//! How many calls fail while the certificate's authority changes and both replicas are replaced: none must.

use std::fs;

use anyhow::{Result, ensure};

use super::cleanup::Table;
use crate::rollout::{Outcome, Rollout};
use crate::workspace;

/// Arguments of `cargo xtask bench rollout`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// How many calls, at least
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    calls: usize,
    /// How many in a second
    #[arg(long, value_name = "N", default_value_t = 200)]
    rate: u32,
}

impl Arguments {
    /// Measures, prints a table, and keeps it in docs/.
    ///
    /// # Errors
    /// The control plane or a replica does not start, or a call failed.
    pub async fn run(&self) -> Result<()> {
        let outcome = Rollout { calls: self.calls, rate: self.rate }.run().await?;
        let Outcome { times, calls, failed, counted, ended, took } = &outcome;
        let mut table = Table::default();
        let failures: usize = failed.values().sum();
        table.row("calls that failed, or that nobody was asked about", &format!("{failures} of {calls}"), "0");
        table.row("calls of our hooks that the API server counts as failed", &counted.failed.to_string(), "0");
        table.row("requests that it let pass for that", &counted.open.to_string(), "0");
        table.row(
            "calls of our hooks that it counts as answered",
            &counted.answered.to_string(),
            &format!("≥ {calls}"),
        );
        table.row("calls in a second", &format!("{:.0}", *calls as f64 / took.as_secs_f64()), &self.rate.to_string());
        table.row("time of a call", &times.to_string(), "");
        let ended: Vec<_> = ended.iter().map(|took| format!("{:.1} s", took.as_secs_f64())).collect();
        table.row("from SIGTERM to the end of each replica", &ended.join(", "), "10 s of delay, and ≤ 6 s of drain");
        println!("{}", table.text);
        let head = "# Figures of a rollout\n\n`cargo xtask bench rollout`: two replicas of the Deployment behind their Service, \
            with the flags, the user and the rights of its manifests, as processes on one machine of two cores, which the \
            control plane shares. Under the load the Secret of the certificate is deleted, so that another authority comes \
            and signs; and both replicas are replaced, one after the other. Each call is the deletion of a slice that is \
            needed, which the webhook must deny.\n\n";
        fs::write(workspace::root().join("docs/figures-rollout.md"), head.to_owned() + &table.text)?;
        ensure!(failed.is_empty() && counted.failed + counted.open == 0, "{failures} calls failed: {failed:#?}");
        ensure!(counted.answered >= *calls as u64, "the API server counts {} answered calls", counted.answered);
        Ok(())
    }
}
