//! What can stand where: words that are known, names to be asked for, or files.

use clap::{Arg, ArgAction, Command, ValueHint};
use eno_shared::{CompositionState, Verdict};

use super::line::{Last, Line};
use super::names::Named;
use crate::cmd::why::target::{Kind, Target};
use crate::output::FORMATS;

/// What can stand at the end of the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// One of these, each with a description.
    Words(Vec<(String, String)>),
    /// A name, after what has been typed before it.
    Names {
        /// Of what.
        of: Named,
        /// What stands before it in the word.
        after: String,
    },
    /// One of these commands, or a name.
    CommandsOrNames(Vec<(String, String)>, Named),
    /// A file or a folder.
    Files,
    /// Nobody can say.
    Anything,
}

/// What can be said at the end of the line.
pub(super) fn of(line: &Line<'_>) -> Values {
    match line.last {
        Last::Command(_) if line.command.get_name() == "pods" => {
            Values::CommandsOrNames(commands(line.command), Named::Followed { going: false })
        }
        Last::Command(_) => Values::Words(commands(line.command)),
        Last::Flag(_) => Values::Words(flags(line)),
        Last::Value(flag, text) => value(flag, text),
        Last::Operand(text) => operand(line, text),
    }
}

fn commands(command: &Command) -> Vec<(String, String)> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| (command.get_name().to_owned(), first_line(command.get_about()))).collect()
}

fn flags(line: &Line<'_>) -> Vec<(String, String)> {
    // Those of kubectl are hidden from the help, for their number; those that are hidden for other reasons are not told.
    let told = |flag: &&Arg| flag.is_global_set() || !flag.is_hide_set();
    let flags = line.command.get_arguments().filter(told).filter(|flag| !line.has(flag));
    flags.filter_map(|flag| Some((format!("--{}", flag.get_long()?), first_line(flag.get_help())))).collect()
}

fn value(flag: &Arg, text: &str) -> Values {
    let words = |words: &mut dyn Iterator<Item = &str>| {
        let before = text.rfind(',').filter(|_| flag.get_value_delimiter() == Some(',')).map_or(0, |comma| comma + 1);
        Values::Words(words.map(|word| (format!("{}{word}", &text[..before]), String::new())).collect())
    };
    let names = |of| Values::Names { of, after: String::new() };
    match flag.get_id().as_str() {
        "namespace" => return names(Named::Kind(Kind::Namespace)),
        "composition" => return names(Named::Kind(Kind::Composition)),
        "context" | "target_context" => return names(Named::Context),
        "cluster" => return names(Named::Cluster),
        "user" => return names(Named::User),
        "format" => return words(&mut FORMATS.into_iter()),
        "verdicts" => {
            return words(&mut Verdict::ALL.map(|verdict| verdict.as_str().to_lowercase()).iter().map(String::as_str));
        }
        "states" => return words(&mut CompositionState::ALL.into_iter().map(CompositionState::as_str)),
        _ => {}
    }
    let known = flag.get_possible_values();
    if !known.is_empty() {
        return words(&mut known.iter().map(clap::builder::PossibleValue::get_name));
    }
    match flag.get_value_hint() {
        ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => Values::Files,
        _ => Values::Anything,
    }
}

fn operand(line: &Line<'_>, text: &str) -> Values {
    let operands: Vec<&Arg> = line.command.get_positionals().collect();
    let repeated = operands.last().filter(|operand| matches!(operand.get_action(), ArgAction::Append));
    let Some(operand) = operands.get(line.operands.len()).or(repeated) else { return Values::Anything };
    let named = |of| Values::Names { of, after: String::new() };
    let names = |of| named(Named::Kind(of));
    match (line.command.get_name(), operand.get_id().as_str()) {
        ("slices", "names") => names(Kind::Slice),
        ("compositions", "names") | ("resynth", "composition") => names(Kind::Composition),
        ("pods", "names") => named(Named::Followed { going: false }),
        ("release", "pod") => named(Named::Followed { going: true }),
        ("redeliver" | "drop", "ids") => named(Named::Undelivered),
        (command, "object" | "objects") => object(command, &line.operands, text),
        _ => value(operand, text),
    }
}

/// `TYPE/NAME`, or `TYPE` and `NAME`.
fn object(command: &str, said: &[&str], text: &str) -> Values {
    let kind = |word: &str| Target::parse(&[word.to_owned(), "x".to_owned()]).ok().map(|target| target.kind);
    if let Some((word, _)) = text.split_once('/') {
        return kind(word)
            .map_or(Values::Anything, |of| Values::Names { of: Named::Kind(of), after: format!("{word}/") });
    }
    // A command that takes several knows no names without their types.
    let takes_one = command != "release";
    match said {
        [word] if takes_one && !word.contains('/') => {
            kind(word).map_or(Values::Anything, |of| Values::Names { of: Named::Kind(of), after: String::new() })
        }
        [_, ..] if takes_one => Values::Anything,
        _ => {
            Values::Words(kinds(command).iter().map(|kind| (format!("{}/", kind.singular()), String::new())).collect())
        }
    }
}

/// What the command can be asked about.
fn kinds(command: &str) -> &'static [Kind] {
    match command {
        "why" => &[Kind::Composition, Kind::Slice, Kind::Symphony, Kind::Namespace, Kind::Pod],
        "plan-delete" => &[Kind::Composition, Kind::Symphony, Kind::Namespace, Kind::Slice],
        "tree" => &[Kind::Composition, Kind::Symphony],
        _ => &[Kind::Composition, Kind::Slice],
    }
}

fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}
