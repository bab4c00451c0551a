//! `kubectl eno cleanup`: collects and releases what the verdicts say, and nothing else.
//!
//! It looks twice: the list makes a preview, and before each write the slice and its compositions are read again. Held and
//! Unknown are never touched, and no flag changes that.

mod act;
mod live;
mod outcome;
mod plan;
mod wait;

use std::process::ExitCode;
use std::time::Instant;

use futures::stream::{StreamExt, iter};

use crate::cli::{CleanupFlags, Cli, DryRun, ResultFormat};
use crate::confirm::Question;
use crate::failure::{ERROR, Failure, INTERRUPTED};
use crate::output::{self, Objects};
use crate::progress::Progress;
use crate::query::Query;
use crate::snapshot::Snapshot;
use crate::writer::Writer;
use act::Actor;
use live::Live;
use outcome::{Outcome, Tally};
use plan::{Plan, Step};

/// From this number of slices on, a cleanup of all namespaces asks to type how many they are.
const MANY: usize = 25;

/// Runs the command.
///
/// # Errors
/// Where the slices cannot be listed, nobody can confirm, or the flags make no sense together.
pub(super) async fn run(flags: &CleanupFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    if flags.wait && flags.write.dry_run != DryRun::None {
        return Err(Failure::local("--wait makes no sense with --dry-run: nothing would ever be gone"));
    }
    with(flags, &Writer::open(&flags.write, cli)?).await
}

/// The same with a writer of the caller's.
///
/// # Errors
/// As for [`run`].
pub(super) async fn with(flags: &CleanupFlags, writer: &Writer) -> Result<ExitCode, Failure> {
    let dialogue = &writer.dialogue;
    let namespace = (!flags.all_namespaces).then(|| writer.namespace.clone());
    let query = Query { namespace: namespace.clone(), labels: flags.selector.clone(), ..Query::default() };
    let snapshot = writer.cluster.snapshot(&query).await?;
    let plan = Plan::of(&snapshot, flags);
    plan.preview(namespace.as_deref(), snapshot.now).iter().for_each(|line| dialogue.say(line));
    if plan.steps.is_empty() {
        print_list(flags, vec![])?;
        return Ok(ExitCode::SUCCESS);
    }
    if flags.write.dry_run == DryRun::None
        && !flags.write.yes
        && !dialogue.confirm(&question(&plan, flags), "clean up", "--yes").await?
    {
        dialogue.say("cleanup is cancelled");
        return Ok(ExitCode::SUCCESS);
    }
    carry_out(&plan, &snapshot, flags, writer).await
}

/// What to ask: the more may go, the less a reflex may answer.
fn question(plan: &Plan, flags: &CleanupFlags) -> Question {
    let unowned = plan.steps.iter().filter(|step| step.unowned).count();
    match plan.steps.len() {
        _ if unowned > 0 => Question::Type { what: "how many slices without an owner go", word: unowned.to_string() },
        many if flags.all_namespaces && many > MANY => {
            Question::Type { what: "how many slices are changed", word: many.to_string() }
        }
        _ => Question::Yes,
    }
}

async fn carry_out(
    plan: &Plan,
    snapshot: &Snapshot,
    flags: &CleanupFlags,
    writer: &Writer,
) -> Result<ExitCode, Failure> {
    let (cluster, dialogue) = (&writer.cluster, &writer.dialogue);
    let interrupt = dialogue.interrupt();
    let actor =
        Actor { cluster, flags, live: Live::new(cluster, plan.steps.iter().map(|step| step.namespace.as_str())) };
    let (begun, progress) = (Instant::now(), Progress::of(plan.steps.len(), dialogue));
    let stopped = std::cell::Cell::new(false);
    let acts = plan.steps.iter().map(async |step| {
        if interrupt.came() || stopped.get() {
            return None;
        }
        Some((step, actor.act(step).await))
    });
    let mut acts = iter(acts).buffer_unordered(cluster.concurrency);
    let mut done: Vec<(&Step, Outcome)> = vec![];
    while let Some(act) = acts.next().await {
        let Some((step, outcome)) = act else { continue };
        stopped.set(stopped.get() || (flags.fail_fast && matches!(outcome, Outcome::Failed(_))));
        tell(step, &outcome, flags, &progress)?;
        progress.advance();
        done.push((step, outcome));
    }
    progress.finish();
    let tally = Tally::of(done.iter().map(|(_, outcome)| outcome), flags.write.dry_run);
    if tally.all() < plan.steps.len() {
        dialogue.say(format_args!("stopped after {} of {}", tally.all(), plan.steps.len()));
    }
    dialogue.say(format_args!("{tally} in {:.1}s{}", begun.elapsed().as_secs_f64(), flags.write.dry_run.suffix()));
    print_list(flags, done.iter().map(|(step, outcome)| outcome::item(step, outcome, snapshot.now)).collect())?;
    if interrupt.came() {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if flags.wait {
        let acted = done.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Done { .. })).map(|(step, _)| *step);
        if let Some(code) = wait::until_gone(acted.collect(), flags.timeout, writer, &interrupt).await? {
            return Ok(code);
        }
    }
    Ok(if tally.failed > 0 { ExitCode::from(ERROR) } else { ExitCode::SUCCESS })
}

/// Says what became of one slice: results on stdout, all else on stderr.
fn tell(step: &Step, outcome: &Outcome, flags: &CleanupFlags, progress: &Progress) -> Result<(), Failure> {
    let lines = outcome.lines(step, flags.write.dry_run);
    match (flags.output, outcome) {
        (None, Outcome::Done { .. }) => lines.iter().try_for_each(|line| progress.result(line)),
        (Some(ResultFormat::Name), Outcome::Done { .. }) => progress.result(&step.resource_name()),
        (Some(ResultFormat::Json) | None | Some(ResultFormat::Name), _) => {
            lines.iter().for_each(|line| progress.say(line));
            Ok(())
        }
    }
}

fn print_list(flags: &CleanupFlags, items: Vec<serde_json::Value>) -> Result<(), Failure> {
    let Some(ResultFormat::Json) = flags.output else { return Ok(()) };
    output::Form::Json.print(Objects::List(items), false)
}
