//! The totals on top, and what the verdicts mean.

use std::collections::BTreeMap;

use eno_shared::Verdict;

use super::contents::Contents;
use super::html::{Text, count, duration, grouped};
use crate::item::composition::UNKNOWN;

/// The sentence that most readers look for.
pub(super) fn headline(contents: &Contents<'_>) -> String {
    let slices = contents.stuck_slices().count();
    let compositions = contents.stuck_compositions().count();
    let since = |since| contents.now.duration_since(since);
    let longest = contents
        .stuck_slices()
        .filter_map(|(_, slice)| slice.waiting_since)
        .chain(contents.stuck_compositions().filter_map(|(_, composition)| composition.waiting_since))
        .map(since)
        .max();
    let unknown = contents.slices.iter().filter(|slice| slice.judgement.verdict == Verdict::Unknown).count();
    let stuck = match (longest, slices, compositions) {
        (None, _, _) => "Nothing is stuck.".to_owned(),
        (Some(longest), 0, some) => format!("{} stuck, for up to {}.", are(some, "composition"), duration(longest)),
        (Some(longest), some, 0) => format!("{} stuck, for up to {}.", are(some, "slice"), duration(longest)),
        (Some(longest), slices, compositions) => format!(
            "{} and {} stuck, for up to {}.",
            count(slices, "slice"),
            are(compositions, "composition"),
            duration(longest)
        ),
    };
    match unknown {
        0 => stuck,
        unknown => format!("{stuck} Of {} nobody can tell: something could not be read.", count(unknown, "slice")),
    }
}

fn are(number: usize, one: &str) -> String {
    format!("{} {}", count(number, one), if number == 1 { "is" } else { "are" })
}

/// How many slices have which verdict, how many compositions are in which state.
pub(super) fn of(contents: &Contents<'_>) -> String {
    let verdicts: String = Verdict::ALL
        .into_iter()
        .map(|verdict| {
            let number = contents.slices.iter().filter(|slice| slice.judgement.verdict == verdict).count();
            let meaning = meaning(verdict);
            let letter = &verdict.as_str()[..1];
            format!(
                "<tr><th scope=\"row\"><span class=\"{verdict}\">{verdict}</span></th><td>{letter}</td>\
                 <td class=\"number\">{}</td><td>{meaning}</td></tr>\n",
                grouped(number)
            )
        })
        .collect();
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for composition in &contents.compositions {
        *states.entry(composition.state().map_or(UNKNOWN, |state| state.as_str())).or_default() += 1;
    }
    let states: Vec<String> =
        states.into_iter().map(|(state, number)| format!("{} {state}", grouped(number))).collect();
    let compositions = match states.is_empty() {
        true => String::new(),
        false => format!(": {}", states.join(", ")),
    };
    format!(
        "<p>{}, {}{}.</p>\n<table class=\"verdicts\"><caption>{}</caption>\n<thead><tr><th scope=\"col\">Verdict</th>\
         <th scope=\"col\">Letter</th><th scope=\"col\">Slices</th><th scope=\"col\">Meaning</th></tr></thead>\n\
         <tbody>\n{verdicts}</tbody></table>\n",
        symphonies(contents.symphonies.len()),
        count(contents.compositions.len(), "composition"),
        Text(&compositions),
        count(contents.slices.len(), "slice"),
    )
}

fn symphonies(number: usize) -> String {
    if number == 1 { "1 symphony".to_owned() } else { format!("{} symphonies", grouped(number)) }
}

fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Keep => "it is needed, or nothing says that it is not",
        Verdict::Collect => "nothing needs it: it may be deleted",
        Verdict::Wait => "it is too new to tell",
        Verdict::Hold => "it is being deleted, and Eno&#39;s finalizer must stay",
        Verdict::Release => "it is being deleted, and Eno&#39;s finalizer may come off",
        Verdict::Unknown => "something could not be read; nothing is done",
    }
}
