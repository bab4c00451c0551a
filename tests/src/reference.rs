//! `cargo xtask reference`: docs/reference.md, written from the code: flags from the command line's own definition, all else
//! from the sources and their doc comments. A test holds the page against them.

mod flags;
mod metrics;
mod source;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

pub use metrics::{Metric, metrics};
use source::Source;

use crate::workspace;

/// What the Events are called, of which type they are, what they are about, and what has happened. Those of one slice name
/// it, and are about its composition, or about the slice where it has none.
const EVENTS: [(&str, &str, &str, &str); 15] = [
    ("CollectingPaused", "Warning", "Lease", "the brake is on: too many slices became garbage at once"),
    ("FinalizerRestored", "Normal", "Composition", "a slice that is needed got Eno's finalizer back"),
    ("Forced", "Warning", "the object", "someone overrode a denial"),
    ("OutboxFull", "Warning", "Lease", "ends of pods find no room: mend the sinks, or drop what they will not take"),
    ("PodGone", "Normal", "Composition, or the pod", "a pod that was followed is gone; Warning where it may still run"),
    ("PodMoved", "Normal", "Composition, or the pod", "it has left its node"),
    ("PodOverdue", "Warning", "Composition, or the pod", "it should have ended by now, and is still there"),
    ("PodReplaced", "Normal", "Composition, or the pod", "it is gone, and another pod has its name"),
    ("PodSandboxChanged", "Normal", "Composition, or the pod", "it runs in another sandbox"),
    (
        "ResourcesMayBeOrphaned",
        "Warning",
        "Composition",
        "Eno has let it go, and slices that would have proved it do not exist",
    ),
    (
        "ResynthesisAsked",
        "Normal",
        "Composition",
        "a slice that it needs is being deleted; Eno was asked for a new synthesis",
    ),
    ("ResynthesisNeeded", "Warning", "Composition", "the same, and no new synthesis may be asked for"),
    ("SliceCollected", "Normal", "Composition", "a slice that nothing needs was deleted"),
    ("SliceHeld", "Warning", "Composition", "the deletion of a slice is held for longer than `--held-warning`"),
    ("SliceReleased", "Normal", "Composition", "Eno's finalizer was taken off a slice"),
];

/// The annotations of the audit log, each behind the hook's name and a slash.
const AUDIT: [(&str, &str); 6] = [
    ("decision", "`allow`, `deny`, or `retry`: it could not be told"),
    ("reason", "the word of the table above"),
    ("composition", "the composition that it rests on"),
    ("evidence", "`live`: read for this answer; `review`: the request alone; `none`: something could not be read"),
    ("override", "`granted`, `refused` or `unknown`, where one was asked for"),
    ("mode", "`warn` or `audit`, where the answer was not enforced"),
];

/// Where the page is.
pub fn path() -> PathBuf {
    workspace::root().join("docs/reference.md")
}

/// Writes the page.
///
/// # Errors
/// As for [`page`], or it cannot be written.
pub fn write() -> Result<()> {
    let path = path();
    fs::write(&path, page()?).with_context(|| format!("writing {}", path.display()))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The page.
///
/// # Errors
/// A source is not as this reads it: says what was not found.
pub fn page() -> Result<String> {
    let mut page = String::from(
        "# Reference\n\nWritten from the code by `cargo xtask reference`; a test holds it against the code. Do not edit.\n",
    );
    section(&mut page, "Flags of eno-webhook", &flags::all())?;
    metrics::section(&mut page)?;
    words(&mut page)?;
    events(&mut page)?;
    audit(&mut page)?;
    names(&mut page)?;
    exit_codes(&mut page)?;
    Ok(page)
}

fn section(page: &mut String, title: &str, text: &str) -> Result<()> {
    write!(page, "\n## {title}\n{text}")?;
    Ok(())
}

fn words(page: &mut String) -> Result<()> {
    let verdicts = Source::read("shared/src/verdict.rs")?;
    let admission = Source::read("shared/src/admission.rs")?;
    let table = |of: &str, words: Vec<(String, String)>| {
        let rows: Vec<_> = words.into_iter().map(|(word, doc)| vec![code(&word), doc]).collect();
        table(&[of, "meaning"], &rows)
    };
    section(page, "Verdicts", &table("verdict", verdicts.variants("Verdict")?))?;
    section(page, "Reasons", &table("reason", verdicts.variants("Reason")?))?;
    // The first goes on to a reason of the table before.
    let grounds = admission.variants("Ground")?.into_iter().filter(|(word, _)| word != "Slice").collect();
    section(page, "Reasons of answers to requests, besides", &table("reason", grounds))?;
    let blockers = "\nBlockers and dangers, as `kubectl eno` shows them, are in [codes.md](codes.md).\n";
    page.push_str(blockers);
    Ok(())
}

fn events(page: &mut String) -> Result<()> {
    let note = Source::read("webhook/src/controllers/note.rs")?;
    let of_reviews = Source::read("webhook/src/events.rs")?;
    let known = |reason: &str| EVENTS.iter().any(|(known, ..)| *known == reason);
    for reason in note.literals_of_field("reason") {
        ensure!(known(&reason), "note.rs makes an Event {reason}, which the reference does not know");
    }
    let spelled = |reason: &str| note.has_literal(reason) || of_reviews.has_literal(reason);
    let is_ground = |reason: &str| eno_shared::admission::Ground::ResourcesMayBeOrphaned.as_str() == reason;
    for (reason, ..) in EVENTS {
        ensure!(spelled(reason) || is_ground(reason), "no code makes an Event {reason}");
    }
    let rows: Vec<_> = EVENTS
        .iter()
        .map(|(reason, type_, about, meaning)| vec![code(reason), (*type_).into(), (*about).into(), (*meaning).into()])
        .collect();
    let from = eno_shared::names::REPORTING_CONTROLLER;
    let text =
        format!("`reportingController` is `{from}`.\n{}", table(&["reason", "type", "about", "what happened"], &rows));
    section(page, "Events", &text)
}

fn audit(page: &mut String) -> Result<()> {
    let mode = Source::read("webhook/src/mode.rs")?;
    let mut written = mode.first_literals_of_calls("annotate");
    written.sort();
    written.dedup();
    let mut known: Vec<_> = AUDIT.iter().map(|(key, _)| (*key).to_owned()).collect();
    known.sort();
    ensure!(written == known, "mode.rs writes the audit annotations {written:?}, the reference has {known:?}");
    let rows: Vec<_> = AUDIT.iter().map(|(key, meaning)| vec![code(key), (*meaning).into()]).collect();
    section(page, "Annotations of the audit log", &table(&["annotation", "value"], &rows))
}

fn names(page: &mut String) -> Result<()> {
    let names = Source::read("shared/src/names.rs")?.constants();
    // Comments name other constants; the page has their values.
    let spelled =
        |doc: &str| names.iter().fold(doc.to_owned(), |doc, (name, value, _)| doc.replace(&code(name), &code(value)));
    let rows: Vec<_> = names.iter().map(|(_, value, doc)| vec![code(value), spelled(doc)]).collect();
    ensure!(rows.len() > 20, "names.rs has only {} names", rows.len());
    section(page, "Names: annotations, labels, finalizers, objects", &table(&["name", "what it is"], &rows))
}

fn exit_codes(page: &mut String) -> Result<()> {
    let codes = Source::read("plugin/src/failure.rs")?.constants();
    let mut rows = vec![vec!["0".to_owned(), "Done.".to_owned()]];
    rows.extend(codes.into_iter().map(|(_, value, doc)| vec![value, doc.replacen("Exit code of ", "Of ", 1)]));
    ensure!(rows.len() > 5, "failure.rs has only {} exit codes", rows.len() - 1);
    let text = format!(
        "{}\n`eno-webhook` ends with 0 after a signal, and with 1 after an error or a second signal.\n",
        table(&["code", "of"], &rows)
    );
    section(page, "Exit codes of kubectl eno", &text)
}

/// A table in Markdown.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<_> = head.iter().map(|&title| title.to_owned()).collect();
    let rule: Vec<_> = head.iter().map(|_| "---".to_owned()).collect();
    let escaped = |row: &Vec<String>| row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
    let rows: String = rows.iter().map(|row| line(&escaped(row))).collect();
    format!("\n{}|{}|\n{rows}", line(&head), rule.join("|"))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}
