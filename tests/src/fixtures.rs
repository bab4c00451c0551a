//! Compositions and slices as JSON for the API server, and ready-made states of them.

use anyhow::{Context, Result};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION};
use jiff::Timestamp;
use kube::ResourceExt;
use kube::api::DynamicObject;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::standin::synthesis::random_uuid;

/// A composition with Eno's finalizer. Its synthesizer does not exist: nothing synthesizes it but the test.
pub fn composition(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": ENO_API_VERSION, "kind": "Composition",
        "metadata": {"name": name, "namespace": namespace, "finalizers": [CLEANUP_FINALIZER]},
        "spec": {"synthesizer": {"name": "none"}},
    })
}

/// A slice with Eno's finalizer, owned by the composition, with these manifests.
pub fn slice(owner: &DynamicObject, name: &str, synthesis_uuid: &str, manifests: &[Value]) -> Value {
    let resources: Vec<_> = manifests.iter().map(|manifest| json!({"manifest": manifest.to_string()})).collect();
    json!({
        "apiVersion": ENO_API_VERSION, "kind": "ResourceSlice",
        "metadata": {
            "name": name, "namespace": owner.namespace(), "finalizers": [CLEANUP_FINALIZER],
            "ownerReferences": [{
                "apiVersion": ENO_API_VERSION, "kind": "Composition", "name": owner.name_any(), "uid": owner.uid(),
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {"synthesisUUID": synthesis_uuid, "resources": resources},
    })
}

/// A synthesis that was reconciled now, of this generation of its composition.
pub fn reconciled_synthesis(uuid: &str, generation: Option<i64>, slices: &[&str]) -> Value {
    let now = Timestamp::now().strftime("%FT%TZ").to_string();
    json!({
        "uuid": uuid, "initialized": now, "synthesized": now, "reconciled": now, "ready": now,
        "observedCompositionGeneration": generation,
        "resourceSlices": slices.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
    })
}

/// The states of so many resources, all reconciled.
pub fn reconciled_states(resources: usize, deleted: bool) -> Value {
    let now = Timestamp::now().strftime("%FT%TZ").to_string();
    json!({"resources": vec![json!({"reconciled": true, "ready": now, "deleted": deleted}); resources]})
}

/// The ConfigMap that stands for resource `index` of a composition.
pub fn config_map(namespace: &str, composition: &str, index: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("{composition}-{index}"), "namespace": namespace, "labels": {"composition": composition}},
        "data": {"index": index.to_string()},
    })
}

/// A composition in the state that lasts: one slice named `NAME-0`, current and reconciled, and its ConfigMaps in the
/// namespace `targets`. Returns the composition.
///
/// # Errors
/// The server refuses one of them.
pub async fn reconciled_composition(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
    targets: &str,
    resources: usize,
) -> Result<DynamicObject> {
    let manifests: Vec<_> = (0..resources).map(|index| config_map(targets, name, index)).collect();
    for manifest in &manifests {
        cluster.apply(manifest).await?;
    }
    let composition = composition(namespace, name);
    let applied = cluster.apply(&composition).await.context("is Eno's CRD installed?")?;
    let uuid = random_uuid();
    let slice = slice(&applied, &format!("{name}-0"), &uuid, &manifests);
    cluster.apply(&slice).await?;
    cluster.set_status(&slice, &reconciled_states(resources, false)).await?;
    let current = reconciled_synthesis(&uuid, applied.metadata.generation, &[&format!("{name}-0")]);
    cluster.set_status(&composition, &json!({"currentSynthesis": current})).await
}
