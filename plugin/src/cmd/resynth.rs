//! `kubectl eno resynth`: asks Eno for a new synthesis, where that does no harm and Eno listens.

mod risk;
mod wait;

use std::process::ExitCode;

use eno_shared::api::{Composition, Kind};
use eno_shared::client::{self, Effect, Written};
use eno_shared::names::FORCE_RESYNTHESIS;
use eno_shared::patch::annotate;
use eno_shared::resynthesis::{Refusal, heeded, latest, was_asked};

use crate::cli::{Cli, DryRun, ResynthFlags};
use crate::cluster::goes_into_url;
use crate::confirm::Question;
use crate::failure::{Failure, REFUSED};
use crate::output::table::sanitized;
use crate::writer::Writer;

/// Runs the command.
///
/// # Errors
/// It is refused, or a request fails.
pub(super) async fn run(flags: &ResynthFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    if flags.wait && flags.write.dry_run != DryRun::None {
        return Err(Failure::local("--wait makes no sense with --dry-run: no synthesis would ever begin"));
    }
    with(flags, &Writer::open(&flags.write, cli)?).await
}

/// The same with a writer of the caller's.
///
/// # Errors
/// As for [`run`].
pub(super) async fn with(flags: &ResynthFlags, writer: &Writer) -> Result<ExitCode, Failure> {
    let dialogue = &writer.dialogue;
    let name = flags.composition.trim_start_matches("composition/");
    goes_into_url("resource name", name)?;
    let composition = read(writer, name).await?;
    check(&composition, flags, writer).await?;
    let shown = composition.resource_name();
    if was_asked(&composition) {
        dialogue.say(format_args!("{shown} was asked for a new synthesis already; Eno has not begun"));
    } else {
        let Some(latest) = latest(&composition) else { return Err(refused(&shown, &Refusal::NeverSynthesized, false)) };
        dialogue.say(format_args!("This asks Eno to replace synthesis {} of {shown} by a new one.", latest.uuid));
        let asks = flags.write.dry_run == DryRun::None && !flags.write.yes;
        if asks && !dialogue.confirm(&Question::Yes, "ask for a new synthesis", "--yes").await? {
            dialogue.say("resynth is cancelled");
            return Ok(ExitCode::SUCCESS);
        }
        ask(&composition, &latest.uuid, flags, writer).await?;
        let line = format!("{shown} new synthesis requested{}", flags.write.dry_run.suffix());
        dialogue.result(&line)?;
    }
    if !flags.wait {
        return Ok(ExitCode::SUCCESS);
    }
    wait::until_replaced(&composition, flags.timeout, writer, &dialogue.interrupt()).await
}

async fn read(writer: &Writer, name: &str) -> Result<Composition, Failure> {
    let client = &writer.cluster.client;
    client::get::<Composition>(client, Some(&writer.namespace), name, writer.timeout())
        .await
        .map_err(|error| Failure::read::<Composition>(&error, &writer.cluster.host))?
        .ok_or_else(|| Failure::not_found::<Composition>(name, false))
}

/// Refuses what Eno would ignore, and what could orphan resources.
async fn check(composition: &Composition, flags: &ResynthFlags, writer: &Writer) -> Result<(), Failure> {
    let shown = composition.resource_name();
    match heeded(composition) {
        Ok(()) => {}
        // Then the annotation replaces what is in flight.
        Err(Refusal::InFlight { .. }) if flags.force => {}
        Err(refusal @ Refusal::InFlight { .. }) => return Err(refused(&shown, &refusal, true)),
        Err(refusal) => return Err(refused(&shown, &refusal, false)),
    }
    let Some(risk) = risk::of(composition, &writer.cluster).await? else { return Ok(()) };
    if !flags.force || risk.is_ignored() {
        return Err(refused(&shown, &risk, !risk.is_ignored()));
    }
    writer.dialogue.say(sanitized(&format!("Warning: forced, although {risk}")));
    Ok(())
}

fn refused(shown: &str, why: &dyn std::fmt::Display, forcible: bool) -> Failure {
    let hint = if forcible { "; pass --force to ask nevertheless" } else { "" };
    Failure::local(format_args!("refused to ask for a new synthesis of {shown}: {why}{hint}")).with_code(REFUSED)
}

async fn ask(composition: &Composition, uuid: &str, flags: &ResynthFlags, writer: &Writer) -> Result<(), Failure> {
    let effect = match flags.write.dry_run {
        DryRun::Client => return Ok(()),
        DryRun::None => Effect::Real,
        DryRun::Server => Effect::DryRun,
    };
    let metadata = &composition.metadata;
    let patch = annotate(metadata, FORCE_RESYNTHESIS, uuid);
    let written = client::patch::<Composition>(&writer.cluster.client, metadata, patch, effect, writer.timeout()).await;
    match written.map_err(|error| Failure::read::<Composition>(&error, &writer.cluster.host))? {
        Written::Done(_) => Ok(()),
        Written::Gone => Err(Failure::not_found::<Composition>(&metadata.name, false)),
        Written::Changed => Err(Failure::local(format_args!(
            "{} has changed since it was looked at; nothing was written. Run the command again",
            composition.resource_name()
        ))),
    }
}
