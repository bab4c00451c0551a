//! The flags, from clap's own account of the command line.

use clap::{Arg, Command, CommandFactory};
use eno_webhook::Args;

use super::{code, table};

/// A table for each heading, and one for each subcommand.
pub fn all() -> String {
    let mut command = Args::command();
    // Adds --help and --version.
    command.build();
    let mut text = of(&command);
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        text += &format!("\n### eno-webhook {}\n{about}\n{}", subcommand.get_name(), of(subcommand));
    }
    text
}

fn of(command: &Command) -> String {
    let mut headings: Vec<Option<&str>> = vec![];
    for arg in command.get_arguments() {
        let heading = arg.get_help_heading();
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    let mut text = String::new();
    for heading in headings {
        let args = command.get_arguments().filter(|arg| arg.get_help_heading() == heading && !arg.is_hide_set());
        let rows: Vec<_> = args.filter_map(row).collect();
        if let Some(heading) = heading.filter(|_| !rows.is_empty()) {
            text += &format!("\n{heading}:\n");
        }
        text += &table(&["flag", "default", "what"], &rows);
    }
    text
}

fn row(arg: &Arg) -> Option<Vec<String>> {
    let long = arg.get_long().filter(|long| !["help", "version"].contains(long))?;
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let takes = arg.get_action().takes_values();
    let value = match arg.get_value_names() {
        Some([name, ..]) if takes => format!("={name}"),
        _ => String::new(),
    };
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let default = match defaults.join(",") {
        default if default.is_empty() || !takes => String::new(),
        default => code(&default),
    };
    let choices: Vec<_> = match takes {
        true => arg.get_possible_values().iter().map(|value| code(value.get_name())).collect(),
        false => vec![],
    };
    let mut what = arg.get_help().map(ToString::to_string).unwrap_or_default();
    // Those of a BOOL say themselves.
    if !choices.is_empty() && choices != ["`true`", "`false`"] {
        what += &format!(": {}", choices.join(", "));
    }
    Some(vec![code(&format!("{short}--{long}{value}")), default, what])
}
