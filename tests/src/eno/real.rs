//! The real Eno: its processes, and the objects that make it synthesize.

use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result};
use eno_shared::names::ENO_API_VERSION;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::kubelet;
use crate::cluster::Cluster;
use crate::netns;
use crate::process::Process;
use crate::standin::Parts;

/// The namespace of the synthesis pods.
const PODS: &str = "default";

/// What the synthesizer runs: prints `PER` ConfigMaps named after the composition.
const SCRIPT: &str = r#"
items=; i=0
while [ "$i" -lt "$PER" ]; do
  items="$items${items:+,}{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"$NAME-$i\",\"namespace\":\"$TARGET\",\"labels\":{\"composition\":\"$NAME\"}}}"
  i=$((i + 1))
done
printf '{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":[%s]}' "$items"
"#;

/// `eno-controller`, `eno-reconciler`, and a stand-in kubelet that runs Eno's executor.
#[derive(Debug)]
pub struct Real {
    // Dropped in this order: the processes before the folder of their logs.
    _kubelet: JoinSet<()>,
    _processes: Vec<Process>,
    _dir: TempDir,
}

impl Real {
    /// Starts them on the whole cluster, inside a network namespace where one is named.
    ///
    /// # Errors
    /// A binary is not there.
    pub fn start(cluster: &Cluster, netns: Option<&str>, bin_dir: &Path, parts: Parts) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("real-eno-").tempdir()?;
        let start = |name: &str, flags: &[&str]| -> Result<Process> {
            let mut command = netns::command(netns, &bin_dir.join(name));
            command.args(["--health-probe-addr=127.0.0.1:0", "--metrics-addr=0", "--debug=false", "--qps=200"]);
            command.args(flags).env("KUBECONFIG", cluster.kubeconfig()).env("POD_NAMESPACE", PODS);
            Process::spawn(name, &command, &dir.path().join(format!("{name}.log")))
        };
        let mut processes = vec![];
        let mut kubelet = JoinSet::new();
        if parts.cleanup || parts.composition || parts.aggregation {
            let pods = format!("--synthesizer-pod-namespace={PODS}");
            let flags = ["--burst=200", "--executor-image=none", &pods, "--concurrency-limit=20"];
            let patience = ["--container-creation-ttl=60s", "--pod-timeout=120s"];
            processes.push(start("eno-controller", &[&flags[..], &patience].concat())?);
            // The binary is Eno's executor when it is called so.
            let executor = dir.path().join("executor");
            symlink(bin_dir.canonicalize()?.join("eno-controller"), &executor).context("linking the executor")?;
            kubelet.spawn(kubelet::run(cluster.clone(), netns.map(str::to_owned), PODS, executor));
        }
        if parts.reconciler {
            processes.push(start("eno-reconciler", &[])?);
        }
        Ok(Self { _kubelet: kubelet, _processes: processes, _dir: dir })
    }
}

/// A synthesizer for compositions by [`composition`].
pub fn synthesizer(name: &str) -> Value {
    json!({
        "apiVersion": ENO_API_VERSION, "kind": "Synthesizer", "metadata": {"name": name},
        "spec": {"image": "none", "command": ["sh", "-c", SCRIPT]},
    })
}

/// A composition of that many ConfigMaps in the namespace `targets`.
pub fn composition(namespace: &str, name: &str, synthesizer: &str, targets: &str, resources: usize) -> Value {
    let variables = [("NAME", name.to_owned()), ("TARGET", targets.to_owned()), ("PER", resources.to_string())];
    json!({
        "apiVersion": ENO_API_VERSION, "kind": "Composition", "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "synthesizer": {"name": synthesizer},
            "synthesisEnv": variables.map(|(name, value)| json!({"name": name, "value": value})),
        },
    })
}
