//! What the programs are made of, as CycloneDX, by `cargo cyclonedx`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;

use super::VERSION;
use super::archive::commit_time;
use super::tool::Tool;
use crate::workspace;

/// The version of the tool that is known to work.
const TOOL: &str = "cargo-cyclonedx@0.5.9";

/// Writes a bill for the plugin and one for the webhook.
///
/// # Errors
/// The tool is missing.
pub fn write(dist: &Path) -> Result<()> {
    for (folder, program) in [("plugin", "kubectl-eno"), ("webhook", "eno-webhook")] {
        let name = format!("{program}_v{VERSION}.cdx");
        let manifest = format!("{folder}/Cargo.toml");
        Tool::cargo()
            .args(["cyclonedx", "--manifest-path", &manifest, "--format", "json", "--override-filename", &name])
            .args(["--target", "x86_64-unknown-linux-gnu", "--no-build-deps", "--quiet"])
            .run()
            .with_context(|| format!("hint: cargo install --locked {TOOL}"))?;
        // It writes one beside each member that the program is made of.
        for member in ["shared", "plugin", "webhook", "tests"] {
            let written = workspace::root().join(member).join(format!("{name}.json"));
            if member == folder {
                let bill = fs::read_to_string(&written).with_context(|| format!("reading {}", written.display()))?;
                let made = Timestamp::from_second(commit_time()?.parse()?)?;
                fs::write(dist.join(format!("{name}.json")), settled(&bill, &workspace::root(), made)?)?;
            }
            if written.exists() {
                fs::remove_file(written)?;
            }
        }
    }
    Ok(())
}

/// A bill as any machine writes it: the tool puts in where the sources lay, the time of day and a number by chance.
fn settled(bill: &str, root: &Path, made: Timestamp) -> Result<String> {
    let mut bill: Value = serde_json::from_str(&bill.replace(&format!("file://{}", root.display()), "file:///src"))?;
    bill["metadata"]["timestamp"] = made.to_string().into();
    bill.as_object_mut().context("a bill is an object")?.remove("serialNumber");
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_does_not_tell_where_and_when_it_was_written() {
        let bill = |root: &str, id: u8| {
            let bill = format!(
                r#"{{"serialNumber":"{id}","metadata":{{"timestamp":"{id}","component":{{"bom-ref":"path+file://{root}/plugin#1"}}}}}}"#
            );
            settled(&bill, Path::new(root), Timestamp::UNIX_EPOCH).unwrap()
        };
        assert_eq!(bill("/a", 1), bill("/b/c", 2));
        assert!(bill("/a", 1).contains("path+file:///src/plugin#1"), "{}", bill("/a", 1));
    }
}
