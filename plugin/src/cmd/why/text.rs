//! An explanation as people read it.

use super::explanation::{Explanation, Fact, Says};
use super::facts::counted;
use crate::age::age;
use crate::cli::WhyFlags;
use crate::downstream::{NOT_LOOKED_AT, Presence};
use crate::item::composition::{self, CompositionItem};
use crate::item::{COLUMNS, Item};
use crate::output::painter;
use crate::output::table::{Table, sanitized};

/// Lines longer than this are broken, where they can be; in a narrower terminal, those longer than that is wide.
const WIDTH: usize = 80;
/// No terminal is taken to be narrower.
const NARROWEST: usize = 30;
/// How many resources are shown, unless all are asked for.
const FEW: usize = 3;

pub(super) fn render(explanation: &Explanation, flags: &WhyFlags) -> Vec<String> {
    let paint = painter(flags.output.color);
    let word = explanation.word().to_uppercase();
    let mut lines = heading(explanation, &paint(&word));
    section(
        &mut lines,
        "Because",
        explanation.because.iter().enumerate().flat_map(|(index, fact)| numbered(index, fact)),
    );
    lines.push(String::new());
    lines.extend(wrapped(&format!("So {word}: {}", explanation.message), ""));
    match &explanation.says {
        Says::Slice { .. } | Says::Pod { .. } => {}
        Says::Symphony { compositions, .. } | Says::Namespace { compositions, .. } => {
            section(&mut lines, "Compositions", composition_table(compositions, explanation, &paint));
        }
        Says::Composition { slices, deletion_steps, syntheses, .. } => {
            let rows = syntheses.iter().map(|synthesis| {
                let reconciled =
                    synthesis.reconciled.map_or("<none>".to_owned(), |at| age(Some(at), explanation.now) + " ago");
                vec![synthesis.name.to_owned(), synthesis.uuid.clone(), reconciled, listed(&synthesis.slices)]
            });
            let table = Table::new(&["SYNTHESIS", "UUID", "RECONCILED", "SLICES"], rows.collect());
            section(&mut lines, "Syntheses", table.lines(true, "  ", |_, cell| cell.to_owned()));
            section(&mut lines, "Slices", slice_table(slices, explanation, &paint));
            let steps =
                deletion_steps.iter().map(|step| format!("  [{}] {}", if step.done { "x" } else { " " }, step.step));
            section(&mut lines, "Deletion, in Eno's order", steps);
        }
    }
    let blockers = explanation.blockers.iter().map(|blocker| vec![blocker.code.to_owned(), blocker.message.clone()]);
    let blocked = if explanation.stuck { "Stuck on" } else { "Waits for" };
    section(
        &mut lines,
        blocked,
        blockers.flat_map(|row| {
            let mut text = wrapped(&row[1], "      ");
            text.insert(0, format!("  {}", row[0]));
            text
        }),
    );
    orphans(&mut lines, explanation, flags.show_all, !flags.source.filenames.is_empty());
    section(
        &mut lines,
        "Next",
        explanation.next.iter().flat_map(|step| {
            let mut lines = wrapped(&step.what, "    ");
            lines[0].replace_range(..4, "  - ");
            lines.extend(step.command.iter().map(|command| format!("      {}", sanitized(command))));
            lines
        }),
    );
    lines
}

fn heading(explanation: &Explanation, word: &str) -> Vec<String> {
    let since = |since| age(Some(since), explanation.now);
    let reason = match &explanation.says {
        Says::Slice { reason, .. } => format!("   {reason}"),
        Says::Pod { cause: Some(cause), .. } => format!("   {cause}"),
        Says::Composition { .. } | Says::Symphony { .. } | Says::Namespace { .. } | Says::Pod { .. } => String::new(),
    };
    let time = match (explanation.deletion_timestamp, explanation.creation_timestamp) {
        (Some(deleted), _) => format!("   {} in deletion", since(deleted)),
        (None, Some(created)) => format!("   {} old", since(created)),
        (None, None) => String::new(),
    };
    let stuck = if explanation.stuck { "   STUCK" } else { "" };
    let object = match explanation.namespace.as_str() {
        "" => explanation.resource_name(),
        namespace => format!("{} in {namespace}", explanation.resource_name()),
    };
    vec![sanitized(&object), format!("{word}{reason}{time}{stuck}")]
}

fn numbered(index: usize, Fact { fact, source }: &Fact) -> Vec<String> {
    let (fact, source) = (sanitized(fact), format!("({})", sanitized(source)));
    let number = format!("{:>3}. ", index + 1);
    if number.len() + fact.chars().count() + 1 + source.chars().count() <= width() {
        return vec![format!("{number}{fact} {source}")];
    }
    let mut lines = wrapped(&fact, "     ");
    lines[0].replace_range(..number.len(), &number);
    lines.push(format!("     {source}"));
    lines
}

fn slice_table(slices: &[Item], explanation: &Explanation, paint: &impl Fn(&str) -> String) -> Vec<String> {
    let shown = ["NAME", "VERDICT", "REASON", "RESOURCES", "AGE"];
    let columns: Vec<_> =
        shown.iter().filter_map(|header| COLUMNS.iter().find(|column| column.header == *header)).collect();
    let rows = slices.iter().map(|item| columns.iter().map(|column| column.cell(item, explanation.now)).collect());
    Table::new(&shown, rows.collect())
        .lines(true, "  ", |header, cell| if header == "VERDICT" { paint(cell) } else { cell.to_owned() })
}

fn composition_table(
    compositions: &[CompositionItem],
    explanation: &Explanation,
    paint: &impl Fn(&str) -> String,
) -> Vec<String> {
    let shown = ["NAME", "STATE", "BLOCKED-BY", "SLICES", "RESOURCES", "AGE"];
    let columns: Vec<_> =
        shown.iter().filter_map(|header| composition::COLUMNS.iter().find(|column| column.header == *header)).collect();
    let rows =
        compositions.iter().map(|item| columns.iter().map(|column| column.cell(item, explanation.now)).collect());
    Table::new(&shown, rows.collect()).lines(
        true,
        "  ",
        |header, cell| if header == "STATE" { paint(cell) } else { cell.to_owned() },
    )
}

fn orphans(lines: &mut Vec<String>, explanation: &Explanation, show_all: bool, offline: bool) {
    let all = &explanation.orphans;
    if all.is_empty() {
        return;
    }
    let few = if show_all { all.len() } else { FEW };
    let mut shown: Vec<String> =
        all.iter().take(few).map(|resource| format!("  {}", sanitized(&resource.to_string()))).collect();
    if all.len() > few {
        shown.push(format!("  … {} more (--show-all)", all.len() - few));
    }
    if !offline && all.iter().all(|resource| resource.presence == Presence::NotLookedAt) {
        shown.push(format!("  {NOT_LOOKED_AT}"));
    }
    let title = match &explanation.says {
        // Eno makes the next synthesis without it: what that still holds stays in its care.
        Says::Slice { reason: "ReferencedByCurrent", .. } => {
            "If you force it, what the next synthesis lacks is orphaned"
        }
        Says::Slice { .. }
        | Says::Composition { .. }
        | Says::Symphony { .. }
        | Says::Namespace { .. }
        | Says::Pod { .. } => "Would be orphaned if you force it",
    };
    section(lines, &format!("{title}: {}", counted(all.len())), shown);
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "<none>".to_owned(),
        [a, b, c, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c}, … {} more", rest.len()),
        few => few.join(", "),
    }
}

pub(in crate::cmd) fn section(lines: &mut Vec<String>, title: &str, body: impl IntoIterator<Item = String>) {
    let mut body = body.into_iter().peekable();
    if body.peek().is_some() {
        lines.extend([String::new(), title.to_owned()]);
        lines.extend(body);
    }
}

/// Breaks at spaces. A word that is longer stays whole.
pub(in crate::cmd) fn wrapped(text: &str, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in sanitized(text).split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width() => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(format!("{indent}{word}")),
        }
    }
    lines
}

/// How wide a line may be. A pipe gets the same text whatever terminal it leads to.
fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    terminal.map_or(WIDTH, |(terminal_size::Width(columns), _)| usize::from(columns).clamp(NARROWEST, WIDTH))
}
