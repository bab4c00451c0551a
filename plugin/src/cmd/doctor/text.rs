//! The checks as people read them.

use anstyle::AnsiColor;

use super::check::{Check, Outcome};
use crate::cli::DoctorFlags;
use crate::output;
use crate::output::table::sanitized;

pub(super) fn render(checks: &[Check], flags: &DoctorFlags) -> Vec<String> {
    let ascii = flags.ascii || !output::speaks_unicode();
    let mut lines = lines(checks, ascii, output::colored(flags.output.color));
    lines.push(summary(checks));
    lines
}

/// The same without the summary.
pub(super) fn lines(checks: &[Check], ascii: bool, colored: bool) -> Vec<String> {
    let mut lines = vec![];
    let mut section = "";
    for check in checks {
        if check.section != section {
            section = check.section;
            lines.push(section.to_owned());
        }
        let mark = mark(check.outcome, ascii);
        let mark = match color(check.outcome) {
            color if colored => format!("{}{mark}{:#}", color.on_default(), color.on_default()),
            _ => mark.to_owned(),
        };
        // What was not looked at says nothing of what it is about.
        let about = if check.outcome == Outcome::Skipped { format!("{}: ", check.id.as_str()) } else { String::new() };
        lines.push(format!("{mark} {about}{}", sanitized(&check.message)));
        lines.extend(check.details.iter().map(|detail| format!("    {}", sanitized(detail))));
        if matches!(check.outcome, Outcome::Failed | Outcome::Warning) {
            lines.push(format!("    see: kubectl eno doctor --explain {}", check.id.as_str()));
        }
    }
    lines
}

fn summary(checks: &[Check]) -> String {
    let count = |outcome| checks.iter().filter(|check| check.outcome == outcome).count();
    let (failed, warnings, skipped) = (count(Outcome::Failed), count(Outcome::Warning), count(Outcome::Skipped));
    let plural = if warnings == 1 { "" } else { "s" };
    format!("{failed} failed, {warnings} warning{plural}, {skipped} skipped, {} passed", count(Outcome::Passed))
}

fn mark(outcome: Outcome, ascii: bool) -> &'static str {
    match (outcome, ascii) {
        (Outcome::Passed, false) => "√",
        (Outcome::Passed, true) => "ok",
        (Outcome::Warning, false) => "‼",
        (Outcome::Warning, true) => "!!",
        (Outcome::Failed, false) => "×",
        (Outcome::Failed, true) => "XX",
        (Outcome::Skipped, false) => "-",
        (Outcome::Skipped, true) => "--",
    }
}

fn color(outcome: Outcome) -> AnsiColor {
    match outcome {
        Outcome::Passed => AnsiColor::Green,
        Outcome::Warning => AnsiColor::Yellow,
        Outcome::Failed => AnsiColor::Red,
        Outcome::Skipped => AnsiColor::BrightBlack,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meaning_is_never_by_colour_alone() {
        let outcomes = [Outcome::Passed, Outcome::Warning, Outcome::Failed, Outcome::Skipped];
        for ascii in [true, false] {
            let marks: std::collections::BTreeSet<&str> =
                outcomes.iter().map(|outcome| mark(*outcome, ascii)).collect();
            assert_eq!(marks.len(), outcomes.len());
        }
        assert!(outcomes.iter().all(|outcome| mark(*outcome, true).is_ascii()));
    }
}
