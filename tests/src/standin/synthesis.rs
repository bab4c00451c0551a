//! A synthesis in steps, as Eno's scheduler and executor write it, so that a test can make it a slow one
//! (`scheduling/op.go:168-215`, `execution/executor.go:218-318`, `resource/slicing.go:56-87`).

use anyhow::{Context, Result};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION};
use jiff::Timestamp;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};

use super::controller::api;

/// A synthesis in flight: begun, its slices written one by one, and then made current.
pub struct Synthesis {
    compositions: Api<DynamicObject>,
    slices: Api<DynamicObject>,
    composition: String,
    uuid: String,
    written: Vec<String>,
}

impl Synthesis {
    /// Dispatches it: sets `inFlightSynthesis` of the composition.
    ///
    /// # Errors
    /// The composition is not there, or may not be written.
    pub async fn begin(client: &Client, namespace: &str, composition: &str) -> Result<Self> {
        let compositions = api(client, namespace, "Composition");
        let seen = compositions.get(composition).await?;
        let uuid = random_uuid();
        let in_flight = json!({
            "uuid": uuid, "initialized": now(), "observedCompositionGeneration": seen.metadata.generation, "attempts": 1,
        });
        let patch = Patch::Merge(json!({"status": {"inFlightSynthesis": in_flight}}));
        compositions.patch_status(composition, &PatchParams::default(), &patch).await?;
        let slices = api(client, namespace, "ResourceSlice");
        Ok(Self { compositions, slices, composition: composition.to_owned(), uuid, written: vec![] })
    }

    /// Its uuid.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    /// The names of the slices written so far.
    pub fn written(&self) -> &[String] {
        &self.written
    }

    /// Writes one more slice with these manifests and returns its name. It bears the uuid of the *current* synthesis,
    /// or none, which is what makes Eno's own guard useless (L1).
    ///
    /// # Errors
    /// It may not be written.
    pub async fn write_slice(&mut self, manifests: &[Value]) -> Result<String> {
        let composition = self.compositions.get(&self.composition).await?;
        let current = composition.data["status"]["currentSynthesis"]["uuid"].as_str();
        let resources: Vec<_> = manifests.iter().map(|manifest| json!({"manifest": manifest.to_string()})).collect();
        let slice = serde_json::from_value(json!({
            "apiVersion": ENO_API_VERSION, "kind": "ResourceSlice",
            "metadata": {
                "generateName": format!("{}-", self.composition), "finalizers": [CLEANUP_FINALIZER],
                "ownerReferences": [{
                    "apiVersion": ENO_API_VERSION, "kind": "Composition", "name": self.composition,
                    "uid": composition.uid(), "controller": true, "blockOwnerDeletion": true,
                }],
            },
            "spec": {"synthesisUUID": current.unwrap_or_default(), "resources": resources},
        }))?;
        let name = self.slices.create(&PostParams::default(), &slice).await?.name_any();
        self.written.push(name.clone());
        Ok(name)
    }

    /// Ends it: previous becomes current, and current what was in flight, with the slices written.
    ///
    /// # Errors
    /// Another synthesis is in flight by now, or the status may not be written.
    pub async fn finish(self) -> Result<()> {
        // Other controllers write the status, too; Eno repeats as long as they come in between.
        loop {
            let composition = self.compositions.get(&self.composition).await?;
            let mut status = composition.data["status"].clone();
            let mut synthesis = status["inFlightSynthesis"].take();
            let in_flight = synthesis["uuid"].as_str() == Some(self.uuid.as_str());
            in_flight.then_some(()).context("another synthesis is in flight by now")?;
            synthesis["synthesized"] = json!(now());
            synthesis["resourceSlices"] = self.written.iter().map(|name| json!({"name": name})).collect();
            // Replaced as a whole: a merge patch would keep what the old synthesis has and the new one lacks.
            let patch = serde_json::from_value(json!([
                {"op": "test", "path": "/metadata/resourceVersion", "value": composition.resource_version()},
                {"op": "add", "path": "/status/previousSynthesis", "value": status["currentSynthesis"].take()},
                {"op": "add", "path": "/status/currentSynthesis", "value": synthesis},
                {"op": "remove", "path": "/status/inFlightSynthesis"},
            ]))?;
            let patch = Patch::Json::<()>(patch);
            match self.compositions.patch_status(&self.composition, &PatchParams::default(), &patch).await {
                Err(kube::Error::Api(status)) if matches!(status.code, 409 | 422) => {}
                patched => return patched.map(drop).map_err(Into::into),
            }
        }
    }
}

/// A random (version 4) uuid.
pub fn random_uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn now() -> String {
    Timestamp::now().strftime("%FT%TZ").to_string()
}
