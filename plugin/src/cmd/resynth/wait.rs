//! Waits until a new synthesis is current.

use std::process::ExitCode;
use std::time::Duration;

use eno_shared::api::{Composition, Kind, Synthesis};
use eno_shared::resynthesis::was_asked;
use tokio::time::Instant;

use crate::failure::{Failure, INTERRUPTED, TIMED_OUT};
use crate::interrupt::Interrupt;
use crate::output::table::sanitized;
use crate::writer::Writer;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Says how far it is, when that changes.
///
/// # Errors
/// It takes too long, or the composition is gone, or is being deleted.
pub(super) async fn until_replaced(
    before: &Composition,
    timeout: Duration,
    writer: &Writer,
    interrupt: &Interrupt,
) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let shown = before.resource_name();
    let mut told = String::new();
    loop {
        let now = super::read(writer, &before.metadata.name).await?;
        if now.metadata.uid != before.metadata.uid || now.metadata.is_deleting() {
            return Err(Failure::local(format_args!("{shown} was deleted before a new synthesis was current")));
        }
        if let Some(new) = now.status.current_synthesis.as_ref().filter(|current| is_new(current, before)) {
            writer.dialogue.result(&format!("{shown} synthesized: {}", new.uuid))?;
            return Ok(ExitCode::SUCCESS);
        }
        let state = state(&now);
        if state != told {
            writer.dialogue.say(sanitized(&format!("waiting: {state} ({}s)", begun.elapsed().as_secs())));
            told.clone_from(&state);
        }
        if interrupt.came() {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        if begun.elapsed() >= timeout {
            let text = format!("timed out waiting for a new synthesis of {shown}: {state}");
            return Err(Failure::local(text).with_code(TIMED_OUT));
        }
        interrupt.pause(PAUSE.min(timeout.saturating_sub(begun.elapsed()))).await;
    }
}

/// Is it none of those that there were?
fn is_new(current: &Synthesis, before: &Composition) -> bool {
    let was =
        |synthesis: &Option<Synthesis>| synthesis.as_ref().is_some_and(|synthesis| synthesis.uuid == current.uuid);
    !was(&before.status.current_synthesis) && !was(&before.status.in_flight_synthesis)
}

fn state(composition: &Composition) -> String {
    match &composition.status.in_flight_synthesis {
        Some(synthesis) if synthesis.canceled.is_some() => {
            format!("synthesis {} was canceled; Eno tries again", synthesis.uuid)
        }
        Some(synthesis) => format!("synthesis {} is in flight", synthesis.uuid),
        None if was_asked(composition) => "Eno has not begun; is eno-controller running?".to_owned(),
        None => "a new synthesis is not current yet".to_owned(),
    }
}
