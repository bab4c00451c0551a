//! The answer to one press of Tab.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use super::line::{Last, Line};
use super::names;
use super::values::{self, Values};
use crate::cli;
use crate::output::table::sanitized;

/// No space goes after the word: it is not at its end.
const NO_SPACE: u8 = 2;
/// Files are no candidates.
const NO_FILES: u8 = 4;

/// Prints the answer. Nothing is an error: whoever presses Tab has not asked anything.
pub fn answer(words: &[OsString]) -> ExitCode {
    let mut words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match words.last_mut() {
        None => words.push(String::new()),
        // Older PowerShells drop an empty word, unless it is written so.
        Some(last) if last == "\"\"" => last.clear(),
        Some(_) => {}
    }
    // Whoever does not wait for the answer does not need it.
    let _ = std::io::stdout().write_all(lines(&words).as_bytes());
    ExitCode::SUCCESS
}

fn lines(words: &[String]) -> String {
    let mut command = cli::command(None);
    command.build();
    let line = Line::parse(&command, words);
    let begun = match line.last {
        Last::Value(_, text) | Last::Flag(text) | Last::Command(text) | Last::Operand(text) => text,
    };
    let named = |of, after: &str| -> Vec<(String, String)> {
        let said = words.split_last().map_or(&[][..], |(_, said)| said);
        let names = names::of(of, &cli::command(None), said).into_iter();
        let new = names.filter(|name| !line.operands.contains(&name.as_str()));
        new.map(|name| (format!("{after}{name}"), String::new())).collect()
    };
    let mut candidates: Vec<(String, String)> = match values::of(&line) {
        Values::Files => return ":0\n".to_owned(),
        Values::Anything => vec![],
        Values::Words(words) => words,
        Values::Names { of, after } => named(of, &after),
        Values::CommandsOrNames(mut commands, of) => {
            commands.extend(named(of, ""));
            commands
        }
    };
    candidates.retain(|(word, _)| word.starts_with(begun));
    let goes_on = !candidates.is_empty() && candidates.iter().all(|(word, _)| word.ends_with(['/', '=']));
    let mut lines = String::new();
    for (word, about) in candidates {
        lines += &sanitized(&word);
        if !about.is_empty() {
            lines += "\t";
            lines += &sanitized(&about);
        }
        lines += "\n";
    }
    lines + &format!(":{}\n", if goes_on { NO_FILES | NO_SPACE } else { NO_FILES })
}
