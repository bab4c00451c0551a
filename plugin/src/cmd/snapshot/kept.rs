//! What is kept of an object: no fields of the API server's own bookkeeping, and no contents of Secrets.

use std::marker::PhantomData;

use eno_shared::api::{Kind, Metadata, ResourceSlice};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

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

/// Cuts the manifests of a slice; those of Secrets also where others stay. Was any cut?
fn cut(slice: &mut Value, full: bool) -> bool {
    let resources = slice.pointer_mut("/spec/resources").and_then(Value::as_array_mut);
    let mut any = false;
    for manifest in resources.into_iter().flatten().filter_map(|resource| resource.get_mut("manifest")) {
        let Some(text) = manifest.as_str() else { continue };
        let whole: Value = serde_json::from_str(text).unwrap_or_default();
        // What cannot be read may be a Secret.
        if full && whole["kind"].as_str().is_some_and(|kind| kind != "Secret" && kind != "List") {
            continue;
        }
        let metadata = &whole["metadata"];
        let name = json!({
            "apiVersion": whole["apiVersion"], "kind": whole["kind"],
            "metadata": {"namespace": metadata["namespace"], "name": metadata["name"]},
        });
        *manifest = name.to_string().into();
        any = true;
    }
    any
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
    use super::*;

    fn slice(manifests: &[&str]) -> Value {
        let resources: Vec<Value> = manifests.iter().map(|text| json!({"manifest": text})).collect();
        json!({
            "apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": "a", "managedFields": [1], "annotations": {LAST_APPLIED: "secret", "x": "y"}},
            "spec": {"resources": resources},
        })
    }

    const SECRET: &str = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"k":"aGk="}}"#;
    const MAP: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"k":"v"}}"#;

    fn manifests<const FULL: bool>(object: Value) -> (Vec<Value>, Value) {
        let Kept { json, .. } = serde_json::from_value::<Kept<ResourceSlice, FULL>>(object).unwrap();
        let resources = json["spec"]["resources"].as_array().unwrap();
        let read = |resource: &Value| serde_json::from_str(resource["manifest"].as_str().unwrap()).unwrap();
        (resources.iter().map(read).collect(), json["metadata"].clone())
    }

    #[test]
    fn manifests_are_cut_to_what_they_are_of() {
        let (cut, metadata) = manifests::<false>(slice(&[SECRET, MAP]));
        assert_eq!(cut[0], json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": null, "name": "s"}}));
        assert_eq!(cut[1]["kind"], "ConfigMap");
        assert!(cut[1].get("data").is_none());
        assert_eq!(metadata, json!({"name": "a", "annotations": {"x": "y", CUT_ANNOTATION: "true"}}));
    }

    #[test]
    fn secrets_are_cut_even_where_others_stay() {
        let (kept, _) = manifests::<true>(slice(&[SECRET, MAP]));
        assert!(kept[0].get("data").is_none());
        assert_eq!(kept[1]["data"], json!({"k": "v"}));
        let (kept, metadata) = manifests::<true>(slice(&[MAP]));
        assert_eq!(kept[0]["data"], json!({"k": "v"}));
        assert!(metadata["annotations"].get(CUT_ANNOTATION).is_none());
    }

    #[test]
    fn what_cannot_be_read_is_cut_too() {
        let (kept, _) = manifests::<true>(slice(&["kind: Secret"]));
        assert_eq!(kept[0]["kind"], Value::Null);
    }
}
