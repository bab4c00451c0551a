//! The CRDs of others, out of their Go modules: nothing of theirs is kept here but a version and a sum.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition as Condition,
};
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::process;

/// Somebody else's module with CRDs.
#[derive(Debug, Clone, Copy)]
pub enum Module {
    /// Issuers and Certificates.
    CertManager,
    /// ServiceMonitors and PrometheusRules.
    PrometheusOperator,
}

impl Module {
    fn version(self) -> &'static str {
        match self {
            Self::CertManager => "github.com/cert-manager/cert-manager@v1.21.2",
            Self::PrometheusOperator => "github.com/prometheus-operator/prometheus-operator@v0.85.0",
        }
    }

    /// As in a go.sum.
    fn sum(self) -> &'static str {
        match self {
            Self::CertManager => "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
            Self::PrometheusOperator => "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
        }
    }

    fn files(self) -> &'static [&'static str] {
        match self {
            Self::CertManager => {
                &["deploy/crds/cert-manager.io_certificates.yaml", "deploy/crds/cert-manager.io_issuers.yaml"]
            }
            Self::PrometheusOperator => &[
                "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
                "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
            ],
        }
    }

    /// Downloads it into Go's cache, unless it is there, and returns its CRDs.
    ///
    /// # Errors
    /// There is no Go, or no module proxy, or the module is not what it was.
    pub fn crds(self) -> Result<Vec<PathBuf>> {
        let mut go = Command::new("go");
        // Outside of any module: only this one is looked at, not what it needs.
        go.args(["mod", "download", "-json", self.version()]).current_dir(std::env::temp_dir());
        go.env("GOWORK", "off").env("GOFLAGS", "-mod=mod");
        // The proxy is not to be reached from the network of a story.
        let output = process::output(go).context("running go (install Go)")?;
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "go mod download: {said}{}", String::from_utf8_lossy(&output.stderr));
        let module: Value = serde_json::from_str(&said)?;
        ensure!(module["Sum"] == self.sum(), "{} has the sum {}", self.version(), module["Sum"]);
        let dir = Path::new(module["Dir"].as_str().context("go mod download names no folder")?);
        Ok(self.files().iter().map(|file| dir.join(file)).collect())
    }

    /// Installs its CRDs, and waits until they are served.
    ///
    /// # Errors
    /// As for [`Module::crds`], or the server refuses them.
    pub async fn install(self, cluster: &Cluster) -> Result<()> {
        let api: Api<CustomResourceDefinition> = Api::all(cluster.client());
        for path in self.crds()? {
            let crd: CustomResourceDefinition = serde_saphyr::from_str(&std::fs::read_to_string(&path)?)?;
            let name = crd.metadata.name.clone().context("a CRD without a name")?;
            api.patch(&name, &PatchParams::apply("eno-tests").force(), &Patch::Apply(&crd)).await?;
            eventually(&format!("{name} to be served"), Duration::from_secs(30), async || {
                let status = api.get(&name).await?.status.unwrap_or_default();
                let established =
                    |condition: &Condition| condition.type_ == "Established" && condition.status == "True";
                ensure!(status.conditions.iter().flatten().any(established), "it is not established");
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}
