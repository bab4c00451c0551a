//! Asks the leader of eno-webhook to tell ends of pods again, or to nobody any more.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use tokio::time::Instant;

use crate::cli::{Cli, DryRun, PodsLettersFlags};
use crate::cmd::webhook_namespace::webhook_namespace;
use crate::confirm::{Question, confirm};
use crate::failure::{Failure, INTERRUPTED, TIMED_OUT};
use crate::interrupt::Interrupt;
use crate::item::pod::LetterItem;
use crate::outbox::Place;
use crate::output;
use crate::warnings::say;
use crate::writer::Writer;

/// Pause between two looks at whether it is carried out.
const PAUSE: Duration = Duration::from_millis(250);

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// Tell it again.
    Redeliver,
    /// Tell it nobody any more.
    Drop,
}

impl Wish {
    /// As the request names it.
    fn key(self) -> &'static str {
        match self {
            Wish::Redeliver => "redeliver",
            Wish::Drop => "drop",
        }
    }

    /// What was done.
    fn done(self) -> &'static str {
        match self {
            Wish::Redeliver => "redelivery requested",
            Wish::Drop => "dropped",
        }
    }
}

pub(super) async fn run(wish: Wish, flags: &PodsLettersFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let writer = Writer::open(&flags.write, cli)?;
    let home = webhook_namespace(&writer.cluster, &flags.outbox).await;
    let place = Place::new(&writer.cluster, &home)?;
    let ids = chosen(&place, flags).await?;
    if ids.is_empty() {
        say("No undelivered ends of pods that a sink would not take");
        return Ok(ExitCode::SUCCESS);
    }
    if wish == Wish::Drop && flags.write.dry_run == DryRun::None && !flags.write.yes {
        say(format_args!("Nobody will be told any more of {} ends of pods.", ids.len()));
        let question = Question::Type { what: "how many", word: ids.len().to_string() };
        if !confirm(&question, "drop them", "--yes")? {
            say("drop is cancelled");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let dry_run = flags.write.dry_run;
    if dry_run != DryRun::Client {
        let text = ids.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        let request = place.ask(&[(wish.key(), text)], dry_run == DryRun::Server).await?;
        if dry_run == DryRun::None {
            match wait(&place, &request, flags.timeout).await? {
                Came::Done => {}
                Came::Interrupted => return Ok(ExitCode::from(INTERRUPTED)),
                Came::TimedOut => {
                    let text = format!(
                        "timed out waiting for the leader of eno-webhook: request {request} stays in namespace {}, and is \
                         carried out as soon as one leads. Next: kubectl eno doctor",
                        place.namespace
                    );
                    return Err(Failure::local(text).with_code(TIMED_OUT));
                }
            }
        }
    }
    output::lines(ids.iter().map(|id| format!("destroy/{id} {}{}", wish.done(), dry_run.suffix())).collect())?;
    Ok(ExitCode::SUCCESS)
}

/// The ids that are meant; all exist.
async fn chosen(place: &Place<'_>, flags: &PodsLettersFlags) -> Result<BTreeSet<String>, Failure> {
    let outbox = place.read().await?;
    let letters: Vec<LetterItem> =
        outbox.entries().into_values().flat_map(|entry| &entry.undelivered).map(LetterItem::new).collect();
    if flags.all {
        return Ok(letters.iter().filter(|letter| letter.is_dead()).map(|letter| letter.id().to_owned()).collect());
    }
    for id in &flags.ids {
        if letters.iter().all(|letter| letter.id() != id) {
            return Err(Failure::local(format_args!(
                "destroy \"{id}\" is not in the outbox: it was delivered or dropped, or never was. Next: kubectl eno pods \
                 undelivered"
            )));
        }
    }
    Ok(flags.ids.iter().cloned().collect())
}

enum Came {
    Done,
    TimedOut,
    Interrupted,
}

async fn wait(place: &Place<'_>, request: &str, timeout: Duration) -> Result<Came, Failure> {
    let (interrupt, begun) = (Interrupt::listen(), Instant::now());
    while !place.is_done(request).await? {
        if interrupt.came() {
            return Ok(Came::Interrupted);
        }
        if begun.elapsed() >= timeout {
            return Ok(Came::TimedOut);
        }
        interrupt.pause(PAUSE).await;
    }
    Ok(Came::Done)
}
