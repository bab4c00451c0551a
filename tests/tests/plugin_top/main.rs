//! `kubectl eno top` on a terminal, driven by keys: what it shows, and what its keys do to the cluster.

mod act;
mod plain;
mod show;
mod survive;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL, POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};
use eno_tests::eventually::eventually;
use eno_tests::plugin;
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use serde_json::json;
use tokio::process::Command;

const LIMIT: Duration = Duration::from_secs(30);

/// `kubectl eno top` in the namespace of the ground; what waits is stuck at once.
fn command(ground: &Guarded, kubeconfig: &Path, args: &[&str]) -> Result<Command> {
    let all = [&["top", "-n", ground.name(), "--stuck-after=0s"], args].concat();
    plugin::command(ground.cluster(), kubeconfig, &all)
}

fn top(ground: &Guarded, args: &[&str], rows: u16, columns: u16) -> Result<Terminal> {
    Terminal::open_sized(command(ground, ground.cluster().kubeconfig(), args)?, rows, columns)
}

/// Shows the slices, those alone whose row has these words.
async fn find_slice(terminal: &mut Terminal, words: &str) -> Result<()> {
    terminal.screen_is("the first picture", |screen| screen.contains("q quit")).await?;
    terminal.type_in(&format!("2/{words}\r"))?;
    terminal.screen_is(words, |screen| chosen(screen).contains(words)).await
}

/// Makes the pod `synthesis` of a composition's synthesizer, where Eno runs; its synthesis is not the current one.
async fn synthesize(ground: &Guarded, composition: &str, eno: &Guarded, node: Option<&str>) -> Result<()> {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "synthesis", "namespace": eno.name(), "labels": {
            MANAGED_BY_LABEL: MANAGED_BY_ENO, POD_COMPOSITION: composition, POD_COMPOSITION_NAMESPACE: ground.name(),
            "eno.azure.io/synthesis-uuid": "old",
        }},
        "spec": {
            "containers": [{"name": "executor", "image": "none"}], "automountServiceAccountToken": false,
            "nodeName": node,
        },
    });
    // The service account of a new namespace takes a moment.
    eventually("the pod to be made", LIMIT, async || eno.cluster().apply(&pod).await.map(drop)).await
}

/// The row under the cursor.
fn chosen(screen: &str) -> &str {
    screen.lines().find(|line| line.starts_with('>')).unwrap_or_default()
}

async fn exists(ground: &Guarded, name: &str) -> Result<bool> {
    Ok(ground.cluster().eno("ResourceSlice", ground.name()).get_metadata_opt(name).await?.is_some())
}
