//! The policy of `manifests/policy` on a real API server, as it is applied: beside the webhook, and where none answers.

mod agree_with_webhook;
mod ask;
mod stand_in_for_webhook;

use anyhow::Result;
use eno_tests::cluster::{Cluster, Output};
use eno_tests::workspace;

/// Name of the policy and of its binding.
const POLICY: &str = "eno-webhook-slices";

/// `kubectl COMMAND -k manifests/FOLDER`
async fn kustomized(cluster: &Cluster, command: &[&str], folder: &str) -> Result<Output> {
    let folder = workspace::root().join("manifests").join(folder).display().to_string();
    cluster.kubectl(&[command, &["-k", &folder]].concat()).await
}
