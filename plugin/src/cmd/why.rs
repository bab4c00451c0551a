//! `kubectl eno why`: the facts, the verdict, what would be lost by force, and what to do next.

mod composition;
mod explanation;
mod facts;
mod namespace;
mod next;
mod pod;
mod reading;
pub(super) mod shell;
mod slice;
mod symphony;
pub(super) mod target;
pub(super) mod text;
mod watched;

use std::process::ExitCode;

use jiff::SignedDuration;

use crate::cli::{Cli, SourceFlags, WhyFlags};
use crate::downstream::Downstream;
use crate::failure::{CANNOT_TELL, Failure};
use crate::output::table::sanitized;
use crate::output::{self, Format, Objects};
use crate::query::Query;
use crate::snapshot::Snapshot;
use crate::source::Source;
use explanation::Explanation;
use next::Advice;
use reading::Reading;
use shell::quoted;
use target::{Kind, Target};

/// Runs the command.
///
/// # Errors
/// Where the object does not exist, or cannot be read.
pub(super) async fn run(flags: &WhyFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    let target = Target::parse(&flags.object)?;
    if flags.watch.watch {
        return watched::run(flags, cli, format, target).await;
    }
    let (source, namespace) = super::source(&flags.source, cli)?;
    let downstream = Downstream::open(&flags.downstream, cli, &source)?;
    let mut explanation = explain(&target, namespace, &source, flags).await?;
    let orphans = std::mem::take(&mut explanation.orphans).into_iter().map(|resource| resource.of).collect();
    explanation.orphans = downstream.look(orphans).await;
    print(&format, &explanation, flags)?;
    Ok(if explanation.cannot_tell() { ExitCode::from(CANNOT_TELL) } else { ExitCode::SUCCESS })
}

async fn explain(
    target: &Target,
    namespace: Option<String>,
    source: &Source,
    flags: &WhyFlags,
) -> Result<Explanation, Failure> {
    let reading = Reading { source, flags, name: &target.name, kind: target.kind };
    match target.kind {
        Kind::Slice | Kind::Composition => reading.object(namespace).await,
        Kind::Symphony => reading.symphony(namespace).await,
        Kind::Namespace => reading.namespace().await,
        Kind::Pod => reading.pod(namespace).await,
    }
}

/// The explanation as people read it.
///
/// # Errors
/// As for [`run`].
pub(super) async fn lines(
    target: &Target,
    namespace: Option<String>,
    source: &Source,
    flags: &WhyFlags,
) -> Result<Vec<String>, Failure> {
    Ok(text::render(&explain(target, namespace, source, flags).await?, flags))
}

/// What is asked, and what is known.
struct Asked<'a> {
    snapshot: &'a Snapshot,
    namespace: &'a str,
    name: &'a str,
    patience: SignedDuration,
    advice: Advice,
}

/// The namespace of the object: the one asked for, or the only one of a dump that has it. `None` where none has.
fn home(snapshot: &Snapshot, query: &Query, kind: Kind, name: &str) -> Option<Result<String, Failure>> {
    let homes: Vec<&str> = match (&query.namespace, kind) {
        (Some(namespace), _) => vec![namespace],
        (None, Kind::Slice) => snapshot.slices.iter().map(|seen| seen.place().0).collect(),
        // These are looked up by themselves.
        (None, Kind::Symphony | Kind::Namespace | Kind::Pod) => vec![],
        (None, Kind::Composition) => {
            let has = |home: &&str| snapshot.namespaces.compositions(home).names().any(|found| found == name);
            snapshot.namespaces.names().filter(has).collect()
        }
    };
    match homes.as_slice() {
        [] => None,
        [only] => Some(Ok((*only).to_owned())),
        several => Some(Err(Failure::local(format_args!(
            "{}/{name} is in several namespaces: {}; choose one with -n",
            kind.singular(),
            several.join(", ")
        )))),
    }
}

/// The flags that lead the next command to the same dump.
fn dump_flags(flags: &SourceFlags) -> String {
    let mut text = String::new();
    for path in &flags.filenames {
        text += &format!(" -f {}", quoted(&path.display().to_string()));
    }
    for (given, flag) in [(flags.recursive, " -R"), (flags.complete, " --complete")] {
        text += if given { flag } else { "" };
    }
    if let Some(now) = flags.now {
        text += &format!(" --now {now}");
    }
    text
}

fn print(format: &Format, explanation: &Explanation, flags: &WhyFlags) -> Result<(), Failure> {
    match format {
        Format::Text { .. } => output::lines(text::render(explanation, flags)),
        Format::Name => output::lines(vec![sanitized(&explanation.resource_name())]),
        Format::Objects(form) => {
            let object = serde_json::to_value(explanation).map_err(Failure::local)?;
            form.print(Objects::One(object), flags.output.no_headers)
        }
    }
}
