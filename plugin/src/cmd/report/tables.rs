//! The tables: what is stuck, all compositions, all slices.

use eno_shared::api::{Composition, Kind, ResourceSlice};
use eno_shared::owner::symphony_owner;
use eno_shared::stuck::Blocker;
use jiff::Timestamp;

use super::contents::Contents;
use super::html::{Since, Text, age, count, grouped, seconds};
use crate::cmd::why::shell::quoted;
use crate::finding::Finding;
use crate::finding::composition::CompositionFinding;
use crate::item::composition::UNKNOWN;

/// Of what is stuck, so many are shown apart. All are in the tables below, and there they come first.
const FIRST: usize = 50;
/// Rows of a table.
const PART: usize = 100;

/// What is stuck, longest first; where nothing is, it says so.
pub(super) fn stuck(contents: &Contents<'_>) -> String {
    let compositions = contents.stuck_compositions().map(|(id, found)| {
        let state = found.state().map_or(UNKNOWN, |state| state.as_str());
        let object = object::<Composition>(found.namespace, found.name, &format!("c{id}"));
        (found.waiting_since, object, Text(state).to_string(), &found.blockers)
    });
    let slices = contents.stuck_slices().map(|(id, found)| {
        let metadata = found.seen.metadata();
        let object = object::<ResourceSlice>(&metadata.namespace, &metadata.name, &format!("s{id}"));
        let verdict = found.judgement.verdict;
        (found.waiting_since, object, format!("<span class=\"{verdict}\">{verdict}</span>"), &found.blockers)
    });
    let mut all: Vec<_> = compositions.chain(slices).collect();
    if all.is_empty() {
        return "<p>Nothing is stuck.</p>\n".to_owned();
    }
    all.sort_by_key(|(since, ..)| *since);
    let rows = all.iter().take(FIRST).map(|(since, object, state, blockers)| {
        let moment = since.map_or_else(String::new, |since| seconds(since).to_string());
        let (since, blockers) = (Since(*since, contents.now), waits(blockers));
        format!("<tr>{object}<td>{state}</td><td>{moment}<br>for {since}</td><td>{blockers}</td></tr>\n")
    });
    let head = ["Object", "Verdict or state", "Waits since", "Waits for"];
    let more = match all.len().saturating_sub(FIRST) {
        0 => String::new(),
        more => format!("<p>And {more} more: they come first in the tables below.</p>\n"),
    };
    tables("stuck-table", "What is stuck, longest first", &head, &rows.collect::<Vec<_>>()) + &more
}

/// Its name, and the command that explains it.
fn object<K: Kind>(namespace: &str, name: &str, id: &str) -> String {
    let why = format!("kubectl eno why {}/{} -n {}", K::SINGULAR, quoted(name), quoted(namespace));
    format!(
        "<th scope=\"row\">{} <a href=\"#{id}\">{}</a> in {}<br><code>{}</code></th>",
        K::SINGULAR,
        Text(name),
        Text(namespace),
        Text(&why)
    )
}

/// All compositions.
pub(super) fn compositions(contents: &Contents<'_>) -> String {
    let all = stuck_first(contents.stuck_compositions().map(|(id, _)| id).collect(), contents.compositions.len());
    let rows: Vec<_> = all.into_iter().map(|id| composition(id, &contents.compositions[id], contents)).collect();
    let head = ["Namespace", "Composition", "State", "Waits for", "Slices", "Symphony", "Age"];
    tables("compositions", &count(contents.compositions.len(), "composition"), &head, &rows)
}

fn composition(id: usize, found: &CompositionFinding<'_>, contents: &Contents<'_>) -> String {
    let CompositionFinding { namespace, name, composition, slices, blockers, .. } = found;
    let metadata = composition.as_ref().ok().map(|composition| &composition.metadata);
    let state = found.state().map_or(UNKNOWN, |state| state.as_str());
    let mark = mark(found.is_stuck(contents.now, contents.patience), found.waiting_since, contents.now);
    let deleting = deleting(metadata.and_then(|metadata| metadata.deletion_timestamp), contents.now);
    let symphony = metadata.and_then(symphony_owner).map_or("", |owner| &owner.name);
    let missing = match found.missing_slices() {
        0 => String::new(),
        missing => format!(", {missing} missing"),
    };
    format!(
        "<tr id=\"c{id}\"{}><td>{}</td><th scope=\"row\">{}</th><td>{}{mark}{deleting}<div>{}</div></td><td>{}</td>\
         <td>{}{missing}</td><td>{}</td><td>{}</td></tr>\n",
        data(!mark.is_empty()),
        Text(namespace),
        Text(name),
        Text(state),
        Text(&found.message()),
        waits(blockers),
        slices.len(),
        Text(symphony),
        age(metadata.and_then(|metadata| metadata.creation_timestamp), contents.now),
    )
}

/// All slices.
pub(super) fn slices(contents: &Contents<'_>) -> String {
    let all = stuck_first(contents.stuck_slices().map(|(id, _)| id).collect(), contents.slices.len());
    let rows: Vec<_> = all.into_iter().map(|id| slice(id, &contents.slices[id], contents)).collect();
    let head = ["Namespace", "Slice", "Composition", "Verdict", "Why", "Waits for", "Age"];
    tables("slices", &count(contents.slices.len(), "slice"), &head, &rows)
}

fn slice(id: usize, found: &Finding<'_>, contents: &Contents<'_>) -> String {
    let (metadata, verdict) = (found.seen.metadata(), found.judgement.verdict);
    let mark = mark(found.is_stuck(contents.now, contents.patience), found.waiting_since, contents.now);
    format!(
        "<tr id=\"s{id}\"{}><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td class=\"{verdict}\">{verdict}{mark}{}</td>\
         <td>{}: {}</td><td>{}</td><td>{}</td></tr>\n",
        data(!mark.is_empty()),
        Text(&metadata.namespace),
        Text(&metadata.name),
        Text(found.owner.as_ref().map_or("", |owner| &owner.name)),
        deleting(metadata.deletion_timestamp, contents.now),
        found.judgement.reason.as_str(),
        Text(&found.message()),
        waits(&found.blockers),
        age(metadata.creation_timestamp, contents.now),
    )
}

fn mark(stuck: bool, since: Option<Timestamp>, now: Timestamp) -> String {
    if stuck { format!("<div><strong>stuck</strong> for {}</div>", Since(since, now)) } else { String::new() }
}

fn deleting(since: Option<Timestamp>, now: Timestamp) -> String {
    since.map_or_else(String::new, |_| format!("<div>in deletion for {}</div>", Since(since, now)))
}

fn data(stuck: bool) -> &'static str {
    if stuck { " data-stuck" } else { "" }
}

/// What it waits for: codes, and the sentences.
fn waits(blockers: &[Blocker]) -> String {
    let each = blockers.iter().map(|blocker| {
        let sentence = blocker.to_string();
        format!("<b>{}</b> {}", Text(blocker.code()), Text(&sentence))
    });
    each.collect::<Vec<_>>().join("<br>")
}

/// Ids, those of what is stuck before the others.
fn stuck_first(stuck: Vec<usize>, all: usize) -> Vec<usize> {
    let mut is_stuck = vec![false; all];
    stuck.iter().for_each(|id| is_stuck[*id] = true);
    stuck.into_iter().chain((0..all).filter(|id| !is_stuck[*id])).collect()
}

/// A table that scrolls by itself where the window is narrow; by keyboard, too. A long one is several, one below the other,
/// so that a browser lays out only those that are in sight.
fn tables(class: &str, caption: &str, head: &[&str], rows: &[String]) -> String {
    let head: String = head.iter().map(|title| format!("<th scope=\"col\">{title}</th>")).collect();
    let table = |caption: &str, rows: &[String]| {
        format!(
            "<div class=\"part\"><table class=\"{class}\"><caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n\
             <tbody>\n{}</tbody></table></div>\n",
            rows.concat()
        )
    };
    let parts: String = match rows.len() {
        0..=PART => table(caption, rows),
        _ => rows
            .chunks(PART)
            .enumerate()
            .map(|(index, rows)| {
                let first = index * PART;
                table(&format!("{caption}: {} to {}", grouped(first + 1), grouped(first + rows.len())), rows)
            })
            .collect(),
    };
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">{parts}</div>\n")
}
