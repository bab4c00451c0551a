//! Cluster dumps with the verdicts that must come out.
use eno_shared::{
    Compositions, Lookup,
    api::{Composition, ResourceSlice, decode},
    judge,
};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};
#[test]
fn every_case_comes_out() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    let mut bad = vec![];
    let mut rows = 0;
    for line in std::fs::read_to_string(dir.join("expected.tsv")).unwrap().lines().filter(|l| !l.starts_with('#')) {
        let [file, flags, now, slice, verdict, reason] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let dump: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(dir.join(file)).unwrap()).unwrap();
        let mut comps: BTreeMap<String, Vec<_>> = BTreeMap::new();
        let mut slices = vec![];
        for item in dump["items"].as_array().unwrap() {
            let text = item.to_string();
            if let Ok(c) = decode::<Composition>(text.as_bytes()) {
                comps
                    .entry(c.metadata.namespace.clone())
                    .or_default()
                    .push((c.metadata.name.clone(), Lookup::Found(Arc::new(c))));
            }
            if let Ok(s) = decode::<ResourceSlice>(text.as_bytes()) {
                slices.push(s);
            }
        }
        let s = slices.iter().find(|s| format!("{}/{}", s.metadata.namespace, s.metadata.name) == slice).unwrap();
        let c = comps.remove(&s.metadata.namespace).unwrap_or_default();
        let c =
            if flags == "--complete" { Compositions::whole(c) } else { Compositions::partial(c, "not in the dump") };
        let j = judge(s, &c, now.parse().unwrap());
        rows += 1;
        if j.verdict.as_str() != verdict || j.reason.as_str() != reason {
            bad.push(format!("{line}: {j}"));
        }
    }
    assert!(rows > 40 && bad.is_empty(), "{bad:#?}");
}
