//! Every row of a table of cases comes out of the real binary: a dump, the flags, and the verdict that must come out.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders that hold an `expected.tsv`: what the environment names, else what lies beside the project and in it.
fn folders() -> Vec<PathBuf> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = std::env::var_os("ENO_SHARED").map_or(crate_folder.join("../../shared"), PathBuf::from);
    let candidates = [beside.join("cases"), crate_folder.join("../shared/tests/cases")];
    candidates.into_iter().filter(|folder| folder.join("expected.tsv").exists()).collect()
}

/// `Err` says how the row came out instead.
fn check(folder: &Path, row: &str) -> Result<(), String> {
    let [file, flags, now, slice, verdict, reason] = row.split('\t').collect::<Vec<_>>()[..] else {
        return Err(format!("{row}: not six columns"));
    };
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-eno"))
        .args(["slices", "-A", "-o", "json", "--now", now, "-f"])
        .arg(folder.join(file))
        .args(flags.split_whitespace())
        .output()
        .map_err(|error| error.to_string())?;
    let list: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{row}: {error}; {}", String::from_utf8_lossy(&output.stderr)))?;
    let items = list["items"].as_array().ok_or("items is not a list")?;
    let place = |item: &serde_json::Value| format!("{}/{}", item["namespace"], item["name"]).replace('"', "");
    let item = items.iter().find(|item| place(item) == slice).ok_or_else(|| format!("{row}: no such slice"))?;
    match (item["verdict"] == verdict, item["reason"] == reason) {
        (true, true) => Ok(()),
        _ => Err(format!("{row}: {} {}: {}", item["verdict"], item["reason"], item["message"])),
    }
}

#[test]
fn every_case_comes_out_of_the_binary() {
    let folders = folders();
    assert!(!folders.is_empty(), "no table of cases: shared/tests/cases/expected.tsv should be in the project");
    let (mut rows, mut wrong) = (0, vec![]);
    for folder in folders {
        let table = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
        // A dump has whole slices: what is judged of metadata alone is for the crate of the rules to test.
        let whole = |row: &&str| !row.starts_with('#') && !row.is_empty() && !row.contains("--metadata-only");
        for row in table.lines().filter(whole) {
            rows += 1;
            wrong.extend(check(&folder, row).err());
        }
    }
    assert!(wrong.is_empty(), "{} of {rows} rows:\n{}", wrong.len(), wrong.join("\n"));
    println!("{rows} rows");
}
