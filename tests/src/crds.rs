//! The CRDs of Eno as the tests install them: the project's own, with the fields it reads and room for the rest.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::ENO_API_VERSION;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};

use crate::cluster::Cluster;
use crate::eventually::eventually;

/// Each CRD, in YAML.
pub const SOURCES: [&str; 4] = [
    include_str!("../crds/compositions.yaml"),
    include_str!("../crds/resourceslices.yaml"),
    include_str!("../crds/symphonies.yaml"),
    include_str!("../crds/synthesizers.yaml"),
];

/// Reads a CRD.
///
/// # Errors
/// It is not one.
pub fn parse(yaml: &str) -> Result<CustomResourceDefinition> {
    serde_saphyr::from_str(yaml).context("reading a CRD")
}

/// Installs them and waits until their objects can be listed. Tests may do so at the same time.
///
/// # Errors
/// The server refuses them, or does not serve them in time.
pub async fn install(cluster: &Cluster) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client());
    let crds = SOURCES.iter().map(|yaml| parse(yaml)).collect::<Result<Vec<_>>>()?;
    for crd in &crds {
        let params = PatchParams::apply("eno-tests").force();
        api.patch(&crd.name_any(), &params, &Patch::Apply(crd)).await?;
    }
    eventually("Eno's kinds to be served", Duration::from_secs(30), async || {
        let served = cluster.client().list_api_group_resources(ENO_API_VERSION).await?;
        for crd in &crds {
            let names = &crd.spec.names;
            ensure!(served.resources.iter().any(|r| r.name == names.plural), "{} is not discoverable", names.plural);
            let objects: Api<DynamicObject> = cluster.api(ENO_API_VERSION, &names.kind, None);
            objects.list(&ListParams::default().limit(1)).await?;
        }
        Ok(())
    })
    .await
}
