//! Logs on standard error, as text or JSON.

use anyhow::{Result, anyhow};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts logging. `RUST_LOG` wins over the verbosity, which counts as Kubernetes does: 2 shows every answer, 4 the reads,
/// 6 and more all there is.
///
/// # Errors
/// `RUST_LOG` does not parse, or logging was started before.
pub fn start(format: LogFormat, verbosity: u8) -> Result<()> {
    let ours = match verbosity {
        0 | 1 => "info,kube_client=warn",
        2 | 3 => "info,eno_webhook=debug",
        4 | 5 => "debug",
        _ => "trace",
    };
    let filter = match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.is_empty() => EnvFilter::builder()
            .with_default_directive(LevelFilter::INFO.into())
            .parse(&directives)
            .map_err(|error| anyhow!("RUST_LOG={directives:?}: {error}"))?,
        Ok(_) | Err(_) => EnvFilter::new(ours),
    };
    // A line that cannot be written, to a full disk say, is lost. By default that is told by another line on standard error,
    // which panics: then each answer would end in one.
    let lines =
        tracing_subscriber::fmt().log_internal_errors(false).with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow!("cannot start logging: {error}"))
}
