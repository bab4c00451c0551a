//! The garbage collector of the control plane: it learns of new kinds only every 30 s, and until then has no part in a story.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_shared::names::ENO_API_VERSION;
use kube::api::PostParams;
use serde_json::json;

use crate::cluster::Cluster;
use crate::eventually::eventually;

/// A period of the collector, and what it needs to fill its caches.
const LIMIT: Duration = Duration::from_secs(90);

/// Waits until it watches Eno's kinds: it removes a symphony of this namespace whose owner does not exist.
///
/// # Errors
/// It does not in time, or the symphony is refused.
pub async fn knows_enos_kinds(cluster: &Cluster, namespace: &str) -> Result<()> {
    let symphonies = cluster.eno("Symphony", namespace);
    let orphan = serde_json::from_value(json!({
        "apiVersion": ENO_API_VERSION, "kind": "Symphony",
        "metadata": {"name": "orphan", "namespace": namespace, "ownerReferences": [{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "00000000-0000-4000-8000-000000000000",
        }]},
    }))?;
    symphonies.create(&PostParams::default(), &orphan).await?;
    eventually("the garbage collector to know Eno's kinds", LIMIT, async || {
        ensure!(symphonies.get_opt("orphan").await?.is_none(), "a symphony without its owner is there");
        Ok(())
    })
    .await
}
