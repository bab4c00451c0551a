//! `eno-webhook uninstall`: removes what the manifests have installed, in an order in which nothing is ever locked up.
//!
//! What refuses requests goes first, while somebody still answers for it. From then on nothing of ours stands in the way of
//! the rest, whatever fails. Only what bears our labels is removed; Eno's objects are not touched.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args as Flags;
use kube::api::{ApiResource, DeleteParams, DynamicObject, ListParams, Preconditions};
use kube::{Api, Client, ResourceExt};
use tokio::time::{Instant, sleep};

use crate::args::duration;

/// What all objects of the manifests bear.
const SELECTOR: &str = "app.kubernetes.io/name=eno-webhook,app.kubernetes.io/part-of=kubectl-eno";
/// Pause between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(500);

/// Group, version, kind and plural, in the order in which they go. What is in our namespace goes with it.
const ORDER: [[&str; 4]; 9] = [
    ["admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"],
    ["admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"],
    ["admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"],
    ["admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies"],
    ["", "v1", "Namespace", "namespaces"],
    ["rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings"],
    ["rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles"],
    ["flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas"],
    ["flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations"],
];

/// Flags of `uninstall`.
#[derive(Debug, Flags)]
pub struct Uninstall {
    /// Kubeconfig of the cluster; without, the one that kubectl would use.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Only say what would be removed; the API server checks whether it may be.
    #[arg(long)]
    dry_run: bool,
    /// How long to wait until all is gone.
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    timeout: Duration,
}

impl Uninstall {
    /// Removes all, and waits until it is gone; says on `out` what it removed, as kubectl does.
    ///
    /// # Errors
    /// An object cannot be removed, or is not gone in time.
    pub async fn run(&self, client: &Client, out: &mut impl Write) -> Result<()> {
        let mut removed = 0;
        for kind in ORDER {
            removed += self.remove(client, kind, out).await?;
        }
        if removed == 0 {
            writeln!(out, "nothing is installed")?;
        }
        if self.dry_run { Ok(()) } else { self.gone(client).await }
    }

    async fn remove(&self, client: &Client, kind: [&str; 4], out: &mut impl Write) -> Result<usize> {
        let (api, shown) = (api(client, kind), shown(kind));
        let said = if self.dry_run { "deleted (server dry run)" } else { "deleted" };
        let objects = ours(&api).await.with_context(|| format!("cannot list {shown}"))?;
        for object in &objects {
            let name = object.name_any();
            let preconditions = Preconditions { uid: object.uid(), resource_version: None };
            let params = DeleteParams { dry_run: self.dry_run, ..DeleteParams::background() };
            match api.delete(&name, &params.preconditions(preconditions)).await {
                Ok(_) => writeln!(out, "{shown}/{name} {said}")?,
                Err(kube::Error::Api(status)) if status.is_not_found() => {}
                Err(error) => return Err(error).with_context(|| format!("cannot delete {shown}/{name}")),
            }
        }
        Ok(objects.len())
    }

    async fn gone(&self, client: &Client) -> Result<()> {
        let deadline = Instant::now() + self.timeout;
        for kind in ORDER {
            let api = api(client, kind);
            while let [left, ..] = ours(&api).await?.as_slice() {
                if Instant::now() >= deadline {
                    let (shown, name) = (shown(kind), left.name_any());
                    bail!(
                        "{shown}/{name} is still there after {:?}; see: kubectl get {shown} {name} -o yaml",
                        self.timeout
                    );
                }
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }
}

fn api(client: &Client, [group, version, kind, plural]: [&str; 4]) -> Api<DynamicObject> {
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let resource = ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version,
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    };
    Api::all_with(client.clone(), &resource)
}

/// As kubectl names it.
fn shown([group, _, kind, _]: [&str; 4]) -> String {
    let singular = kind.to_lowercase();
    if group.is_empty() { singular } else { format!("{singular}.{group}") }
}

/// Those with our labels; none where the API server does not know the kind.
async fn ours(api: &Api<DynamicObject>) -> kube::Result<Vec<DynamicObject>> {
    match api.list(&ListParams::default().labels(SELECTOR)).await {
        Ok(list) => Ok(list.items),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(vec![]),
        Err(error) => Err(error),
    }
}
