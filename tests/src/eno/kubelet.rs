//! A stand-in for the kubelet and the executor's image: runs Eno's executor on this machine for each synthesis pod.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::interval;

use crate::cluster::Cluster;
use crate::netns;

/// How often the pods are listed.
const PERIOD: Duration = Duration::from_millis(250);

/// Runs the synthesis pods of a namespace until it is dropped; their executors inside a network namespace, where one is named.
pub async fn run(cluster: Cluster, netns: Option<String>, namespace: &'static str, executor: PathBuf) {
    let pods: Api<Pod> = Api::namespaced(cluster.client(), namespace);
    let selector = ListParams::default().labels(&format!("{MANAGED_BY_LABEL}={MANAGED_BY_ENO}"));
    let mut seen = HashSet::new();
    let mut running = JoinSet::new();
    let mut period = interval(PERIOD);
    loop {
        period.tick().await;
        // Eno's controller makes a new pod where one fails, so a failure here only costs time.
        let Ok(list) = pods.list(&selector).await else { continue };
        for pod in list {
            if pod.metadata.deletion_timestamp.is_some() {
                let _ = pods.delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await;
            } else if pod.metadata.uid.as_ref().is_some_and(|uid| seen.insert(uid.clone())) {
                let (pods, kubeconfig) = (pods.clone(), cluster.kubeconfig().to_owned());
                let command = netns::command(netns.as_deref(), &executor);
                running.spawn(async move {
                    if let Err(error) = run_pod(&pods, &pod, command, &kubeconfig).await {
                        eprintln!("pod {}: {error:#}", pod.name_any());
                    }
                });
            }
        }
    }
}

async fn run_pod(pods: &Api<Pod>, pod: &Pod, executor: process::Command, kubeconfig: &Path) -> Result<()> {
    let container = pod.spec.as_ref().and_then(|spec| spec.containers.first()).context("it has no container")?;
    let started = Timestamp::now().strftime("%FT%TZ").to_string();
    let running = json!({"status": {"phase": "Running", "containerStatuses": [{
        "name": container.name, "image": "none", "imageID": "", "ready": true, "restartCount": 0,
        "state": {"running": {"startedAt": started}},
    }]}});
    pods.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(running)).await?;

    let variables =
        container.env.iter().flatten().filter_map(|variable| Some((&variable.name, variable.value.as_ref()?)));
    let mut command = Command::from(executor);
    command.envs(variables).env("KUBECONFIG", kubeconfig).stdin(Stdio::null()).kill_on_drop(true);
    command.output().await.context("running the executor")?;
    Ok(())
}
