//! What is kept of a manifest that nobody needs whole: what it is of, and what Eno's rules read in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Annotations that Eno reads begin with this.
const ENO_ANNOTATION: &str = "eno.azure.io/";

/// Cuts the manifests of a slice; with `full`, only those of Secrets. Was any cut?
pub fn cut(slice: &mut Value, full: bool) -> bool {
    let resources = slice.pointer_mut("/spec/resources").and_then(Value::as_array_mut);
    let mut any = false;
    for manifest in resources.into_iter().flatten().filter_map(|resource| resource.get_mut("manifest")) {
        let Some(text) = manifest.as_str() else { continue };
        let kept = match serde_json::from_str::<Kept>(text) {
            Ok(kept) if full && kept.kind != "Secret" && !kept.kind.ends_with("List") => continue,
            Ok(kept) => serde_json::to_string(&kept).unwrap_or_default(),
            // It may be of a Secret. Eno cannot read it either, and that is still to be seen.
            Err(_) => String::new(),
        };
        any |= kept != text;
        *manifest = kept.into();
    }
    any
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    api_version: String,
    kind: String,
    metadata: KeptMetadata,
    /// Of a CustomResourceDefinition alone: it says which kind it defines.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "definition")]
    spec: Option<Definition>,
}

#[derive(Serialize, Deserialize)]
struct KeptMetadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "of_eno")]
    annotations: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct Definition {
    group: String,
    names: Names,
}

#[derive(Serialize, Deserialize)]
struct Names {
    kind: String,
}

fn definition<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Definition>, D::Error> {
    let raw = <&serde_json::value::RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

fn of_eno<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let mut all = Option::<BTreeMap<String, String>>::deserialize(deserializer)?.unwrap_or_default();
    all.retain(|name, _| name.starts_with(ENO_ANNOTATION));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept(manifest: &Value, full: bool) -> (String, bool) {
        let mut slice = json!({"spec": {"resources": [{"manifest": manifest.to_string()}]}});
        let any = cut(&mut slice, full);
        (slice["spec"]["resources"][0]["manifest"].as_str().unwrap().to_owned(), any)
    }

    #[test]
    fn what_rules_read_stays() {
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "xs.g", "annotations": {"eno.azure.io/readiness-group": "1", "other": "x"}},
            "spec": {"group": "g", "names": {"kind": "X", "plural": "xs"}, "versions": []},
        });
        let expected = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"xs.g","annotations":{"eno.azure.io/readiness-group":"1"}},"spec":{"group":"g","names":{"kind":"X"}}}"#;
        assert_eq!(kept(&definition, false), (expected.to_owned(), true));
    }

    #[test]
    fn secrets_are_cut_even_where_others_stay() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "aGk="}});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"k": "v"}});
        assert_eq!(kept(&secret, true).0, r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}"#);
        assert_eq!(kept(&map, true), (map.to_string(), false));
        assert_eq!(kept(&map, false).0, r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}"#);
    }

    #[test]
    fn what_cannot_be_read_stays_unreadable() {
        assert_eq!(kept(&json!("kind: Secret"), true), (String::new(), true));
        assert_eq!(kept(&json!({"kind": "A"}), false), (String::new(), true));
    }
}
