//! Which files `-f` means, and their text.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The extensions kubectl reads in a folder.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];
/// No file is larger: it would not be a dump that a terminal can show.
const MAX_BYTES: u64 = 2 << 30;

/// The files, in a stable order. A file that is named is taken whatever its extension.
pub(super) fn find(paths: &[PathBuf], recursive: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut files = vec![];
    for path in paths {
        if is_stdin(path) || !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        folder(path, recursive, &mut files)?;
        if files.len() == before {
            return Err(Failure::local(format_args!(
                "no {} files in {}",
                EXTENSIONS.map(|extension| format!(".{extension}")).join(", "),
                path.display()
            )));
        }
    }
    Ok(files)
}

fn folder(path: &Path, recursive: bool, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::local(format_args!("cannot read {}: {error}", path.display()));
    let mut entries: Vec<_> = std::fs::read_dir(path)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    entries.sort();
    for entry in entries {
        let extension = entry.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        // A link to a folder may lead in a circle. One that leads nowhere is taken, and fails when it is read.
        if entry.is_dir() && recursive && !entry.is_symlink() {
            folder(&entry, recursive, files)?;
        } else if (entry.is_file() || !entry.exists()) && EXTENSIONS.contains(&extension) {
            files.push(entry);
        }
    }
    Ok(())
}

/// A file to be read bit by bit; none where that is not possible twice, or not at all: then it is read as a whole.
pub(super) fn open(path: &Path) -> Result<Option<std::fs::File>, Failure> {
    if is_stdin(path) || !path.is_file() {
        return Ok(None);
    }
    let file = std::fs::File::open(path)
        .map_err(|error| Failure::local(format_args!("cannot read {}: {error}", shown(path))))?;
    Ok(file.metadata().is_ok_and(|metadata| metadata.len() <= MAX_BYTES).then_some(file))
}

/// The text of a file, or of stdin.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::local(format_args!("cannot read {}: {error}", shown(path)));
    let mut bytes = vec![];
    let read = if is_stdin(path) {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).map_err(failed)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)
    };
    if read.map_err(failed)? as u64 > MAX_BYTES {
        return Err(Failure::local(format_args!("{} is larger than 2 GiB", shown(path))));
    }
    let text = String::from_utf8(bytes).map_err(|error| failed(std::io::Error::other(error.utf8_error())))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

/// How messages name the file.
pub(super) fn shown(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_in_order_and_deeply_where_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("c")).unwrap();
        for name in ["b.yaml", "a.json", "notes.txt", "c/d.yml"] {
            std::fs::write(path(name), "").unwrap();
        }
        let found = |recursive| find(&[folder.path().to_owned()], recursive).map_err(|failure| failure.to_string());
        assert_eq!(found(false), Ok(vec![path("a.json"), path("b.yaml")]));
        assert_eq!(found(true), Ok(vec![path("a.json"), path("b.yaml"), path("c/d.yml")]));
        std::os::unix::fs::symlink("/nowhere", path("e.yaml")).unwrap();
        assert!(found(false).unwrap().contains(&path("e.yaml")) && read(&path("e.yaml")).is_err());
        assert!(find(&[path("c")], false).is_ok() && find(&[path("notes.txt")], false).is_ok());
    }
}
