//! What the programs are made of, as CycloneDX, by `cargo cyclonedx`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::VERSION;
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
                fs::copy(&written, dist.join(format!("{name}.json")))
                    .with_context(|| format!("{} was not written", written.display()))?;
            }
            if written.exists() {
                fs::remove_file(written)?;
            }
        }
    }
    Ok(())
}
