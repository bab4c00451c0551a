//! A ground for a story about the webhook: a guarded namespace in which nobody else works.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::ENO_API_VERSION;
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use super::{Webhook, WebhookOptions};
use crate::cluster::{Cluster, Output};
use crate::crds;
use crate::eventually::eventually;
use crate::fixtures::{self, config_map, reconciled_composition, reconciled_states, reconciled_synthesis};
use crate::namespace::Namespace;

/// How long a new right may take to hold.
const GRANTED: Duration = Duration::from_secs(30);

/// kubectl's name of slices: DRA has a kind of the same name.
const SLICES: &str = "resourceslices.eno.azure.io";

/// A namespace with Eno's kinds, guarded by a webhook. Dropping it removes both.
pub struct Guarded {
    // Dropped in this order.
    webhook: Option<Webhook>,
    namespace: Namespace,
    cluster: Cluster,
}

impl Guarded {
    /// On the shared control plane, in a namespace whose name begins with `hint`.
    ///
    /// # Errors
    /// The webhook does not start.
    pub async fn new(hint: &str) -> Result<Self> {
        let mut ground = Self::unguarded(hint).await?;
        ground.guard(&[]).await?;
        Ok(ground)
    }

    /// The same without a webhook, until [`Guarded::guard`].
    ///
    /// # Errors
    /// The server refuses the namespace.
    pub async fn unguarded(hint: &str) -> Result<Self> {
        Self::on(Cluster::connect().await, hint).await
    }

    /// The same on this control plane.
    ///
    /// # Errors
    /// As for [`Guarded::unguarded`].
    pub async fn on(cluster: Cluster, hint: &str) -> Result<Self> {
        crds::install(&cluster).await?;
        let namespace = Namespace::new(&cluster, hint).await?;
        Ok(Self { webhook: None, namespace, cluster })
    }

    /// Starts the webhook, with these flags.
    ///
    /// # Errors
    /// As for [`Webhook::start`].
    pub async fn guard(&mut self, flags: &[&str]) -> Result<()> {
        let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        self.guard_with(WebhookOptions { flags, ..WebhookOptions::default() }).await
    }

    /// Starts the webhook, for this namespace whatever the options say.
    ///
    /// # Errors
    /// As for [`Webhook::start`].
    pub async fn guard_with(&mut self, options: WebhookOptions) -> Result<()> {
        let namespace = self.name().to_owned();
        self.webhook = Some(Webhook::start(&self.cluster, WebhookOptions { namespace, ..options }).await?);
        Ok(())
    }

    /// The control plane.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The namespace.
    pub fn name(&self) -> &str {
        self.namespace.name()
    }

    /// The webhook.
    ///
    /// # Panics
    /// There is none.
    pub fn webhook(&mut self) -> &mut Webhook {
        self.webhook.as_mut().expect("the test has started the webhook")
    }

    /// Runs kubectl in the namespace.
    ///
    /// # Errors
    /// It cannot be run; its own failure is in the output.
    pub async fn kubectl(&self, args: &[&str]) -> Result<Output> {
        self.kubectl_with(args, "").await
    }

    /// The same with an object on its standard input.
    ///
    /// # Errors
    /// As for [`Guarded::kubectl`].
    pub async fn kubectl_with(&self, args: &[&str], input: &str) -> Result<Output> {
        self.cluster.kubectl_with(&[&["--namespace", self.name()], args].concat(), input).await
    }

    /// Gives a user these rights in its namespace, and waits until they hold.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn grant(&self, user: &str, verbs: &str, resource: &str) -> Result<()> {
        let role = format!("{user}-{}-{resource}", verbs.replace(',', "-"));
        let (verbs_flag, resource_flag) = (format!("--verb={verbs}"), format!("--resource={resource}"));
        self.kubectl(&["create", "role", &role, &verbs_flag, &resource_flag]).await?.success()?;
        let (role_flag, user_flag) = (format!("--role={role}"), format!("--user={user}"));
        self.kubectl(&["create", "rolebinding", &role, &role_flag, &user_flag]).await?.success()?;
        let who = format!("--as={user}");
        eventually("the right to hold", GRANTED, async || {
            for verb in verbs.split(',') {
                self.kubectl(&["auth", "can-i", verb, resource, &who]).await?.success()?;
            }
            Ok(())
        })
        .await
    }

    /// `kubectl delete` of a slice.
    ///
    /// # Errors
    /// As for [`Guarded::kubectl`].
    pub async fn delete_slice(&self, name: &str, flags: &[&str]) -> Result<Output> {
        self.kubectl(&[&["delete", SLICES, name, "--wait=false"], flags].concat()).await
    }

    /// `kubectl patch` of a slice.
    ///
    /// # Errors
    /// As for [`Guarded::kubectl`].
    pub async fn patch_slice(&self, name: &str, kind: &str, patch: &Value) -> Result<Output> {
        self.kubectl(&["patch", SLICES, name, "--type", kind, "--patch", &patch.to_string()]).await
    }

    /// A live composition with one slice `NAME-0` of so many resources, current and reconciled. Returns the composition.
    ///
    /// # Errors
    /// The server refuses one of them.
    pub async fn live(&self, name: &str, resources: usize) -> Result<DynamicObject> {
        reconciled_composition(&self.cluster, self.name(), name, self.name(), resources).await
    }

    /// The same with a synthesizer, which goes with the namespace; Eno has seen both as they are. A new synthesis can be
    /// asked for.
    ///
    /// # Errors
    /// As for [`Guarded::live`].
    pub async fn synthesized(&self, name: &str) -> Result<DynamicObject> {
        let home = self.cluster.api("v1", "Namespace", None).get(self.name()).await?;
        let owner = json!({"apiVersion": "v1", "kind": "Namespace", "name": self.name(), "uid": home.uid()});
        let metadata = json!({"name": self.name(), "ownerReferences": [owner]});
        let synthesizer =
            json!({"apiVersion": ENO_API_VERSION, "kind": "Synthesizer", "metadata": metadata, "spec": {}});
        let synthesizer = self.cluster.apply(&synthesizer).await?;
        self.live(name, 1).await?;
        let uses = Patch::Merge(json!({"spec": {"synthesizer": {"name": self.name()}}}));
        let composition =
            self.cluster.eno("Composition", self.name()).patch(name, &PatchParams::default(), &uses).await?;
        let seen = json!({
            "observedCompositionGeneration": composition.metadata.generation,
            "observedSynthesizerGeneration": synthesizer.metadata.generation,
        });
        self.set_status("Composition", name, &json!({"currentSynthesis": seen})).await
    }

    /// The same as [`Guarded::live`], being deleted; Eno has not seen that yet.
    ///
    /// # Errors
    /// As for [`Guarded::live`].
    pub async fn deleting(&self, name: &str, resources: usize) -> Result<DynamicObject> {
        let live = self.live(name, resources).await?;
        let compositions = self.cluster.eno("Composition", self.name());
        compositions.delete(name, &DeleteParams::background()).await?;
        let deleting = compositions.get(name).await?;
        ensure!(deleting.metadata.deletion_timestamp.is_some(), "{name} has no finalizer");
        ensure!(deleting.metadata.generation > live.metadata.generation, "a deletion raises the generation");
        Ok(deleting)
    }

    /// The same once Eno has deleted the resources and said so.
    ///
    /// # Errors
    /// As for [`Guarded::live`].
    pub async fn finished(&self, name: &str, resources: usize) -> Result<DynamicObject> {
        let deleting = self.deleting(name, resources).await?;
        self.states(&format!("{name}-0"), &reconciled_states(resources, true)).await?;
        self.reconcile(&deleting).await
    }

    /// Says of a composition that Eno has reconciled its present generation.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn reconcile(&self, composition: &DynamicObject) -> Result<DynamicObject> {
        let name = composition.name_any();
        let current = &composition.data["status"]["currentSynthesis"];
        let uuid = current["uuid"].as_str().context("it was never synthesized")?;
        let current = reconciled_synthesis(uuid, composition.metadata.generation, &[&format!("{name}-0")]);
        self.set_status("Composition", &name, &json!({"currentSynthesis": current})).await
    }

    /// Writes the states of a slice.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn states(&self, slice: &str, states: &Value) -> Result<DynamicObject> {
        self.set_status("ResourceSlice", slice, states).await
    }

    /// Writes a status.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn set_status(&self, kind: &str, name: &str, status: &Value) -> Result<DynamicObject> {
        let metadata = json!({"name": name, "namespace": self.name()});
        self.cluster
            .set_status(&json!({"apiVersion": ENO_API_VERSION, "kind": kind, "metadata": metadata}), status)
            .await
    }

    /// A slice of the composition that no synthesis lists: garbage. Returns it.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn garbage(&self, owner: &DynamicObject, name: &str) -> Result<DynamicObject> {
        let manifest = config_map(self.name(), name, 0);
        self.cluster.apply(&fixtures::slice(owner, name, "an-old-synthesis", &[manifest])).await
    }

    /// A slice as it is.
    ///
    /// # Errors
    /// It does not exist.
    pub async fn slice(&self, name: &str) -> Result<DynamicObject> {
        Ok(self.cluster.eno("ResourceSlice", self.name()).get(name).await?)
    }

    /// Checks that a slice is exactly as it was: nothing was written to it.
    ///
    /// # Errors
    /// It is gone, or was changed.
    pub async fn unchanged(&self, was: &DynamicObject) -> Result<()> {
        let is = self.slice(&was.name_any()).await?;
        ensure!(is.metadata.uid == was.metadata.uid, "{} was replaced", was.name_any());
        ensure!(is == *was, "{} was changed: {is:?}", was.name_any());
        Ok(())
    }
}
