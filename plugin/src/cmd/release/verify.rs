//! What came of a release: gone, held by others, or put back.

use std::fmt;
use std::time::Duration;

use eno_shared::api::Metadata;
use serde_json::Value;
use tokio::time::Instant;

use super::assess::{Assessment, stored};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::writer::Writer;

/// For so long the object is looked at: who puts a finalizer back does it at once.
const LOOK: Duration = Duration::from_secs(5);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// What came of it.
pub(super) enum Came {
    /// The object does not exist any more.
    Gone { after: Duration },
    /// Others hold it.
    Held { by: Vec<String> },
    /// It has no finalizer, and yet it is there.
    There,
    /// Somebody has put the finalizer back.
    Back { by: String },
    /// Nobody waits for it any more.
    Interrupted,
}

impl fmt::Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Came::Gone { after } => write!(f, "gone after {:.1}s", after.as_secs_f64()),
            Came::Held { by } => write!(f, "is still there: finalizers of others hold it: {}", by.join(", ")),
            Came::There => write!(f, "is still there after {}s, without finalizers", LOOK.as_secs()),
            Came::Back { by } => write!(f, "has the finalizer again: re-added by {by}"),
            Came::Interrupted => f.write_str("was released; interrupted while looking what came of it"),
        }
    }
}

/// Looks again and again.
///
/// # Errors
/// It cannot be read.
pub(super) async fn look(
    assessment: &Assessment,
    finalizer: &str,
    writer: &Writer,
    interrupt: &Interrupt,
) -> Result<Came, Failure> {
    let begun = Instant::now();
    loop {
        let now = stored(assessment.kind, &assessment.metadata.name, writer).await?;
        let gone = Came::Gone { after: begun.elapsed() };
        let Some(now) = now else { return Ok(gone) };
        let metadata = serde_json::from_value::<Metadata>(now["metadata"].clone()).map_err(Failure::local)?;
        if metadata.uid != assessment.metadata.uid {
            return Ok(gone);
        }
        if metadata.finalizers.iter().any(|present| present == finalizer) {
            return Ok(Came::Back { by: manager(&now, finalizer) });
        }
        if interrupt.came() {
            return Ok(Came::Interrupted);
        }
        if begun.elapsed() >= LOOK {
            let by = metadata.finalizers;
            return Ok(if by.is_empty() { Came::There } else { Came::Held { by } });
        }
        interrupt.pause(PAUSE).await;
    }
}

/// Who has set a finalizer, as `managedFields` has it.
fn manager(stored: &Value, finalizer: &str) -> String {
    let path = format!("/fieldsV1/f:metadata/f:finalizers/v:\"{}\"", finalizer.replace('~', "~0").replace('/', "~1"));
    let entries = stored["metadata"]["managedFields"].as_array();
    let sets = |entry: &&Value| entry.pointer(&path).is_some();
    // The latest is whoever did it now.
    let entry =
        entries.into_iter().flatten().filter(sets).max_by_key(|entry| entry["time"].as_str().map(str::to_owned));
    entry.and_then(|entry| entry["manager"].as_str()).unwrap_or("an unknown manager").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_the_manager_that_set_the_finalizer_last() {
        let entry = |manager: &str, time: &str, finalizer: &str| {
            let finalizers = json!({format!("v:\"{finalizer}\""): {}});
            json!({"manager": manager, "time": time, "fieldsV1": {"f:metadata": {"f:finalizers": finalizers}}})
        };
        let stored = json!({"metadata": {"managedFields": [
            entry("first", "2026-03-01T10:00:00Z", "eno.azure.io/cleanup"),
            entry("last", "2026-03-01T11:00:00Z", "eno.azure.io/cleanup"),
            entry("other", "2026-03-01T12:00:00Z", "example.com/other"),
        ]}});
        assert_eq!(manager(&stored, "eno.azure.io/cleanup"), "last");
        assert_eq!(manager(&json!({}), "eno.azure.io/cleanup"), "an unknown manager");
    }
}
