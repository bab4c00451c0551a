//! What comes out of the streams is what comes out of the whole text.

use super::super::documents::parse;
use super::*;

fn streamed(text: &str, keep: Keep) -> Option<Vec<String>> {
    let objects = objects(text.as_bytes(), keep).ok()?;
    Some(objects.iter().map(|object| canonical(object)).collect())
}

fn canonical(object: &RawValue) -> String {
    serde_json::from_str::<serde_json::Value>(object.get()).unwrap().to_string()
}

/// Bytes come one by one: no state may be lost between two reads.
struct Slowly<'t>(&'t [u8]);

impl Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
        buffer[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn streams_agree_with_the_whole() {
    for text in [
        "",
        "  \n",
        r#"{"apiVersion":"v1","kind":"A"} {"apiVersion":"v1","kind":"B","x":[[1,{"items":[2]}],"a\"]}"]}"#,
        r#"{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"A"}, {"apiVersion":"v1","kind":"B"}],"kind":"List"}"#,
        r#"{"apiVersion":"g/v1","items":[{"metadata":{"name":"x"}}],"kind":"AList","metadata":{"continue":""}}"#,
        r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"A"}]}]}"#,
        r#"{"apiVersion":"v1","kind":"List","items":[]}{"apiVersion":"v1","kind":"List","items":null}"#,
        "---\napiVersion: v1\nkind: A\n---\n---\n{apiVersion: v1, kind: B}\n",
        "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: A\n  data: |\n    ---\n    - x\n- kind: B\n  apiVersion: v1\nkind: List\n",
        "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: A\n\n  # so\n  - apiVersion: v1\n    kind: B\n",
        "apiVersion: g/v1\nkind: AList\nitems:\n- metadata: {name: x}\n",
        "apiVersion: v1\nkind: List\nitems: []\n---\napiVersion: v1\nkind: List\nitems:\nmetadata: {}\n",
        "--- {apiVersion: v1, kind: A}\n...\n---\napiVersion: v1\nkind: B\n",
    ] {
        let whole: Vec<String> = parse(text).unwrap().iter().map(|object| canonical(object)).collect();
        let streamed = streamed(text, Keep::Objects);
        assert_eq!(streamed.as_deref(), Some(whole.as_slice()), "{text}");
        let slowly = objects(BufReader::with_capacity(1, Slowly(text.as_bytes())), Keep::Objects).unwrap();
        assert_eq!(slowly.iter().map(|object| canonical(object)).collect::<Vec<_>>(), whole, "{text}");
    }
}

#[test]
fn other_shapes_are_left_to_who_reads_the_whole() {
    for text in [
        // Not a list: what it holds is not in the cluster.
        r#"{"apiVersion":"g/v1","items":[{"apiVersion":"v1","kind":"A"}],"kind":"Album"}"#,
        "apiVersion: g/v1\nkind: Album\nitems:\n- apiVersion: v1\n  kind: A\n",
        r#"{"apiVersion": "v1", "#,
        r#"{"apiVersion":"v1","kind":"List","items":["x"]}"#,
        "{apiVersion: v1, kind: A}",
        "[1, 2]",
        "just text",
        "a: &a 1\n---\nb: *a\n",
        "apiVersion: v1\nkind: A\n\tx: 1\n",
    ] {
        assert_eq!(streamed(text, Keep::Objects), None, "{text}");
    }
    assert!(objects(&b"{\"apiVersion\":\"v1\",\"kind\":\"\xff\"}"[..], Keep::Objects).is_err());
}

#[test]
fn facts_have_no_manifests() {
    let slice = |manifest: &str| {
        format!(
            r#"{{"apiVersion":"eno.azure.io/v1","kind":"ResourceSlice","spec":{{"resources":[{{"deleted":true,"manifest":{manifest}}}]}}}}"#
        )
    };
    let list = |items: &[String]| format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, items.join(","));
    let pod = r#"{"apiVersion":"v1","kind":"Pod"}"#.to_owned();
    let text = list(&[slice(r#""{\"kind\": \"Secret\", \"x\": \"\\\\\"}""#), pod]);
    let empty = canonical(&RawValue::from_string(slice(r#""""#)).unwrap());
    assert_eq!(streamed(&text, Keep::Facts), Some(vec![empty.clone()]));

    let head = "apiVersion: eno.azure.io/v1\nkind: ResourceSlice\nspec:\n  resources:\n";
    for manifest in [
        "  - deleted: true\n    manifest: '{\"a\": \"it''s\"}'\n",
        "  - manifest: \"{\\\"a\\\": 1}\"\n    deleted: true\n",
        "  - manifest: |\n      {\"a\":\n\n      1}\n    deleted: true\n",
        "  - manifest: '{\"a\": \"it''s\n      a\"}'\n    deleted: true\n",
        "  - manifest: \"{\\\"a\\\": \\\n      \\\n\n      1}\"\n    deleted: true\n",
        "  - deleted: true\n    manifest: ''\n",
    ] {
        let objects = streamed(&format!("{head}{manifest}"), Keep::Facts).unwrap();
        assert_eq!(objects, std::slice::from_ref(&empty), "{manifest}");
    }
    // What only looks like a manifest ends where its text ends, and takes nothing along.
    for text in ["manifest: 'it", "manifest: \"it\\", "manifest: |"] {
        let map = format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  note: |\n    {text}\n  name: x\n");
        let read = streamed(&map, Keep::Facts);
        assert!(read.is_none_or(|read| read[0].contains(r#""name":"x""#)), "{text}");
    }
}

#[test]
fn what_cannot_be_read_may_decide() {
    let odd = r#"{"apiVersion":"v1","kind":"A","kind":"B"}"#;
    // The whole text does not take it either.
    assert!(parse(odd).is_err() && streamed(odd, Keep::Facts).is_none());
    let twice = r#"{"apiVersion":"eno.azure.io/v1","kind":"Composition","status":1,"status":2}"#;
    assert_eq!(objects(twice.as_bytes(), Keep::Facts).unwrap().len(), 1);
}
