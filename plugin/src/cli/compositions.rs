//! `kubectl eno compositions`.

use std::time::Duration;

use clap::Args;
use eno_shared::CompositionState;

use super::{ListWatchFlags, OutputFlags, SourceFlags};
use crate::duration;

/// `kubectl eno compositions`.
#[derive(Debug, Args)]
pub struct CompositionsFlags {
    /// Names of compositions; all, where none is given
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Label selector, such as app=web
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Field selector: metadata.name or metadata.namespace
    #[arg(long, value_name = "SELECTOR")]
    pub field_selector: Option<String>,
    /// Only these states
    #[arg(long = "state", value_name = "STATE,…", value_delimiter = ',', value_parser = state)]
    pub states: Vec<&'static str>,
    /// Only compositions that are being deleted
    #[arg(long)]
    pub deleting: bool,
    /// Only compositions that are stuck: something blocks them, for longer than --stuck-after
    #[arg(long)]
    pub stuck: bool,
    /// Only compositions that are older than this, such as 90s, 5m or 7d
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub older_than: Option<Duration>,
    /// Sort by a column, or by a jsonpath of the items
    #[arg(long, value_name = "COLUMN|JSONPATH")]
    pub sort_by: Option<String>,
    /// Watch?
    #[command(flatten)]
    pub watch: ListWatchFlags,
    /// Where to read from
    #[command(flatten)]
    pub source: SourceFlags,
    /// How to print
    #[command(flatten)]
    pub output: OutputFlags,
}

fn state(text: &str) -> Result<&'static str, String> {
    let mut words = CompositionState::ALL.map(CompositionState::as_str).to_vec();
    words.push(crate::item::composition::UNKNOWN);
    let named = words.iter().find(|word| word.eq_ignore_ascii_case(text)).copied();
    named.ok_or_else(|| format!("expected one of {}", words.join(", ").to_lowercase()))
}
