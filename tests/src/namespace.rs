//! A namespace of a test's own, gone with the test.

use std::env;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use k8s_openapi::api::core::v1;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::cluster::Cluster;
use crate::eventually::eventually;

/// Label of a namespace: the test it was made for.
pub const TEST_LABEL: &str = "kubectl-eno.dev/test";
/// Label of a webhook configuration: the namespace of the test it serves. It is removed with the namespace.
pub const NAMESPACE_LABEL: &str = "kubectl-eno.dev/test-namespace";
/// Keeps the namespaces, to look at after a test.
const KEEP: &str = "ENO_TEST_KEEP";

/// How long the removal may take.
const REMOVAL: Duration = Duration::from_secs(30);

/// Eno's namespaced kinds: dependents first, so that none comes back.
const KINDS: [&str; 3] = ["Symphony", "Composition", "ResourceSlice"];

/// A namespace with a random name. Dropping it deletes it with all that is in it, finalizers or not, and the webhook
/// configurations labelled with it; with `ENO_TEST_KEEP=1` it stays.
pub struct Namespace {
    name: String,
    cluster: Cluster,
}

impl Namespace {
    /// Makes one whose name begins with `hint`.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn new(cluster: &Cluster, hint: &str) -> Result<Self> {
        let name = format!("{hint}-{:06x}", fastrand::u32(..1 << 24));
        let labels = json!({TEST_LABEL: label_value(thread::current().name().unwrap_or("main"))});
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
        cluster.apply(&object).await?;
        Ok(Self { name, cluster: cluster.clone() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if env::var_os(KEEP).is_some() {
            eprintln!("namespace {} is kept", self.name);
            return;
        }
        // The test's runtime may stand still while this waits, and with it the connections of the client.
        let (kubeconfig, name) = (self.cluster.kubeconfig().to_owned(), self.name.clone());
        let removal = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(remove(&kubeconfig, &name))
        });
        match removal.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => eprintln!("removing namespace {}: {error:#}", self.name),
            Err(_) => eprintln!("removing namespace {} panicked", self.name),
        }
    }
}

async fn remove(kubeconfig: &Path, name: &str) -> Result<()> {
    let cluster = Cluster::at(kubeconfig).await?;
    let client = cluster.client();
    let labelled = ListParams::default().labels(&format!("{NAMESPACE_LABEL}={name}"));
    let at_once = DeleteParams::default();
    Api::<ValidatingWebhookConfiguration>::all(client.clone()).delete_collection(&at_once, &labelled).await?;
    Api::<MutatingWebhookConfiguration>::all(client.clone()).delete_collection(&at_once, &labelled).await?;
    let namespaces = Api::<v1::Namespace>::all(client);
    if let Err(kube::Error::Api(status)) = namespaces.delete(name, &at_once).await {
        ensure!(status.code == 404, "{}", status.message);
    }
    // The API server takes a moment to forget a webhook, so a first try may be denied.
    eventually("Eno's objects to be gone", REMOVAL, async || {
        for kind in KINDS {
            remove_all(&cluster, kind, name).await?;
        }
        Ok(())
    })
    .await
}

/// Deletes all objects of a kind, and takes their finalizers; an error while some are left.
async fn remove_all(cluster: &Cluster, kind: &str, namespace: &str) -> Result<()> {
    let api = cluster.eno(kind, namespace);
    let objects = match api.list_metadata(&ListParams::default()).await {
        Ok(objects) => objects.items,
        // The CRDs are not installed, so there are none.
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if objects.is_empty() {
        return Ok(());
    }
    // The namespace controller was perhaps denied it, and comes again only after seconds.
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    for object in &objects {
        let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        let gone = |error: &kube::Error| matches!(error, kube::Error::Api(status) if status.code == 404);
        match api.patch_metadata(&object.name_any(), &PatchParams::default(), &patch).await {
            Ok(_) => {}
            Err(error) if gone(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!("{} left of kind {kind}", objects.len())
}

/// The name of a test as a label value: at most 63 of letters, digits, `-`, `_` and `.`, a letter or digit at each end.
fn label_value(test: &str) -> String {
    let text = test.replace("::", ".").replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c), "-");
    text[text.len().saturating_sub(63)..].trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}
