//! What the API server's audit log says of the webhook's answers.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use eno_shared::names::HOOK_DOMAIN;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::eventually::eventually;

/// The log is written while the answer is on its way.
const LIMIT: Duration = Duration::from_secs(10);

/// The requests that the log is searched for.
#[derive(Debug, Clone, Copy)]
pub struct Requests<'a> {
    /// The hook that answered.
    pub hook: &'a str,
    /// The verb: `delete`, `patch`.
    pub verb: &'a str,
    /// Namespace of the object.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
}

/// Waits for such a request to be in the log with these annotations by the hook, and perhaps more.
///
/// # Errors
/// There is none in time: says which annotations there are.
///
/// # Panics
/// The control plane keeps no audit log: says how to start one that does.
pub async fn annotated(cluster: &Cluster, requests: Requests<'_>, expected: &[(&str, &str)]) -> Result<()> {
    let log = cluster.audit_log().expect("an audit log: start the control plane with `cargo xtask controlplane up`");
    eventually(&format!("{requests:?} to be audited with {expected:?}"), LIMIT, async || {
        let text = fs::read_to_string(&log)?;
        // The last line may be half written.
        let all = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let found: Vec<_> = all.filter_map(|request| annotations(&request, requests)).collect();
        let fits = |annotations: &BTreeMap<String, String>| {
            expected.iter().all(|&(key, value)| annotations.get(key).is_some_and(|found| found == value))
        };
        ensure!(found.iter().any(fits), "{found:?}");
        Ok(())
    })
    .await
}

/// What the hook says of an audited request, without the hook's name; `None` where it is another request.
fn annotations(request: &Value, of: Requests<'_>) -> Option<BTreeMap<String, String>> {
    let object = &request["objectRef"];
    let is_one = request["verb"] == of.verb && object["namespace"] == of.namespace && object["name"] == of.name;
    let prefix = format!("{}.{HOOK_DOMAIN}/", of.hook);
    let ours =
        |(key, value): (&String, &Value)| Some((key.strip_prefix(&prefix)?.to_owned(), value.as_str()?.to_owned()));
    Some(request["annotations"].as_object().filter(|_| is_one)?.iter().filter_map(ours).collect())
}
