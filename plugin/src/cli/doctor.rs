//! `kubectl eno doctor`.

use std::time::Duration;

use clap::Args;

use super::OutputFlags;
use crate::duration;

/// `kubectl eno doctor`.
#[derive(Debug, Args)]
pub struct DoctorFlags {
    /// Say what a check looks at and what to do where it fails, and check nothing
    #[arg(long, value_name = "ID")]
    pub explain: Option<String>,
    /// Check again until nothing fails, for so long, such as 2m
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub wait: Option<Duration>,
    /// A certificate that ends within this time is a warning
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = duration::parse)]
    pub cert_warn: Duration,
    /// ASCII marks
    #[arg(long)]
    pub ascii: bool,
    /// How many requests run at once
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: u16,
    /// How to print
    #[command(flatten)]
    pub output: OutputFlags,
}
