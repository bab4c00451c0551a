//! Writes objects one after the other, so that the text of a large snapshot is never in memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::SnapshotForm;
use crate::failure::Failure;
use crate::output;

/// Where objects are written to.
pub(super) struct Writer {
    to: Box<dyn Write>,
    form: SnapshotForm,
    path: Option<PathBuf>,
}

impl Writer {
    /// A file, or stdout.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(super) fn open(path: Option<&Path>, form: SnapshotForm) -> Result<Self, Failure> {
        let to: Box<dyn Write> = match path {
            Some(path) => Box::new(BufWriter::new(File::create(path).map_err(|error| failed(path, &error))?)),
            None => Box::new(BufWriter::new(std::io::stdout().lock())),
        };
        Ok(Writer { to, form, path: path.map(Path::to_owned) })
    }

    /// Writes all objects.
    ///
    /// # Errors
    /// The file, or stdout, fails.
    pub(super) fn write(mut self, objects: impl Iterator<Item = Value>) -> Result<(), Failure> {
        let written = match self.form {
            SnapshotForm::Json => json(&mut self.to, objects),
            SnapshotForm::Yaml => yaml(&mut self.to, objects),
        };
        written.and_then(|()| self.to.flush()).map_err(|error| match &self.path {
            Some(path) => failed(path, &error),
            None => error.into(),
        })
    }
}

fn json(to: &mut dyn Write, objects: impl Iterator<Item = Value>) -> std::io::Result<()> {
    to.write_all(b"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[")?;
    for (index, object) in objects.enumerate() {
        to.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *to, &object)?;
    }
    to.write_all(b"\n]}\n")
}

fn yaml(to: &mut dyn Write, objects: impl Iterator<Item = Value>) -> std::io::Result<()> {
    for object in objects {
        to.write_all(b"---\n")?;
        to.write_all(output::yaml(&object).map_err(|failure| std::io::Error::other(failure.to_string()))?.as_bytes())?;
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::local(format_args!("cannot write {}: {error}", path.display()))
}
