//! Writes destroys as CloudEvents in JSON, one a line, to a file or to standard output.
//!
//! A line is written when it has reached the operating system; a host that crashes may lose the last ones. Where another
//! file takes the path (log rotation), that one is written to from then on.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use eno_shared::pods::destroy::Destroy;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::cloud_event::CloudEvent;
use super::{Failure, Sink};

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file, to whose end they are added.
    File(PathBuf),
}

/// Writes lines.
pub struct JsonLines {
    place: Arc<Mutex<Place>>,
    cluster: String,
}

struct Place {
    target: Target,
    open: Option<File>,
}

impl JsonLines {
    /// One that tells of the cluster of that uid. Files are opened with the first line: a disk may be full for a while.
    #[must_use]
    pub fn new(target: Target, cluster: &str) -> Self {
        let place = Place { target, open: None };
        JsonLines { place: Arc::new(Mutex::new(place)), cluster: cluster.to_owned() }
    }
}

impl Sink for JsonLines {
    fn name(&self) -> &str {
        "json-lines"
    }

    fn deliver(&self, destroy: Arc<Destroy>) -> BoxFuture<'_, Result<(), Failure>> {
        async move {
            let mut line = CloudEvent::of(&destroy, &self.cluster)?.structured();
            line.push(b'\n');
            let place = self.place.clone();
            let write = move || place.lock().unwrap_or_else(PoisonError::into_inner).write(&line);
            match tokio::task::spawn_blocking(write).await {
                Ok(written) => written.map_err(|error| Failure::passing(error.to_string())),
                Err(error) => Err(Failure::passing(error.to_string())),
            }
        }
        .boxed()
    }
}

impl Place {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let path = match &self.target {
            Target::Stdout => {
                let mut stdout = io::stdout().lock();
                return stdout.write_all(line).and_then(|()| stdout.flush());
            }
            Target::File(path) => path,
        };
        let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
        let there = std::fs::metadata(path).map(identity).ok();
        let mut file = match self.open.take() {
            Some(file) if file.metadata().map(identity).ok() == there => file,
            Some(_) | None => open(path)?,
        };
        // After a failure it is opened anew, which mends what was written in part.
        file.write_all(line)?;
        self.open = Some(file);
        Ok(())
    }
}

/// Opens the file for lines to be added. A last one that is there in part becomes a line of its own, which no reader takes
/// for an event.
fn open(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Retry;
    use super::super::fixtures::destroy;
    use super::*;

    async fn deliver(sink: &JsonLines, name: &str) -> Result<(), Failure> {
        sink.deliver(Arc::new(destroy(name, "u1"))).await
    }

    /// The names of the pods, line by line; what is no event is as it is.
    fn lines(path: &Path) -> Vec<String> {
        let subject = |line: &str| {
            let event: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(event["data"]["pod"]["name"].as_str()?.to_owned())
        };
        fs::read_to_string(path).unwrap().lines().map(|line| subject(line).unwrap_or(line.to_owned())).collect()
    }

    #[tokio::test]
    async fn adds_a_line_for_each_destroy_to_the_file_that_has_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let (path, rotated) = (folder.path().join("destroys"), folder.path().join("destroys.1"));
        let sink = JsonLines::new(Target::File(path.clone()), "c1");
        deliver(&sink, "a").await.unwrap();
        deliver(&sink, "b").await.unwrap();
        fs::rename(&path, &rotated).unwrap();
        deliver(&sink, "c").await.unwrap();
        assert_eq!((lines(&rotated), lines(&path)), (vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]));
        fs::remove_file(&path).unwrap();
        deliver(&sink, "d").await.unwrap();
        assert_eq!(lines(&path), ["d"]);
    }

    #[tokio::test]
    async fn a_line_that_was_cut_off_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("destroys");
        fs::write(&path, "{\"specversion\":\"1.").unwrap();
        let sink = JsonLines::new(Target::File(path.clone()), "c1");
        deliver(&sink, "a").await.unwrap();
        assert_eq!(lines(&path), ["{\"specversion\":\"1.", "a"]);
    }

    #[tokio::test]
    async fn a_full_disk_and_a_missing_folder_may_pass() {
        let full = JsonLines::new(Target::File("/dev/full".into()), "c1");
        assert!(matches!(deliver(&full, "a").await, Err(Failure { retry: Retry::After(None), .. })));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("later/destroys");
        let sink = JsonLines::new(Target::File(path.clone()), "c1");
        assert!(matches!(deliver(&sink, "a").await, Err(Failure { retry: Retry::After(None), .. })));
        fs::create_dir(folder.path().join("later")).unwrap();
        deliver(&sink, "a").await.unwrap();
        assert_eq!(lines(&path), ["a"]);
    }
}
