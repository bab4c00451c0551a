//! Waits until the slices that were changed are gone.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use eno_shared::api::ResourceSlice;
use eno_shared::client;
use kube::core::params::ListParams;
use tokio::time::Instant;

use super::plan::Step;
use crate::failure::{Failure, INTERRUPTED, TIMED_OUT};
use crate::interrupt::Interrupt;
use crate::writer::Writer;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// So many of those that are left are named.
const NAMED: usize = 5;

/// Says how many are left, when that changes. `None` once all are gone, else the exit code.
pub(super) async fn until_gone(
    mut left: Vec<&Step>,
    timeout: Duration,
    writer: &Writer,
    interrupt: &Interrupt,
) -> Result<Option<ExitCode>, Failure> {
    let (cluster, begun) = (&writer.cluster, Instant::now());
    let mut told = None;
    loop {
        let mut exist = BTreeSet::new();
        let namespaces: BTreeSet<&str> = left.iter().map(|step| step.namespace.as_str()).collect();
        for namespace in namespaces {
            let all = ListParams::default();
            let listed =
                client::list_metadata::<ResourceSlice>(&cluster.client, Some(namespace), &all, cluster.timeout).await;
            let listed = listed.map_err(|error| Failure::read::<ResourceSlice>(&error, &cluster.host))?;
            exist.extend(listed.into_iter().map(|metadata| metadata.uid));
        }
        left.retain(|step| exist.contains(&step.uid));
        if left.is_empty() {
            return Ok(None);
        }
        if told != Some(left.len()) {
            writer.dialogue.say(format_args!("waiting: {} to be gone ({}s)", left.len(), begun.elapsed().as_secs()));
            told = Some(left.len());
        }
        if interrupt.came() {
            return Ok(Some(ExitCode::from(INTERRUPTED)));
        }
        if begun.elapsed() >= timeout {
            let names: Vec<String> = left.iter().take(NAMED).map(|step| step.resource_name()).collect();
            let more = if left.len() > NAMED { ", …" } else { "" };
            let text = format!("timed out waiting for {} to be gone: {}{more}", left.len(), names.join(", "));
            return Err(Failure::local(text).with_code(TIMED_OUT));
        }
        interrupt.pause(PAUSE.min(timeout.saturating_sub(begun.elapsed()))).await;
    }
}
