//! The two webhook configurations: whom they trust.
//!
//! Only `caBundle` is written, under a manager of its own: whoever applies the rest from Git neither sees a difference nor
//! takes it away. By a patch, and not by a server-side apply: that would own the entry of each hook as well, and a version of
//! ours with a hook less could not be applied by a server-side apply any more.

use std::fmt::Debug;

use anyhow::{Context, Result};
use eno_shared::names::HOOK_DOMAIN;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use kube::api::{Patch, PatchParams};
use kube::core::{ClusterResourceScope, ObjectMeta, Resource};
use kube::{Api, Client};
use serde::de::DeserializeOwned;
use serde_json::json;
use tracing::info;

use super::secret::MANAGER;
use super::stored::Stored;

/// Both configurations, which have one name.
pub(super) struct Configurations {
    validating: Api<ValidatingWebhookConfiguration>,
    mutating: Api<MutatingWebhookConfiguration>,
    name: String,
}

/// What the API server knows. It calls nobody where there is no configuration: then there is nothing to know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// All hooks trust the bundle, and nobody else.
    pub(super) bundle: bool,
    /// All hooks trust whoever has signed the certificate.
    pub(super) signer: bool,
    /// How many configurations were written for that.
    pub(super) written: usize,
}

impl Configurations {
    pub(super) fn new(client: Client, name: &str) -> Self {
        Configurations { validating: Api::all(client.clone()), mutating: Api::all(client), name: name.to_owned() }
    }

    /// Looks whom both trust, and writes the bundle where that is to be done.
    pub(super) async fn look(&self, stored: &Stored, write: bool) -> Result<Known> {
        let validating = look(&self.validating, &self.name, stored, write).await?;
        let mutating = look(&self.mutating, &self.name, stored, write).await?;
        Ok(Known {
            bundle: validating.bundle && mutating.bundle,
            signer: validating.signer && mutating.signer,
            written: validating.written + mutating.written,
        })
    }
}

async fn look<K: Configuration>(api: &Api<K>, name: &str, stored: &Stored, write: bool) -> Result<Known> {
    let kind = K::kind(&());
    let read = api.get_opt(name).await.with_context(|| format!("cannot read the {kind} {name}"))?;
    let Some(configuration) = read else { return Ok(Known { bundle: true, signer: true, written: 0 }) };
    let bundle = stored.bundle();
    let mut ours = configuration.hooks();
    ours.retain(|(hook, _)| hook.ends_with(HOOK_DOMAIN));
    if ours.iter().all(|(_, trusted)| *trusted == bundle.as_bytes()) {
        return Ok(Known { bundle: true, signer: true, written: 0 });
    }
    if !write {
        let signer = stored.signer().is_some_and(|signer| ours.iter().all(|(_, trusted)| signer.is_in(trusted)));
        return Ok(Known { bundle: false, signer, written: 0 });
    }
    let patch = patch(configuration.meta(), configuration.hooks(), &bundle)?;
    let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    match api.patch_metadata(name, &params, &Patch::Json::<()>(patch)).await {
        Ok(_) => {
            info!(%kind, name, authorities = stored.authorities.len(), "wrote caBundle");
            Ok(Known { bundle: true, signer: true, written: 1 })
        }
        // It has changed since: its watch says so.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => {
            Ok(Known { bundle: false, signer: false, written: 0 })
        }
        Err(error) => Err(error).with_context(|| format!("cannot write caBundle of the {kind} {name}")),
    }
}

/// Of the configuration that was read, and of no other.
fn patch(metadata: &ObjectMeta, hooks: Vec<(&str, &[u8])>, bundle: &str) -> serde_json::Result<json_patch::Patch> {
    let guards = [("uid", &metadata.uid), ("resourceVersion", &metadata.resource_version)]
        .map(|(field, value)| json!({"op": "test", "path": format!("/metadata/{field}"), "value": value}));
    let encoded = ByteString(bundle.as_bytes().to_vec());
    let ours = hooks.iter().enumerate().filter(|(_, (hook, _))| hook.ends_with(HOOK_DOMAIN));
    let bundles = ours.map(
        |(index, _)| json!({"op": "add", "path": format!("/webhooks/{index}/clientConfig/caBundle"), "value": encoded}),
    );
    serde_json::from_value(guards.into_iter().chain(bundles).collect())
}

/// What both kinds have.
trait Configuration: Resource<DynamicType = (), Scope = ClusterResourceScope> + Clone + Debug + DeserializeOwned {
    /// The hooks, each with whom it trusts (PEM).
    fn hooks(&self) -> Vec<(&str, &[u8])>;
}

impl Configuration for ValidatingWebhookConfiguration {
    fn hooks(&self) -> Vec<(&str, &[u8])> {
        let hooks = self.webhooks.iter().flatten();
        hooks.map(|hook| (hook.name.as_str(), trusted(&hook.client_config))).collect()
    }
}

impl Configuration for MutatingWebhookConfiguration {
    fn hooks(&self) -> Vec<(&str, &[u8])> {
        let hooks = self.webhooks.iter().flatten();
        hooks.map(|hook| (hook.name.as_str(), trusted(&hook.client_config))).collect()
    }
}

fn trusted(client: &WebhookClientConfig) -> &[u8] {
    client.ca_bundle.as_ref().map_or(&[], |bundle| &bundle.0)
}
