//! How to print.

use clap::{Args, ValueEnum};

/// How to print.
#[derive(Debug, Args)]
pub struct OutputFlags {
    /// wide, json, yaml, name, jsonpath=TEMPLATE, jsonpath-file=FILE, custom-columns=SPEC or custom-columns-file=FILE; a
    /// table, unless given
    #[arg(short = 'o', long = "output", value_name = "FORMAT")]
    pub format: Option<String>,
    /// No headers above tables
    #[arg(long)]
    pub no_headers: bool,
    /// Colour verdicts and states
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// When verdicts are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR or TERM=dumb say otherwise
    Auto,
    /// Also in pipes and files
    Always,
    /// Not at all
    Never,
}
