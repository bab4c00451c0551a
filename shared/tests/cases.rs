//! Dumps of clusters, with the verdict that must come out for each slice: the project's own, and the shared ones where the
//! folder is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eno_shared::api::{Composition, Content, Kind, ResourceSlice, decode};
use eno_shared::{Compositions, Judgement, Lookup, judge};
use serde_json::Value;

/// One line of `expected.tsv`.
struct Expected {
    file: String,
    /// What is absent from the dump is missing.
    complete: bool,
    /// The slice was read without spec and status.
    metadata_only: bool,
    now: String,
    slice: String,
    verdict: String,
    reason: String,
}

impl Expected {
    fn parse(line: &str) -> Self {
        let columns: Vec<_> = line.split('\t').collect();
        let [file, flags, now, slice, verdict, reason] = columns[..] else { panic!("not six columns: {line:?}") };
        let has = |flag| flags.split_whitespace().any(|given| given == flag);
        Expected {
            file: file.into(),
            complete: has("--complete"),
            metadata_only: has("--metadata-only"),
            now: now.into(),
            slice: slice.into(),
            verdict: verdict.into(),
            reason: reason.into(),
        }
    }

    fn judge(&self, dump: &Value) -> Judgement {
        let items = dump["items"].as_array().expect("a dump is a List");
        let mut slice = items
            .iter()
            .filter(|item| self.slice == format!("{}/{}", text(item, "namespace"), text(item, "name")))
            .find_map(|item| decode::<ResourceSlice>(item.to_string().as_bytes()).ok())
            .unwrap_or_else(|| panic!("{} holds no slice {}", self.file, self.slice));
        if self.metadata_only {
            slice.content = Content::Unread;
        }
        let read = compositions_of(items, &slice.metadata.namespace);
        let compositions =
            if self.complete { Compositions::whole(read) } else { Compositions::partial(read, "not in the dump") };
        judge(&slice, &compositions, self.now.parse().expect("a time"))
    }
}

fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item["metadata"][field].as_str().unwrap_or_default()
}

/// What the dump says of the compositions of a namespace: one that does not decode is unknown, not missing.
fn compositions_of(items: &[Value], namespace: &str) -> BTreeMap<String, Lookup<Arc<Composition>>> {
    let is_one = |item: &&Value| {
        item["apiVersion"] == "eno.azure.io/v1"
            && item["kind"] == Composition::KIND
            && text(item, "namespace") == namespace
    };
    let read = |item: &Value| match decode::<Composition>(item.to_string().as_bytes()) {
        Ok(composition) => Lookup::Found(Arc::new(composition)),
        Err(error) => Lookup::Unknown(error.to_string()),
    };
    items.iter().filter(is_one).map(|item| (text(item, "name").to_owned(), read(item))).collect()
}

/// Judges every slice of `expected.tsv`, and says how many there were.
#[track_caller]
fn assert_comes_out(folder: &Path) -> usize {
    let read = |file: &str| {
        let path = folder.join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let table = read("expected.tsv");
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut wrong = vec![];
    let mut rows = 0;
    for expected in lines.map(Expected::parse) {
        let dump = serde_json::from_str(&read(&expected.file)).expect("a dump is JSON");
        let judgement = expected.judge(&dump);
        rows += 1;
        if (judgement.verdict.as_str(), judgement.reason.as_str()) != (&expected.verdict, &expected.reason) {
            let Expected { file, slice, verdict, reason, .. } = expected;
            wrong.push(format!("{file} {slice}: expected {verdict} {reason}, came out {judgement}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {rows} rows:\n{}", wrong.len(), wrong.join("\n"));
    rows
}

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

#[test]
fn every_case_comes_out() {
    let rows = assert_comes_out(&own());
    assert!(rows >= 85, "only {rows} rows");
}

#[test]
fn every_dump_is_in_the_table() {
    let table = std::fs::read_to_string(own().join("expected.tsv")).unwrap();
    for entry in std::fs::read_dir(own()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let is_used = table.lines().any(|line| line.starts_with(&format!("{file}\t")));
        assert!(is_used || file == "expected.tsv", "{file} is not in expected.tsv");
    }
}

#[test]
fn every_shared_case_comes_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shared = std::env::var_os("ENO_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let cases = shared.join("cases");
    if cases.is_dir() {
        assert!(assert_comes_out(&cases) > 40);
    } else {
        println!("no shared cases in {}: nothing compared", cases.display());
    }
}
