//! The backup of what is released: a file that `kubectl eno restore` reads.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::assess::Assessment;
use crate::failure::Failure;
use crate::output;

/// Writes the object as it is stored, without `managedFields`, into a new file that only its owner may read: manifests may
/// hold secrets.
///
/// # Errors
/// The file cannot be written. Then nothing may be released.
pub(super) fn write(folder: &Path, assessment: &Assessment) -> Result<PathBuf, Failure> {
    let metadata = &assessment.metadata;
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let (kind, namespace, name) = (assessment.kind.singular(), &metadata.namespace, &metadata.name);
    let path = folder.join(format!("eno-release-{kind}-{namespace}-{name}-{time}.yaml"));
    let mut stored = assessment.stored.clone();
    if let Some(metadata) = stored["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    let failed = |error: std::io::Error| {
        Failure::local(format_args!(
            "cannot write the backup {}: {error}; choose another folder with --backup-dir, or pass --no-backup",
            path.display()
        ))
    };
    let text = output::yaml(&stored)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    Ok(path)
}
