//! What the API server's audit log says of the webhook's answers.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use eno_shared::names::HOOK_DOMAIN;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::eventually::eventually;

/// The log is written while the answer is on its way.
const LIMIT: Duration = Duration::from_secs(10);

/// The webhook's annotations of the last audited request of this verb on an object, without the hook's name.
///
/// # Errors
/// There is none in time.
///
/// # Panics
/// The control plane keeps no audit log: says how to start one that does.
pub async fn annotations(
    cluster: &Cluster,
    hook: &str,
    verb: &str,
    namespace: &str,
    name: &str,
) -> Result<BTreeMap<String, String>> {
    let log = cluster.audit_log().expect("an audit log: start the control plane with `cargo xtask controlplane up`");
    let prefix = format!("{hook}.{HOOK_DOMAIN}/");
    eventually(&format!("an audited {verb} of {namespace}/{name} with annotations by {hook}"), LIMIT, async || {
        let text = fs::read_to_string(&log)?;
        // The last line may be half written.
        let requests = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let of = |request: &Value| {
            let object = &request["objectRef"];
            request["verb"] == verb && object["namespace"] == namespace && object["name"] == name
        };
        let ours = |request: Value| {
            let annotations = request["annotations"].as_object()?;
            let ours = annotations
                .iter()
                .filter_map(|(key, value)| Some((key.strip_prefix(&prefix)?.to_owned(), value.as_str()?.to_owned())));
            Some(ours.collect::<BTreeMap<_, _>>()).filter(|ours| !ours.is_empty())
        };
        requests.filter(of).find_map(ours).context("there is none")
    })
    .await
}
