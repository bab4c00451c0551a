//! The objects in a text: JSON or YAML, one after the other, in lists or not.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The objects in a text, each as JSON.
///
/// # Errors
/// Where the text is neither JSON nor YAML, or a document is not an object of the API.
pub(super) fn parse(text: &str) -> Result<Vec<Box<RawValue>>, String> {
    let documents = if text.trim_start().starts_with('{') { json(text)? } else { yaml(text)? };
    let mut objects = vec![];
    for document in documents {
        flatten(document, &mut objects)?;
    }
    Ok(objects)
}

/// JSON goes past the YAML reader: it is the usual form of large dumps, and much faster so.
fn json(text: &str) -> Result<Vec<Box<RawValue>>, String> {
    let documents = serde_json::Deserializer::from_str(text).into_iter::<Box<RawValue>>();
    match documents.collect::<Result<Vec<_>, _>>() {
        Ok(documents) => Ok(documents),
        // A brace can begin YAML as well.
        Err(error) => yaml(text).map_err(|_| error.to_string()),
    }
}

fn yaml(text: &str) -> Result<Vec<Box<RawValue>>, String> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple_with_options(text, options()).map_err(|error| error.to_string())?;
    documents.iter().filter(|document| !document.is_null()).map(raw).collect()
}

/// The only object of a text; none where it is empty.
pub(super) fn yaml_object(text: &str) -> Result<Option<Box<RawValue>>, String> {
    let mut objects = yaml(text)?;
    if objects.len() > 1 { Err("more than one document".to_owned()) } else { Ok(objects.pop()) }
}

fn options() -> serde_saphyr::Options {
    // Generous for dumps of large clusters, which have no aliases; what is smaller bounds bombs of aliases and nesting.
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 200_000_000,
            max_nodes: 100_000_000,
            max_documents: 1_000_000,
            max_total_scalar_bytes: 2 << 30,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_depth: 100,
            flow_nesting_limit: 100,
        },
        // A namespace may be named n or yes.
        strict_booleans: true,
        with_snippet: false,
    }
}

fn raw(document: &Value) -> Result<Box<RawValue>, String> {
    serde_json::value::to_raw_value(document).map_err(|error| error.to_string())
}

/// Takes lists apart, as kubectl does: any kind that ends in `List`.
pub(super) fn flatten(document: Box<RawValue>, objects: &mut Vec<Box<RawValue>>) -> Result<(), String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Document {
        api_version: String,
        kind: String,
        items: Option<Vec<Box<RawValue>>>,
    }
    let Ok(Document { api_version, kind, items }) = serde_json::from_str(document.get()) else {
        return Err("not an object of the Kubernetes API: apiVersion and kind are missing".to_owned());
    };
    let Some(item_kind) = kind.strip_suffix("List") else {
        objects.push(document);
        return Ok(());
    };
    for item in items.unwrap_or_default() {
        // The items of a typed list, such as `kubectl get --raw` prints, leave out what the list says.
        flatten(if item_kind.is_empty() { item } else { typed(item, &api_version, item_kind)? }, objects)?;
    }
    Ok(())
}

/// What an object says that it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Typed {
    pub api_version: Option<String>,
    pub kind: Option<String>,
}

/// An item that leaves its kind to its list.
pub(super) fn flatten_typed(item: Box<RawValue>, list: &RawValue) -> Result<Box<RawValue>, String> {
    match serde_json::from_str(list.get()) {
        Ok(Typed { api_version: Some(api_version), kind: Some(kind) }) => match kind.strip_suffix("List") {
            Some(item_kind) if !item_kind.is_empty() => typed(item, &api_version, item_kind),
            Some(_) | None => Ok(item),
        },
        Ok(_) | Err(_) => Err("a list without a kind".to_owned()),
    }
}

fn typed(item: Box<RawValue>, api_version: &str, kind: &str) -> Result<Box<RawValue>, String> {
    #[derive(Deserialize)]
    struct Untyped {
        kind: Option<String>,
    }
    if matches!(serde_json::from_str(item.get()), Ok(Untyped { kind: Some(_) })) {
        return Ok(item);
    }
    let mut object: serde_json::Map<String, Value> =
        serde_json::from_str(item.get()).map_err(|_| format!("an item of a {kind}List is not an object"))?;
    object.insert("apiVersion".to_owned(), api_version.into());
    object.insert("kind".to_owned(), kind.into());
    raw(&Value::Object(object))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Object {
            api_version: String,
            kind: String,
        }
        let object = |document: &RawValue| serde_json::from_str::<Object>(document.get()).unwrap();
        Ok(parse(text)?
            .iter()
            .map(|document| object(document))
            .map(|object| format!("{} {}", object.api_version, object.kind))
            .collect())
    }

    #[test]
    fn reads_all_forms() {
        let a = "v1 A".to_owned();
        assert_eq!(names("").unwrap(), [""; 0]);
        assert_eq!(
            names("---\napiVersion: v1\nkind: A\n---\n---\n{apiVersion: v1, kind: A}\n").unwrap(),
            [&a, &a].map(String::as_str)
        );
        assert_eq!(
            names(r#"{"apiVersion":"v1","kind":"A"} {"apiVersion":"v1","kind":"A"}"#).unwrap(),
            ["v1 A", "v1 A"]
        );
        assert_eq!(
            names(r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"A"}]}"#).unwrap(),
            ["v1 A"]
        );
        assert_eq!(names("apiVersion: g/v1\nkind: AList\nitems:\n- metadata: {name: x}\n").unwrap(), ["g/v1 A"]);
        assert_eq!(names("{apiVersion: v1, kind: A}").unwrap(), ["v1 A"]);
    }

    #[test]
    fn refuses_what_is_no_object() {
        for text in ["just text", "[1, 2]", "kind: A", r#"{"apiVersion": 1, "kind": "A"}"#] {
            assert!(names(text).unwrap_err().contains("apiVersion and kind are missing"), "{text}");
        }
        assert!(names(r#"{"apiVersion": "v1", "#).unwrap_err().contains("EOF"));
    }

    #[test]
    fn alias_bombs_are_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            text += &format!("a{level}: &a{level} [{aliases}]\n");
        }
        assert!(parse(&text).is_err());
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse(&format!("{}{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000))).is_err());
    }
}
