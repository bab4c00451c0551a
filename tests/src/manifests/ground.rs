//! A control plane of a story's own, in a network of its own, to install the manifests on.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::replica::{Place, Replica};
use super::{Manifests, list, text};
use crate::cluster::{Cluster, Output};
use crate::controlplane::{AUDIT_LOG, ControlPlane, Options};
use crate::crds;
use crate::eventually::eventually;
use crate::fixtures::reconciled_composition;
use crate::netns::{self, Netns};
use crate::webhook::answer::denial;

/// How many control planes run at once: more would only make each other late.
static ROOM: Semaphore = Semaphore::const_new(2);
/// How long until the API server calls what was installed.
const CALLED: Duration = Duration::from_secs(60);
/// kubectl's name of slices: DRA has a kind of the same name.
const SLICES: &str = "resourceslices.eno.azure.io";

/// The ground of a story.
pub struct Ground {
    // Dropped in this order.
    cluster: Cluster,
    controlplane: ControlPlane,
    netns: String,
}

/// Tells a story on a control plane with Eno's kinds, where nothing of ours is installed. All of it is gone afterwards.
///
/// # Errors
/// The control plane does not start, or the story fails.
pub async fn on_a_new_cluster<S, F>(story: S) -> Result<()>
where
    S: FnOnce(Ground) -> F + Send + 'static,
    F: Future<Output = Result<()>>,
{
    let _room = ROOM.acquire().await?;
    let network = Netns::new()?;
    let dir = tempfile::Builder::new().prefix("eno-install-").tempdir()?;
    let (folder, netns) = (dir.path().join("controlplane"), network.name().to_owned());
    let options = Options {
        audit: Some(folder.join(AUDIT_LOG)),
        dir: Some(folder),
        netns: Some(netns.clone()),
        fairness: true,
        ..Options::default()
    };
    let controlplane = ControlPlane::start(options).await?;
    netns::within(Some(network.name()), move || async move {
        let cluster = Cluster::of(&controlplane).await?;
        crds::install(&cluster).await?;
        story(Ground { cluster, controlplane, netns }).await
    })
    .await
}

impl Ground {
    /// The control plane, as its clients see it.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Its processes.
    pub fn controlplane(&mut self) -> &mut ControlPlane {
        &mut self.controlplane
    }

    /// The folder of the control plane.
    pub fn dir(&self) -> &Path {
        self.controlplane.dir()
    }

    /// Where etcd answers, within the network namespace.
    pub fn etcd_url(&self) -> String {
        self.controlplane.etcd_url()
    }

    /// Where replicas run.
    pub fn place(&self) -> Place {
        let (server, ca) = (self.controlplane.server().to_owned(), self.dir().join("ca.crt"));
        Place { cluster: self.cluster.clone(), server, ca, netns: self.netns.clone() }
    }

    /// Runs kubectl.
    ///
    /// # Errors
    /// It cannot be run; its own failure is in the output.
    pub async fn kubectl(&self, args: &[&str]) -> Result<Output> {
        self.cluster.kubectl(args).await
    }

    /// Renders a kustomization.
    ///
    /// # Errors
    /// kustomize refuses it.
    pub fn render(&self, dir: &Path) -> Result<Manifests> {
        Manifests::render(self.cluster.kubectl_path(), dir)
    }

    /// `kubectl apply -k`, with these flags. The API server must not warn of anything.
    ///
    /// # Errors
    /// kubectl fails, or shows a warning.
    pub async fn apply(&self, dir: &Path, flags: &[&str]) -> Result<Manifests> {
        let manifests = self.render(dir)?;
        let path = dir.display().to_string();
        let output = self.kubectl(&[&["apply", "-k", &path], flags].concat()).await?;
        ensure!(!output.stderr.contains("Warning"), "{}", output.stderr);
        output.success()?;
        Ok(manifests)
    }

    /// Starts a replica of what was applied, waits until it is ready, and makes it an endpoint of its Service.
    ///
    /// # Errors
    /// It does not start.
    pub async fn start(&self, manifests: &Manifests) -> Result<Replica> {
        let replica = self.start_unready(manifests, true).await?;
        replica.ready().await?;
        self.endpoint(manifests, "first", Some(&replica)).await?;
        Ok(replica)
    }

    /// Starts a replica, and no more; see [`Replica::start`] for `first`.
    ///
    /// # Errors
    /// It does not start.
    pub async fn start_unready(&self, manifests: &Manifests, first: bool) -> Result<Replica> {
        Replica::start(&self.place(), manifests, first).await
    }

    /// Writes what the controller of EndpointSlices would: this replica is behind the Service, or (`None`) is not any more.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn endpoint(&self, manifests: &Manifests, name: &str, replica: Option<&Replica>) -> Result<()> {
        endpoint(&self.cluster, manifests, name, replica.map(Replica::port)).await
    }

    /// Makes a composition that needs its slice `NAME-0`, in a namespace of its own if that does not exist.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn needed_slice(&self, namespace: &str, name: &str) -> Result<()> {
        self.cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await?;
        reconciled_composition(&self.cluster, namespace, name, namespace, 1).await?;
        Ok(())
    }

    /// `kubectl delete` of a slice.
    ///
    /// # Errors
    /// kubectl cannot be run; its own failure is in the output.
    pub async fn delete_slice(&self, namespace: &str, name: &str, flags: &[&str]) -> Result<Output> {
        let delete = ["delete", SLICES, name, "--namespace", namespace, "--wait=false"];
        self.kubectl(&[&delete[..], flags].concat()).await
    }

    /// Waits until the deletion of a slice that is needed is denied by the webhook, which is tried without an effect.
    ///
    /// # Errors
    /// It is not, in time.
    pub async fn guarded(&self, namespace: &str, slice: &str) -> Result<()> {
        eventually("the webhook to deny", CALLED, async || {
            let tried = self.delete_slice(namespace, slice, &["--dry-run=server"]).await?;
            let message = denial(&tried, "slices-delete")?;
            ensure!(message.contains("must stay (ReferencedByCurrent)"), "{message}");
            Ok(())
        })
        .await
    }

    /// `kubectl diff -k`: what would change, as kubectl shows it.
    ///
    /// # Errors
    /// kubectl fails for another reason than a difference.
    pub async fn diff(&self, dir: &Path, flags: &[&str]) -> Result<String> {
        let path = dir.display().to_string();
        let output = self.kubectl(&[&["diff", "-k", &path], flags].concat()).await?;
        ensure!(output.code <= 1 && output.stderr.is_empty(), "{}: {}", output.code, output.stderr);
        Ok(output.stdout)
    }
}

/// Writes what the controller of EndpointSlices would: a replica is behind the Service at this port of [`netns::ADDRESS`], or
/// (`None`) is not any more.
///
/// # Errors
/// The server refuses it.
pub async fn endpoint(cluster: &Cluster, manifests: &Manifests, name: &str, at: Option<u16>) -> Result<()> {
    let (service, deployment) = (manifests.only("Service")?, manifests.only("Deployment")?);
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    let selector = service["spec"]["selector"].as_object().context("no selector")?;
    ensure!(selector.iter().all(|(key, value)| labels[key] == *value), "the Service does not select the pods");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let mut ports = vec![];
    for port in list(service, "/spec/ports") {
        let target = text(port, "/targetPort")?;
        let found = list(container, "/ports").iter().find(|port| port["name"] == target);
        let of_container = &found.with_context(|| format!("the container has no port {target}"))?["containerPort"];
        let number = match at {
            Some(at) if target == "https" => json!(at),
            _ => of_container.clone(),
        };
        ports.push(json!({"name": port["name"], "port": number, "protocol": port["protocol"]}));
    }
    let endpoints: Vec<Value> = match at {
        Some(_) => vec![json!({"addresses": [netns::ADDRESS], "conditions": {"ready": true}})],
        None => vec![],
    };
    let (namespace, service) = (text(service, "/metadata/namespace")?, text(service, "/metadata/name")?);
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {
            "name": format!("{service}-{name}"), "namespace": namespace,
            "labels": {"kubernetes.io/service-name": service},
        },
        "endpoints": endpoints, "ports": ports,
    });
    cluster.apply(&slice).await?;
    Ok(())
}
