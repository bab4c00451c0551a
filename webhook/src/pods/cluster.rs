//! Which cluster this is.

use std::time::Duration;

use anyhow::{Context, Result};
use eno_shared::api::Metadata;
use eno_shared::client::get_text;
use kube::Client;
use serde::Deserialize;

/// How long the answer may take.
const LIMIT: Duration = Duration::from_secs(10);

/// The uid of the cluster: that of a namespace which lives as long.
pub(super) async fn cluster_uid(client: &Client) -> Result<String> {
    #[derive(Deserialize)]
    struct Namespace {
        metadata: Metadata,
    }
    let text =
        get_text(client, "/api/v1/namespaces", "kube-system", LIMIT).await.context("reading namespace kube-system")?;
    let text = text.context("there is no namespace kube-system, whose uid tells clusters apart")?;
    let namespace: Namespace = serde_json::from_str(&text).context("reading namespace kube-system")?;
    Ok(namespace.metadata.uid)
}
