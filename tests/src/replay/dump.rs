//! The dumps to replay: the project's cases, and the shared ones where that folder is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use eno_shared::names::ENO_API_VERSION;
use serde_json::Value;

use crate::workspace;

/// One slice with the compositions of its namespace.
#[derive(Debug, Clone)]
pub struct Dump {
    /// Where it is from: `quiet-day.json payments/ledger-2`.
    pub title: String,
    /// The slice.
    pub slice: Value,
    /// The compositions.
    pub compositions: Vec<Value>,
}

/// Every slice of every case that `expected.tsv` of a folder names.
///
/// # Errors
/// A file cannot be read.
pub fn cases(folder: &Path) -> Result<Vec<Dump>> {
    let read = |file: &str| {
        let path = folder.join(file);
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    };
    let table = read("expected.tsv")?;
    let rows = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    // The same slice comes with and without its content, or in a dump that is whole and one that is not.
    let named: BTreeSet<_> = rows
        .map(|row| {
            let columns: Vec<_> = row.split('\t').collect();
            Some((*columns.first()?, *columns.get(3)?))
        })
        .map(|named| named.context("a row without file or slice"))
        .collect::<Result<_>>()?;
    named.into_iter().map(|(file, slice)| of(file, &serde_json::from_str(&read(file)?)?, slice)).collect()
}

fn of(file: &str, dump: &Value, slice: &str) -> Result<Dump> {
    let (namespace, name) = slice.split_once('/').context("a slice is named NAMESPACE/NAME")?;
    let items = dump["items"].as_array().context("a dump is a List")?;
    let here = |kind: &str| {
        let kind = kind.to_owned();
        items.iter().filter(move |item| {
            item["apiVersion"] == ENO_API_VERSION && item["kind"] == kind && item["metadata"]["namespace"] == namespace
        })
    };
    let found = here("ResourceSlice").find(|slice| slice["metadata"]["name"] == name);
    Ok(Dump {
        title: format!("{file} {slice}"),
        slice: found.with_context(|| format!("{file} holds no slice {slice}"))?.clone(),
        compositions: here("Composition").cloned().collect(),
    })
}

/// The cases of the project.
///
/// # Errors
/// As for [`cases`].
pub fn own() -> Result<Vec<Dump>> {
    cases(&workspace::root().join("shared/tests/cases"))
}

/// The cases that live outside the project; none where the folder is not there.
///
/// # Errors
/// As for [`cases`].
pub fn shared() -> Result<Vec<Dump>> {
    match workspace::eno_facts().map(|facts| facts.join("cases")).filter(|cases| cases.is_dir()) {
        Some(folder) => cases(&folder),
        None => {
            println!("no shared cases: only the project's own are compared");
            Ok(vec![])
        }
    }
}
