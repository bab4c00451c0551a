//! What is kept of an object: no fields of the API server's own bookkeeping, and no contents of Secrets.

use std::marker::PhantomData;

use eno_shared::api::{Kind, Metadata, ResourceSlice};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::dump::cut::cut;
use crate::dump::marker::CUT_ANNOTATION;

/// kubectl's copy of what was applied: it would hold again what is cut.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object of this kind. It decodes whatever it holds: a snapshot takes objects as they are. `FULL` keeps manifests.
#[derive(Debug)]
pub(super) struct Kept<K, const FULL: bool> {
    /// The object.
    pub json: Value,
    metadata: Metadata,
    kind: PhantomData<K>,
}

impl<'de, K: Kind, const FULL: bool> Deserialize<'de> for Kept<K, FULL> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut json = Value::deserialize(deserializer)?;
        if let Some(metadata) = json.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
            if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.remove(LAST_APPLIED);
            }
        }
        if K::KIND == ResourceSlice::KIND && cut(&mut json, FULL) {
            json["metadata"]["annotations"][CUT_ANNOTATION] = "true".into();
        }
        Ok(Kept { json, metadata: Metadata::default(), kind: PhantomData })
    }
}

impl<K: Kind, const FULL: bool> Kind for Kept<K, FULL> {
    const KIND: &'static str = K::KIND;
    const PLURAL: &'static str = K::PLURAL;
    const SINGULAR: &'static str = K::SINGULAR;
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

/// Namespaces, by the same means as Eno's kinds. Only their metadata is listed.
#[derive(Debug, Deserialize)]
pub(in crate::cmd) struct NamespaceKind {
    metadata: Metadata,
}

impl Kind for NamespaceKind {
    const KIND: &'static str = "Namespace";
    const PLURAL: &'static str = "namespaces";
    const SINGULAR: &'static str = "namespace";
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
    fn path(_: Option<&str>) -> String {
        "/api/v1/namespaces".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_cut_is_marked_and_bookkeeping_is_left_out() {
        let manifest = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"k":"v"}}"#;
        let slice = json!({
            "apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": "a", "managedFields": [1], "annotations": {LAST_APPLIED: "secret", "x": "y"}},
            "spec": {"resources": [{"manifest": manifest}]},
        });
        let kept: Kept<ResourceSlice, false> = serde_json::from_value(slice.clone()).unwrap();
        let annotations = json!({"x": "y", CUT_ANNOTATION: "true"});
        assert_eq!(kept.json["metadata"], json!({"name": "a", "annotations": annotations}));
        let kept: Kept<ResourceSlice, true> = serde_json::from_value(slice).unwrap();
        assert_eq!(kept.json["metadata"]["annotations"], json!({"x": "y"}));
        assert_eq!(kept.json["spec"]["resources"][0]["manifest"], manifest);
    }
}
