//! `kubectl eno release`: takes one named finalizer off an object that is being deleted.
//!
//! In this order: what would be lost, the refusal if something needs the object, a backup, a dry run on the server (where our
//! webhook may deny), the question, the write, and a look at what came of it.

mod assess;
mod backup;
mod target;
mod verify;
mod write;

use std::process::ExitCode;

use eno_shared::client::Written;

use crate::cli::{Cli, DryRun, ReleaseFlags};
use crate::confirm::Question;
use crate::dialogue::Dialogue;
use crate::failure::{ERROR, Failure, INTERRUPTED, REFUSED};
use crate::output::table::sanitized;
use crate::writer::Writer;
use assess::Assessment;
use target::Target;
use verify::Came;
use write::Release;

/// Runs the command.
///
/// # Errors
/// One of the objects may not be released: then none is. Or a request fails.
pub(super) async fn run(flags: &ReleaseFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let targets = Target::parse_all(&flags.objects)?;
    these(&targets, flags, &Writer::open(&flags.write, cli)?).await
}

/// The same with a writer of the caller's.
///
/// # Errors
/// As for [`run`].
pub(super) async fn with(flags: &ReleaseFlags, writer: &Writer) -> Result<ExitCode, Failure> {
    these(&Target::parse_all(&flags.objects)?, flags, writer).await
}

async fn these(targets: &[Target], flags: &ReleaseFlags, writer: &Writer) -> Result<ExitCode, Failure> {
    let dialogue = &writer.dialogue;
    let mut assessed = vec![];
    for target in targets {
        assessed.push(assess::of(target, flags, writer).await?);
    }
    let mut refusals = vec![];
    for assessment in &assessed {
        assessment.lines(&flags.finalizer).iter().for_each(|line| dialogue.say(line));
        refusals.extend(assessment.refusal(flags));
    }
    if !refusals.is_empty() {
        return Err(Failure::verbatim(refusals.join("\n")).with_code(REFUSED));
    }
    let mut agreed = vec![];
    for assessment in assessed.iter().filter(|assessment| assessment.has_finalizer) {
        match prepare(assessment, flags, writer).await? {
            Prepared::Dry => say_released(assessment, flags.write.dry_run, dialogue)?,
            Prepared::Agreed(write) => agreed.push((assessment, write)),
            Prepared::Cancelled => {
                dialogue.say("release is cancelled");
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
    if agreed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let (interrupt, mut code) = (dialogue.interrupt(), ExitCode::SUCCESS);
    for (index, (assessment, write)) in agreed.iter().enumerate() {
        if interrupt.came() {
            dialogue.say(format_args!("stopped after {index} of {}", agreed.len()));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        still(assessment, flags, writer).await?;
        match write.carry_out().await? {
            Written::Done(_) | Written::Gone => say_released(assessment, DryRun::None, dialogue)?,
            Written::Changed => return Err(changed(assessment)),
        }
        let came = verify::look(assessment, &flags.finalizer, writer, &interrupt).await?;
        dialogue.say(sanitized(&format!("{} {came}", assessment.shown())));
        match came {
            Came::Gone { .. } | Came::Held { .. } | Came::There => {}
            Came::Back { .. } => code = ExitCode::from(ERROR),
            Came::Interrupted => return Ok(ExitCode::from(INTERRUPTED)),
        }
    }
    Ok(code)
}

/// How the questions about one object ended.
enum Prepared<'a> {
    /// Nothing is to be written.
    Dry,
    /// The server would take the write, and a person has agreed.
    Agreed(Release<'a>),
    /// The answer was No.
    Cancelled,
}

async fn prepare<'a>(
    assessment: &'a Assessment,
    flags: &ReleaseFlags,
    writer: &'a Writer,
) -> Result<Prepared<'a>, Failure> {
    if flags.write.dry_run == DryRun::Client {
        return Ok(Prepared::Dry);
    }
    let write = Release::tried(assessment, flags, writer).await?;
    if flags.write.dry_run == DryRun::Server {
        return Ok(Prepared::Dry);
    }
    if !flags.no_backup {
        let path = backup::write(&flags.backup_dir, assessment)?;
        writer.dialogue.say(format_args!("Backup written to {}", sanitized(&path.display().to_string())));
    }
    let question = Question::Type { what: "the name", word: assessment.metadata.name.clone() };
    if flags.write.yes || writer.dialogue.confirm(&question, "release", "--yes").await? {
        return Ok(Prepared::Agreed(write));
    }
    Ok(Prepared::Cancelled)
}

/// Looks again just before the write: a person takes time to answer.
async fn still(assessment: &Assessment, flags: &ReleaseFlags, writer: &Writer) -> Result<(), Failure> {
    let target = Target { kind: assessment.kind, name: assessment.metadata.name.clone() };
    let now = assess::of(&target, flags, writer).await?;
    if let Some(refusal) = now.refusal(flags) {
        return Err(Failure::verbatim(refusal).with_code(REFUSED));
    }
    let (was, is) = (&assessment.metadata, &now.metadata);
    if (&was.uid, &was.resource_version) == (&is.uid, &is.resource_version) { Ok(()) } else { Err(changed(assessment)) }
}

fn changed(assessment: &Assessment) -> Failure {
    Failure::local(format_args!(
        "{} has changed since it was looked at, and was not released. Run the command again",
        assessment.shown()
    ))
}

fn say_released(assessment: &Assessment, dry_run: DryRun, dialogue: &Dialogue) -> Result<(), Failure> {
    dialogue.result(&format!("{} finalizer released{}", assessment.shown(), dry_run.suffix()))
}
