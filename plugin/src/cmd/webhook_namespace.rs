//! Where eno-webhook runs, and keeps what it knows of pods.

use eno_shared::names::WEBHOOK_NAMESPACE;

use super::doctor::ask::text;
use super::doctor::webhook::hooks;
use crate::cli::OutboxFlags;
use crate::cluster::Cluster;

/// The namespace that is given; else that of the Service which the webhook's configurations name. Where they may not be
/// read, or name none, that of its manifests.
pub(super) async fn webhook_namespace(cluster: &Cluster, flags: &OutboxFlags) -> String {
    if let Some(given) = &flags.webhook_namespace {
        return given.clone();
    }
    let hooks = hooks(cluster, None).await.unwrap_or_default();
    let mut named = hooks.iter().map(|hook| text(hook.client(), "/service/namespace"));
    named.find(|name| !name.is_empty()).unwrap_or(WEBHOOK_NAMESPACE).to_owned()
}
