//! `cargo xtask manifests`: writes the manifests that come from the code.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL, WEBHOOK_NAME, WEBHOOK_NAMESPACE};
use eno_webhook::config::{Config, Target};

use crate::workspace;

/// Where the webhook configurations are.
pub fn webhooks_path() -> PathBuf {
    workspace::root().join("manifests/base/webhooks.yaml")
}

/// Both configurations, as `eno-webhook print-config --service eno-webhook-system/eno-webhook` prints them.
///
/// # Errors
/// Never in practice: the objects can all be written.
pub fn webhooks() -> Result<String> {
    let service = Target::Service { namespace: WEBHOOK_NAMESPACE.into(), name: WEBHOOK_NAME.into(), port: 443 };
    let pods = [(MANAGED_BY_LABEL.into(), MANAGED_BY_ENO.into())].into();
    let (namespaces, pod_namespaces) = (BTreeMap::new(), BTreeMap::new());
    Config { name: WEBHOOK_NAME.into(), target: service, ca: None, namespaces, pods, pod_namespaces }.yaml()
}

/// Writes them.
///
/// # Errors
/// A file cannot be written.
pub fn write() -> Result<()> {
    let path = webhooks_path();
    fs::write(&path, webhooks()?).with_context(|| format!("writing {}", path.display()))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
