//! `kubectl eno snapshot`: Eno's objects in a file, to look at where there is no cluster.

mod kept;
mod write;

use std::process::ExitCode;

use eno_shared::Lookup;
use eno_shared::api::{Composition, Kind, Metadata, ResourceSlice, Symphony, Synthesizer};
use eno_shared::client::{self, ReadError};
use jiff::Timestamp;
use kube::core::params::ListParams;
use serde_json::{Value, json};

use crate::cli::{Cli, SnapshotFlags};
use crate::cluster::Cluster;
use crate::dump::marker::Marker;
use crate::failure::Failure;
use crate::warnings::{Warnings, say};
use kept::Kept;
pub(super) use kept::NamespaceKind;
use write::Writer;

/// How many requests run at once: one of each kind.
const CONCURRENCY: u16 = 4;

/// Runs the command.
///
/// # Errors
/// Where slices or compositions cannot be read, or the file cannot be written. What else cannot be read is a warning.
pub(super) async fn run(flags: &SnapshotFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let warnings = Warnings::default();
    let (cluster, namespace) = super::cluster(cli, CONCURRENCY, &warnings)?;
    let namespace = Some(namespace).filter(|_| !flags.all_namespaces);
    let mut read = Reading { cluster: &cluster, namespace: namespace.as_deref(), objects: vec![], missing: vec![] };
    if flags.full {
        read.all::<true>().await?;
    } else {
        read.all::<false>().await?;
    }
    let Reading { objects, missing, .. } = read;
    let count = objects.len();
    let marker = Marker { taken: Timestamp::now(), namespace, missing, full: flags.full };
    let writer = Writer::open(flags.output_file.as_deref(), flags.form)?;
    writer.write(std::iter::once(marker.object()).chain(objects))?;
    if let Some(path) = &flags.output_file {
        say(format_args!("{count} objects written to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What has been read so far.
struct Reading<'a> {
    cluster: &'a Cluster,
    namespace: Option<&'a str>,
    objects: Vec<Value>,
    /// What could not be read.
    missing: Vec<String>,
}

impl Reading<'_> {
    /// `FULL` keeps manifests.
    async fn all<const FULL: bool>(&mut self) -> Result<(), Failure> {
        let namespace = self.namespace;
        // First of all, so that no slice is younger than the compositions: it would seem to be unused.
        let slices = self.list::<ResourceSlice, FULL>(namespace).await;
        let (compositions, symphonies, synthesizers, namespaces) = futures::join!(
            self.list::<Composition, FULL>(namespace),
            self.list::<Symphony, FULL>(namespace),
            self.list::<Synthesizer, FULL>(None),
            self.namespaces(),
        );
        let host = &self.cluster.host;
        self.keep(slices.map_err(|error| Failure::read::<ResourceSlice>(&error, host))?);
        self.keep(compositions.map_err(|error| Failure::read::<Composition>(&error, host))?);
        self.keep_some("symphonies", symphonies);
        self.keep_some("synthesizers", synthesizers);
        match namespaces {
            Ok(namespaces) => self.objects.extend(namespaces),
            Err(error) => self.lacks("namespaces", &error),
        }
        Ok(())
    }

    async fn list<K: Kind, const FULL: bool>(
        &self,
        namespace: Option<&str>,
    ) -> Result<Vec<client::Listed<Kept<K, FULL>>>, ReadError> {
        client::list(&self.cluster.client, namespace, &ListParams::default(), self.cluster.timeout).await
    }

    /// Of namespaces, whether they are being deleted is all that matters.
    async fn namespaces(&self) -> Result<Vec<Value>, ReadError> {
        let mut selection = ListParams::default();
        if let Some(namespace) = self.namespace {
            selection = selection.fields(&format!("metadata.name={namespace}"));
        }
        let listed =
            client::list_metadata::<NamespaceKind>(&self.cluster.client, None, &selection, self.cluster.timeout);
        Ok(listed.await?.iter().map(namespace_object).collect())
    }

    fn keep<K: Kind, const FULL: bool>(&mut self, listed: Vec<client::Listed<Kept<K, FULL>>>) {
        for client::Listed { namespace, name, object } in listed {
            match object {
                Lookup::Found(object) => self.objects.push(object.json),
                Lookup::Missing => {}
                Lookup::Unknown(why) => {
                    self.cluster.warnings.warn(format!("the snapshot lacks an object: {why}"));
                    self.missing.push(format!("{} {namespace}/{name}", K::SINGULAR));
                }
            }
        }
    }

    /// Of what no verdict rests on.
    fn keep_some<K: Kind, const FULL: bool>(
        &mut self,
        what: &str,
        listed: Result<Vec<client::Listed<Kept<K, FULL>>>, ReadError>,
    ) {
        match listed {
            Ok(listed) => self.keep(listed),
            Err(error) => self.lacks(what, &error),
        }
    }

    fn lacks(&self, what: &str, error: &ReadError) {
        self.cluster.warnings.warn(format!("the snapshot lacks {what}: {error}"));
    }
}

fn namespace_object(metadata: &Metadata) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": metadata.name, "uid": metadata.uid, "labels": metadata.labels,
            "creationTimestamp": metadata.creation_timestamp, "deletionTimestamp": metadata.deletion_timestamp,
        },
    })
}
