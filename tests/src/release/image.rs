//! The webhook's image: one static program and the user it runs as, in nothing. buildah writes it; no engine runs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::VERSION;
use super::archive::commit_time;
use super::binary::Platform;
use super::tool::Tool;

/// Its name. Where it is hosted is for those who host it to say, by kustomize's `images`.
pub const NAME: &str = "eno-webhook";

/// The user and the group of the process; `nonroot`, as others' minimal images have it.
pub const USER: &str = "65532:65532";

/// Where the image is, as an OCI archive.
#[must_use]
pub fn path(dist: &Path) -> PathBuf {
    dist.join(format!("{NAME}_v{VERSION}_linux_amd64.oci.tar"))
}

/// The digest of its manifest: `sha256:…`.
///
/// # Errors
/// It was not built.
pub fn digest(dist: &Path) -> Result<String> {
    let index = json(dist, "index.json")?;
    Ok(index["manifests"][0]["digest"].as_str().context("the index of the image names no manifest")?.to_owned())
}

/// Unpacks its file system, as a container runtime does.
///
/// # Errors
/// It was not built.
pub fn unpack(dist: &Path, root: &Path) -> Result<()> {
    let manifest = json(dist, &blob(&digest(dist)?))?;
    let layers = manifest["layers"].as_array().context("the manifest of the image names no layers")?;
    let storage = tempfile::tempdir()?;
    for layer in layers {
        let name = blob(layer["digest"].as_str().context("a layer has no digest")?);
        extract(&path(dist), storage.path(), &[&name])?;
        extract(&storage.path().join(&name), root, &[])?;
    }
    Ok(())
}

fn extract(archive: &Path, folder: &Path, members: &[&str]) -> Result<()> {
    let tar = Tool::named("tar", "tar").args(["--extract", "--directory"]).args([folder]);
    tar.args(["--file"]).args([archive]).args(members).run()
}

/// A document of the archive.
fn json(dist: &Path, member: &str) -> Result<Value> {
    let archive = path(dist);
    ensure!(archive.is_file(), "no {}: run `cargo xtask release image`", archive.display());
    let tar = Tool::named("tar", "tar").args(["--extract", "--to-stdout", "--file"]).args([&archive]).args([member]);
    Ok(serde_json::from_str(&tar.text()?)?)
}

/// Where the archive has what a digest names.
fn blob(digest: &str) -> String {
    format!("blobs/{}", digest.replace(':', "/"))
}

/// Builds the program and its image.
///
/// # Errors
/// buildah is missing, or fails.
pub fn build(dist: &Path) -> Result<()> {
    let program = Platform::Image.build("eno-webhook")?;
    // What buildah keeps of images and containers is thrown away: the machine's own are not touched.
    let storage = tempfile::tempdir()?;
    let buildah = || {
        let [root, run] = ["root", "run"].map(|part| storage.path().join(part));
        Tool::named("buildah", "buildah")
            .args([Path::new("--root"), &root, Path::new("--runroot"), &run])
            .args(["--storage-driver", "vfs"])
            .env("BUILDAH_ISOLATION", "chroot")
    };
    let etc = storage.path().join("etc");
    fs::create_dir(&etc)?;
    fs::write(etc.join("passwd"), "nonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")?;
    fs::write(etc.join("group"), "nonroot:x:65532:\n")?;

    let container = buildah().args(["from", "scratch"]).text()?;
    let container = container.trim();
    buildah().args(["copy", "--quiet", "--chmod", "0444", container]).args([&etc]).args(["/etc/"]).run()?;
    buildah().args(["copy", "--quiet", "--chmod", "0555", container]).args([&program]).args(["/eno-webhook"]).run()?;
    buildah()
        .args(["config", "--user", USER, "--entrypoint", r#"["/eno-webhook"]"#, "--cmd", "", "--workingdir", "/"])
        .args(labels().iter().flat_map(|label| ["--label".to_owned(), label.clone()]))
        .args([container])
        .run()?;
    let target = path(dist);
    // An archive that is there would be added to.
    if target.exists() {
        fs::remove_file(&target)?;
    }
    buildah()
        .args(["commit", "--quiet", "--format", "oci", "--timestamp", &commit_time()?])
        .args([container, &format!("oci-archive:{}:v{VERSION}", target.display())])
        .run()
}

/// The labels that registries and scanners read.
fn labels() -> [String; 5] {
    [
        format!("org.opencontainers.image.title={NAME}"),
        "org.opencontainers.image.description=Admission and cleanup for Eno's resource slices".to_owned(),
        format!("org.opencontainers.image.version=v{VERSION}"),
        format!("org.opencontainers.image.source={}", env!("CARGO_PKG_REPOSITORY")),
        format!("org.opencontainers.image.licenses={}", env!("CARGO_PKG_LICENSE")),
    ]
}
