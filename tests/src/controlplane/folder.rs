//! The folder of a control plane, owned by one process at a time.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result, bail};

/// Start of the name of every temporary one.
const PREFIX: &str = "eno-controlplane-";
/// Locked as long as the owner lives.
const LOCK: &str = "lock";
/// Holds the owner's process id.
const PID: &str = "pid";

/// A folder that this process owns and removes on drop.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes `dir`, or a new temporary folder.
    ///
    /// # Errors
    /// The folder cannot be written, or another process owns it.
    pub fn take(dir: Option<PathBuf>) -> Result<Self> {
        let path = match dir {
            Some(dir) => dir,
            None => {
                sweep();
                tempfile::Builder::new().prefix(PREFIX).tempdir()?.keep()
            }
        };
        if is_owned(&path) {
            bail!("a control plane runs in {} already", path.display());
        }
        remove_stale(&path)?;
        // It holds the administrator's key.
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700).create(&path).with_context(|| format!("creating {}", path.display()))?;
        if fs::read_dir(&path)?.next().is_some() {
            // It is removed at the end, so it must hold nothing of others.
            bail!("{} is not empty: name a new folder", path.display());
        }
        // Locked before it bears its name: whoever can open and lock it knows that the owner is gone.
        let new = path.join("lock.new");
        let lock = File::create(&new)?;
        lock.lock()?;
        fs::rename(&new, path.join(LOCK))?;
        fs::write(path.join(PID), process::id().to_string())?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            eprintln!("removing {}: {error}", self.path.display());
        }
    }
}

/// Whether a living process owns the folder.
pub fn is_owned(dir: &Path) -> bool {
    let locked = |lock: File| matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
    File::open(dir.join(LOCK)).is_ok_and(locked)
}

/// The process id of the owner.
///
/// # Errors
/// The folder has none.
pub fn owner(dir: &Path) -> Result<i32> {
    let text = fs::read_to_string(dir.join(PID)).with_context(|| format!("reading the pid in {}", dir.display()))?;
    text.trim().parse().with_context(|| format!("{} is not a pid", text.trim()))
}

/// Removes the folder that an owner left behind when it was killed.
///
/// # Errors
/// The folder cannot be removed.
pub fn remove_stale(dir: &Path) -> Result<()> {
    if dir.join(LOCK).exists() {
        fs::remove_dir_all(dir).with_context(|| format!("removing what was left in {}", dir.display()))?;
    }
    Ok(())
}

/// Removes the temporary folders of owners that were killed and could not.
fn sweep() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else {
        return;
    };
    for dir in entries.flatten().filter(|e| e.file_name().to_string_lossy().starts_with(PREFIX)).map(|e| e.path()) {
        if dir.join(LOCK).exists() && !is_owned(&dir) {
            // Another process may be sweeping it too.
            let _ = fs::remove_dir_all(&dir);
        }
    }
}
