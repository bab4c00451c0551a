//! `kubectl eno restore`: makes lost slices again from a file, so that Eno knows what it must delete.
//!
//! A slice is lost when a composition lists it and it does not exist. A composition that is being deleted waits for it for
//! ever then (S1).

mod lost;
mod saved;

use std::process::ExitCode;

use eno_shared::api::{Kind, ResourceSlice};
use eno_shared::client::ReadError;
use eno_shared::names::ENO_GROUP;
use futures::stream::{StreamExt, iter};
use kube::core::Request;
use kube::core::params::PostParams;
use serde_json::Value;

use crate::cli::{Cli, DryRun, RestoreFlags};
use crate::confirm::Question;
use crate::failure::{ERROR, Failure, INTERRUPTED, REFUSED};
use crate::output::table::sanitized;
use crate::writer::Writer;
use lost::{Found, Lost};

/// Runs the command.
///
/// # Errors
/// The file cannot be read, or holds nothing that may be restored.
pub(super) async fn run(flags: &RestoreFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let writer = Writer::open(&flags.write, cli)?;
    let named = cli.global.namespace.as_deref().filter(|namespace| !namespace.is_empty());
    let saved = saved::read(flags, named, &writer.namespace)?;
    let looks = saved.iter().map(async |saved| (saved, lost::of(saved, &writer.cluster).await));
    let looks: Vec<_> = iter(looks).buffered(writer.cluster.concurrency).collect().await;
    let (mut lost, mut present, mut refused) = (vec![], 0, 0);
    for (saved, look) in looks {
        match look? {
            Found::Lost(slice) => lost.push(slice),
            Found::Present => present += 1,
            Found::Refused(why) => {
                refused += 1;
                let shown = format!("{}/{}", saved.namespace, saved.name);
                writer.dialogue.say(sanitized(&format!("slice {shown} is not restored: {why}")));
            }
        }
    }
    writer.dialogue.say(format_args!("{} to restore, {present} exist, {refused} must not be restored", lost.len()));
    if lost.is_empty() {
        return Ok(if refused > 0 { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS });
    }
    lost.iter().for_each(|lost| writer.dialogue.say(sanitized(&lost.says())));
    let asks = flags.write.dry_run == DryRun::None && !flags.write.yes;
    if asks && !writer.dialogue.confirm(&Question::Yes, "restore", "--yes").await? {
        writer.dialogue.say("restore is cancelled");
        return Ok(ExitCode::SUCCESS);
    }
    let (interrupt, mut code) = (writer.dialogue.interrupt(), ExitCode::SUCCESS);
    for (index, lost) in lost.iter().enumerate() {
        if interrupt.came() {
            writer.dialogue.say(format_args!("stopped after {index} slices"));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        match create(lost, flags.write.dry_run, &writer).await {
            Ok(()) => {
                let name = format!("{}.{ENO_GROUP}/{}", ResourceSlice::SINGULAR, lost.name);
                writer.dialogue.result(&format!("{name} restored{}", flags.write.dry_run.suffix()))?;
            }
            Err(failure) => {
                writer.dialogue.say(failure);
                code = ExitCode::from(ERROR);
            }
        }
    }
    Ok(code)
}

async fn create(lost: &Lost, dry_run: DryRun, writer: &Writer) -> Result<(), Failure> {
    if dry_run == DryRun::Client {
        return Ok(());
    }
    let params = PostParams { dry_run: dry_run == DryRun::Server, ..PostParams::default() };
    let body = serde_json::to_vec(&lost.object).map_err(Failure::local)?;
    let path = ResourceSlice::path(Some(&lost.namespace));
    let request = Request::new(path).create(&params, body).map_err(Failure::local)?;
    let (limit, host) = (writer.timeout(), &writer.cluster.host);
    let created = tokio::time::timeout(limit, writer.cluster.client.request::<Value>(request)).await;
    let created = created.map_err(|_| ReadError::TimedOut(limit)).and_then(|created| Ok(created?));
    created.map(drop).map_err(|error| Failure::read::<ResourceSlice>(&error, host))
}
