//! The plugin's manifest for krew's index.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::VERSION;
use super::archive::{Archive, archives};
use super::tool::Tool;

/// Where releases are downloaded from.
const RELEASES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download");

/// Writes `eno.yaml` for the archives that are there.
///
/// # Errors
/// There are none.
pub fn write(dist: &Path) -> Result<()> {
    let archives = archives(dist)?;
    ensure!(!archives.is_empty(), "no archives of version {VERSION}: run `cargo xtask release plugin`");
    let mut platforms = vec![];
    for (archive, path) in &archives {
        let sum = Tool::named("sha256sum", "coreutils").args([path]).text()?;
        platforms.push(platform(archive, sum.split_whitespace().next().context("sha256sum prints a sum")?));
    }
    let path = dist.join("eno.yaml");
    fs::write(&path, serde_saphyr::to_string(&manifest(&platforms))?)
        .with_context(|| format!("writing {}", path.display()))
}

fn manifest(platforms: &[Value]) -> Value {
    json!({
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "eno"},
        "spec": {
            "version": format!("v{VERSION}"),
            "homepage": env!("CARGO_PKG_REPOSITORY"),
            "shortDescription": "Show what Eno's slices wait for, and clean up",
            "description": "Eno (Azure/eno) keeps what it made in ResourceSlices, the only record of what must be\n\
                cleaned up. This plugin says of each slice whether it is kept, collected, held or\n\
                released, and why; shows what blocks a deletion; and forces it where that is safe.\n",
            "caveats": "For completion of names, put kubectl_complete-eno on PATH; this prints it:\n  \
                kubectl eno completion shim\n",
            "platforms": platforms,
        },
    })
}

fn platform(archive: &Archive, sum: &str) -> Value {
    json!({
        "selector": {"matchLabels": {"os": archive.os, "arch": archive.arch}},
        "uri": format!("{RELEASES}/v{VERSION}/{}", archive.file_name()),
        "sha256": sum,
        "bin": archive.program(),
        "files": [{"from": archive.program(), "to": "."}, {"from": "LICENSE", "to": "."}],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_description_fits_krews_limit() {
        let manifest = manifest(&[]);
        let short = manifest["spec"]["shortDescription"].as_str().unwrap();
        assert!(short.len() <= 50 && !short.ends_with('.'), "krew's naming guide: {short}");
    }

    #[test]
    fn a_platform_names_its_archive_and_what_is_in_it() {
        let archive = Archive { os: "windows".into(), arch: "amd64".into() };
        let platform = platform(&archive, "5u7");
        assert!(platform["uri"].as_str().unwrap().ends_with(&archive.file_name()));
        assert_eq!((&platform["bin"], &platform["sha256"]), (&json!("kubectl-eno.exe"), &json!("5u7")));
    }
}
