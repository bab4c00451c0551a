//! The plugin, packed as krew takes it: a tar of the program and the licence, in one form for all platforms.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::VERSION;
use super::binary::Platform;
use super::tool::Tool;
use crate::workspace;

/// An archive of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    /// Krew's name of the operating system: `linux`.
    pub os: String,
    /// Krew's name of the processor: `amd64`.
    pub arch: String,
}

impl Archive {
    pub fn of(platform: Platform) -> Self {
        Archive { os: platform.os().to_owned(), arch: "amd64".to_owned() }
    }

    /// From the name of a file, where it is one of this version.
    pub fn named(file: &str) -> Option<Self> {
        let rest = file.strip_prefix(&prefix())?.strip_suffix(".tar.gz")?;
        let (os, arch) = rest.split_once('_')?;
        Some(Archive { os: os.to_owned(), arch: arch.to_owned() })
    }

    pub fn file_name(&self) -> String {
        format!("{}{}_{}.tar.gz", prefix(), self.os, self.arch)
    }

    /// The program's name in it.
    pub fn program(&self) -> &'static str {
        if self.os == "windows" { "kubectl-eno.exe" } else { "kubectl-eno" }
    }

    /// Packs it. Owners and times are those of the commit, so that packing again gives the same bytes.
    pub fn pack(&self, program: &Path, dist: &Path) -> Result<()> {
        let content = tempfile::tempdir()?;
        fs::copy(program, content.path().join(self.program()))
            .with_context(|| format!("copying {}", program.display()))?;
        fs::copy(workspace::root().join("LICENSE"), content.path().join("LICENSE"))?;
        let target = dist.join(self.file_name());
        Tool::named("tar", "tar")
            .current_dir(content.path())
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"])
            .args([format!("--mtime=@{}", commit_time()?), "--use-compress-program=gzip -n -9".to_owned()])
            .args(["--create".to_owned(), format!("--file={}", target.display())])
            .args([self.program(), "LICENSE"])
            .run()
    }
}

fn prefix() -> String {
    format!("kubectl-eno_v{VERSION}_")
}

/// Copies archives that were built elsewhere.
///
/// # Errors
/// There is none of this version.
pub fn take_over(folder: &Path, dist: &Path) -> Result<()> {
    let found = archives(folder)?;
    ensure!(!found.is_empty(), "no {}*.tar.gz in {} (--archives)", prefix(), folder.display());
    for (_, path) in found {
        fs::copy(&path, dist.join(path.file_name().context("a file has a name")?))?;
    }
    Ok(())
}

/// The archives in a folder, by name.
pub fn archives(folder: &Path) -> Result<Vec<(Archive, PathBuf)>> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        if let Some(archive) = Archive::named(&entry.file_name().to_string_lossy()) {
            found.push((archive, entry.path()));
        }
    }
    found.sort_by_key(|(archive, _)| archive.file_name());
    Ok(found)
}

/// When the commit was made, in seconds since 1970: the time of all files of a release, unless `SOURCE_DATE_EPOCH` says
/// otherwise (reproducible-builds.org).
pub fn commit_time() -> Result<String> {
    if let Ok(epoch) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(epoch);
    }
    Ok(Tool::named("git", "git").args(["log", "-1", "--format=%ct"]).text()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_found_again_by_its_name() {
        let archive = Archive { os: "darwin".into(), arch: "arm64".into() };
        assert_eq!(Archive::named(&archive.file_name()), Some(archive));
        assert_eq!(Archive::named("kubectl-eno_v0.0.0_linux_amd64.tar.gz"), None, "another version");
        assert_eq!(Archive::named("SHA256SUMS"), None);
    }
}
