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
use crate::confirm::{Question, confirm};
use crate::failure::{ERROR, Failure, INTERRUPTED, REFUSED};
use crate::interrupt::Interrupt;
use crate::output;
use crate::output::table::sanitized;
use crate::warnings::say;
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
    let writer = Writer::open(&flags.write, cli)?;
    let mut assessed = vec![];
    for target in &targets {
        assessed.push(assess::of(target, flags, &writer).await?);
    }
    let mut refusals = vec![];
    for assessment in &assessed {
        assessment.lines(&flags.finalizer).iter().for_each(say);
        refusals.extend(assessment.refusal(flags));
    }
    if !refusals.is_empty() {
        return Err(Failure::verbatim(refusals.join("\n")).with_code(REFUSED));
    }
    let mut code = ExitCode::SUCCESS;
    for assessment in assessed.iter().filter(|assessment| assessment.has_finalizer) {
        match release(assessment, flags, &writer).await? {
            Ended::Done => {}
            Ended::CameBack => code = ExitCode::from(ERROR),
            Ended::Cancelled => return Ok(code),
            Ended::Interrupted => return Ok(ExitCode::from(INTERRUPTED)),
        }
    }
    Ok(code)
}

/// How one release ended.
enum Ended {
    /// As it should, or nothing was to be written.
    Done,
    /// Somebody has put the finalizer back.
    CameBack,
    /// The answer was No.
    Cancelled,
    /// By Ctrl-C, after the write.
    Interrupted,
}

async fn release(assessment: &Assessment, flags: &ReleaseFlags, writer: &Writer) -> Result<Ended, Failure> {
    let shown = assessment.shown();
    let released = |dry_run: DryRun| {
        output::lines(vec![sanitized(&format!("{shown} finalizer released{}", dry_run.suffix()))])
    };
    if flags.write.dry_run == DryRun::Client {
        released(DryRun::Client)?;
        return Ok(Ended::Done);
    }
    let write = Release::tried(assessment, flags, writer).await?;
    if flags.write.dry_run == DryRun::Server {
        released(DryRun::Server)?;
        return Ok(Ended::Done);
    }
    if !flags.no_backup {
        let path = backup::write(&flags.backup_dir, assessment)?;
        say(format_args!("Backup written to {}", sanitized(&path.display().to_string())));
    }
    let question = Question::Type { what: "the name", word: assessment.metadata.name.clone() };
    if !flags.write.yes && !confirm(&question, "release", "--yes")? {
        say("release is cancelled");
        return Ok(Ended::Cancelled);
    }
    let interrupt = Interrupt::listen();
    match write.carry_out().await? {
        Written::Done(_) | Written::Gone => released(DryRun::None)?,
        Written::Changed => {
            return Err(Failure::local(format_args!(
                "{shown} has changed since it was looked at; nothing was released. Run the command again"
            )));
        }
    }
    let came = verify::look(assessment, &flags.finalizer, writer, &interrupt).await?;
    say(sanitized(&format!("{shown} {came}")));
    Ok(match came {
        Came::Gone { .. } | Came::Held { .. } | Came::There => Ended::Done,
        Came::Back { .. } => Ended::CameBack,
        Came::Interrupted => Ended::Interrupted,
    })
}
