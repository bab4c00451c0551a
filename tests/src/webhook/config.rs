//! The configurations of a webhook under test: what it prints itself, under a name of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{HOOK_DOMAIN, WEBHOOK_NAME};
use k8s_openapi::api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use kube::Api;
use kube::api::{DeleteParams, ListParams};
use serde_json::{Value, json};

use super::WebhookOptions;
use crate::cluster::Cluster;
use crate::namespace::NAMESPACE_LABEL;
use crate::netns;

/// Both configurations, in the API server. Dropping it removes them.
#[derive(Debug)]
pub(super) struct Configs {
    kubeconfig: PathBuf,
    namespace: String,
}

impl Configs {
    /// Applies what the webhook that listens at `url` prints.
    pub(super) async fn apply(cluster: &Cluster, options: &WebhookOptions, url: &str, ca: &Path) -> Result<Self> {
        let namespace = &options.namespace;
        let mut print = Command::new(super::binary(options.profile)?);
        print.args(["print-config", "--name", &format!("{WEBHOOK_NAME}-{namespace}"), "--ca-file"]).arg(ca);
        print.args(["--namespace-selector", &format!("kubernetes.io/metadata.name={namespace}")]);
        if options.netns.is_some() {
            let port = url.rsplit(':').next().context("no port in its URL")?.parse()?;
            for object in service(namespace, port) {
                cluster.apply(&object).await?;
            }
            print.args(["--service", &format!("{namespace}/{WEBHOOK_NAME}")]);
        } else {
            print.args(["--url", url]);
        }
        let list = configs(&printed(&mut print)?, options)?;
        let configs = Self { kubeconfig: cluster.kubeconfig().to_owned(), namespace: namespace.clone() };
        cluster.kubectl_with(&["apply", "-f", "-"], &list.to_string()).await?.success()?;
        Ok(configs)
    }
}

impl Drop for Configs {
    fn drop(&mut self) {
        // The caller's runtime may stand still while this waits.
        let (kubeconfig, namespace) = (self.kubeconfig.clone(), self.namespace.clone());
        let removal = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(remove(&kubeconfig, &namespace))
        });
        match removal.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => eprintln!("removing the webhook configurations of {}: {error:#}", self.namespace),
            Err(_) => eprintln!("removing the webhook configurations of {} panicked", self.namespace),
        }
    }
}

async fn remove(kubeconfig: &Path, namespace: &str) -> Result<()> {
    let client = crate::controlplane::client(kubeconfig).await?;
    let labelled = ListParams::default().labels(&format!("{NAMESPACE_LABEL}={namespace}"));
    let at_once = DeleteParams::default();
    Api::<ValidatingWebhookConfiguration>::all(client.clone()).delete_collection(&at_once, &labelled).await?;
    Api::<MutatingWebhookConfiguration>::all(client).delete_collection(&at_once, &labelled).await?;
    Ok(())
}

fn printed(print: &mut Command) -> Result<String> {
    let output = print.output().context("running eno-webhook print-config")?;
    ensure!(output.status.success(), "eno-webhook print-config: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// A list of the configurations, labelled. The hook on CRDs is left out where it is not asked for: it would answer to the
/// tests of others.
fn configs(yaml: &str, options: &WebhookOptions) -> Result<Value> {
    let mut items: Vec<Value> = serde_saphyr::from_multiple(yaml).context("reading what print-config printed")?;
    let of_definitions = format!("definitions-delete.{HOOK_DOMAIN}");
    for item in &mut items {
        item["metadata"]["labels"][NAMESPACE_LABEL] = json!(options.namespace);
        let hooks = item["webhooks"].as_array_mut().context("a configuration without hooks")?;
        hooks.retain(|hook| options.definitions || hook["name"] != of_definitions);
    }
    Ok(json!({"apiVersion": "v1", "kind": "List", "items": items}))
}

/// The Service of a webhook in a network namespace, and the only endpoint behind it.
fn service(namespace: &str, port: u16) -> [Value; 2] {
    let labels = json!({"kubernetes.io/service-name": WEBHOOK_NAME});
    let metadata = json!({"name": WEBHOOK_NAME, "namespace": namespace, "labels": labels});
    [
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {"ports": [{"port": 443, "targetPort": port}]},
        }),
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata, "addressType": "IPv4",
            "endpoints": [{"addresses": [netns::ADDRESS], "conditions": {"ready": true}}],
            "ports": [{"port": port, "protocol": "TCP", "name": ""}],
        }),
    ]
}
