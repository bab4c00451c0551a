//! `kubectl eno version`.

use clap::{Args, ValueEnum};

/// `kubectl eno version`.
#[derive(Debug, Args)]
pub struct VersionFlags {
    /// Only that of the plugin: no server is asked
    #[arg(long)]
    pub client: bool,
    /// json or yaml; text, unless given
    #[arg(short = 'o', long = "output", value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub form: Option<VersionForm>,
}

/// How versions are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VersionForm {
    /// Indented JSON
    Json,
    /// YAML
    Yaml,
}
