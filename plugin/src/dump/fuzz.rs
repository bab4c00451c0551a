//! Dumps are read whatever they are: nothing panics, and to read them bit by bit is to read them as a whole.
//!
//! `cargo test` runs the corpus beside this file (`__fuzz__`) and some random cases; docs/reliability.md says how to run it long.

use eno_shared::fixtures::mutation::mutated;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::documents;
use super::stream::{Keep, objects};

fn dump() -> Value {
    let slice = json!({
        "apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s", "namespace": "ns", "uid": "u"},
        "spec": {"resources": [{"manifest": "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}"}]},
    });
    let composition =
        json!({"apiVersion": "eno.azure.io/v1", "kind": "Composition", "metadata": {"name": "c", "namespace": "ns"}});
    let inner = json!({"apiVersion": "v1", "kind": "List", "items": [composition]});
    json!({"apiVersion": "eno.azure.io/v1", "kind": "ResourceSliceList", "metadata": {}, "items": [slice, inner, {}]})
}

/// In an order of their own: piece by piece, items that leave their kind to the list come after those that do not.
fn values(objects: &[Box<RawValue>]) -> Vec<String> {
    let value = |object: &RawValue| serde_json::from_str::<Value>(object.get()).expect("an object is JSON");
    let mut values: Vec<_> = objects.iter().map(|object| value(object).to_string()).collect();
    values.sort();
    values
}

fn is_read_alike(text: &str) {
    let parts = objects(text.as_bytes(), Keep::Objects);
    for keep in [Keep::Names, Keep::Facts] {
        let kept = objects(text.as_bytes(), keep);
        // The other way round: what is malformed in a manifest that is not kept is nobody's error.
        assert!(parts.is_err() || kept.is_ok(), "what can be kept whole can be kept in part");
        if let (Keep::Names, Ok(kept), Ok(all)) = (keep, kept, &parts) {
            assert_eq!(kept.len(), all.len());
        }
    }
    if let Ok(parts) = parts {
        let whole = documents::parse(text).expect("what can be taken apart can be read as a whole");
        assert_eq!(values(&parts), values(&whole));
    }
}

#[test]
fn dumps_are_read_bit_by_bit_as_they_are_as_a_whole() {
    assert_eq!(objects(dump().to_string().as_bytes(), Keep::Objects).expect("a dump").len(), 3);
    bolero::check!().for_each(|bytes: &[u8]| {
        let json = String::from_utf8_lossy(&mutated(&dump(), bytes)).into_owned();
        is_read_alike(&json);
        if let Ok(value) = serde_json::from_str::<Value>(&json) {
            let yaml = serde_saphyr::to_string(&value).unwrap_or_default();
            is_read_alike(&yaml);
            is_read_alike(&format!("{yaml}---\n{json}\n"));
        }
        is_read_alike(&String::from_utf8_lossy(bytes));
    });
}
