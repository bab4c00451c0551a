//! `cargo xtask release`: what is published of a version, into `target/dist`, the same bytes from the same commit.
//!
//! - [`binary`] builds the programs, [`archive`] packs the plugin, [`image`] the webhook.
//! - [`krew`] writes the manifest of the plugin's index, with the archives' sums; [`sbom`] what the programs are made of.
//! - The manifests are rendered for the image by its digest.
//!
//! Tools are the kept ones of the trade: cargo, GNU tar, gzip, sha256sum, buildah, kubectl. What is missing is named, with the
//! command that installs it.

mod archive;
mod binary;
pub mod image;
mod krew;
mod sbom;
mod tool;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::controlplane::{Binaries, Component};
use crate::workspace;
use archive::Archive;
use binary::Platform;
use tool::Tool;

/// The version of all that is released: that of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Arguments of `cargo xtask release`.
#[derive(Debug, clap::Args)]
pub struct Release {
    /// Make only this
    #[arg(value_enum)]
    only: Option<Part>,
    /// Take these archives too, which were built elsewhere: `kubectl-eno_vVERSION_OS_ARCH.tar.gz`
    #[arg(long, value_name = "FOLDER")]
    archives: Option<PathBuf>,
}

/// A part of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Archives of the plugin for the platforms that can be built here
    Plugin,
    /// The manifest for krew, of the archives that are there
    Krew,
    /// The webhook's image, as an OCI archive
    Image,
    /// The manifests, rendered for that image
    Manifests,
    /// The bills of materials
    Sbom,
}

impl Release {
    /// Makes the release, and says what it made.
    ///
    /// # Errors
    /// A tool is missing, or fails.
    pub fn run(self) -> Result<()> {
        let dist = dist();
        fs::create_dir_all(&dist).with_context(|| format!("creating {}", dist.display()))?;
        let makes = |part| self.only.is_none_or(|only| only == part);
        if makes(Part::Plugin) {
            for platform in Platform::HERE {
                let program = platform.build("kubectl-eno")?;
                Archive::of(platform).pack(&program, &dist)?;
            }
        }
        if let Some(folder) = &self.archives {
            archive::take_over(folder, &dist)?;
        }
        if makes(Part::Krew) {
            krew::write(&dist)?;
        }
        if makes(Part::Image) {
            image::build(&dist)?;
        }
        if makes(Part::Manifests) {
            manifests(&dist)?;
        }
        if makes(Part::Sbom) {
            sbom::write(&dist)?;
        }
        sums(&dist)
    }
}

/// Makes the image alone, for the test that runs it.
///
/// # Errors
/// A tool is missing, or fails.
pub fn only_the_image() -> Result<()> {
    Release { only: Some(Part::Image), archives: None }.run()
}

/// Where a release is put.
#[must_use]
pub fn dist() -> PathBuf {
    workspace::target().join("dist")
}

/// The manifests that install the webhook with a certificate that it makes itself, its image named by digest.
fn manifests(dist: &Path) -> Result<()> {
    let digest = image::digest(dist)?;
    let rendered = Tool::at(Binaries::ensure()?.path(Component::Kubectl))
        .args(["kustomize", "manifests/overlays/self-managed"])
        .text()?;
    let tagged = format!("{}:v{VERSION}", image::NAME);
    if !rendered.contains(&tagged) {
        bail!("the manifests do not name the image {tagged}: is `newTag` of manifests/base/kustomization.yaml behind?");
    }
    let path = dist.join(format!("eno-webhook_v{VERSION}.yaml"));
    let pinned = rendered.replace(&tagged, &format!("{}:v{VERSION}@{digest}", image::NAME));
    fs::write(&path, pinned).with_context(|| format!("writing {}", path.display()))
}

/// The sums of all files, in the form that `sha256sum --check` reads, on standard output too.
fn sums(dist: &Path) -> Result<()> {
    const FILE: &str = "SHA256SUMS";
    let mut names: Vec<String> = vec![];
    for entry in fs::read_dir(dist)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && name != FILE {
            names.push(name);
        }
    }
    names.sort();
    let sums = Tool::named("sha256sum", "coreutils").current_dir(dist).args(&names).text()?;
    fs::write(dist.join(FILE), &sums)?;
    print!("{sums}");
    Ok(())
}
