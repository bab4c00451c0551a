//! The slices of the file.

use eno_shared::api::{Composition, Kind, Metadata, ResourceSlice, decode};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION, ENO_GROUP};
use eno_shared::owner::composition_owner;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::RestoreFlags;
use crate::dump::marker::CUT_ANNOTATION;
use crate::dump::{self, Dump};
use crate::failure::Failure;
use crate::warnings::Warnings;

/// A slice as it was saved.
pub(super) struct Saved {
    pub namespace: String,
    pub name: String,
    /// The composition that owned it.
    pub owner: Option<String>,
    /// Its manifests were cut.
    pub is_cut: bool,
    spec: Value,
    labels: Value,
}

/// Reads the file. `only` is a namespace that was asked for, `default` that of objects that name none.
///
/// # Errors
/// It cannot be read, or lacks what was asked for.
pub(super) fn read(flags: &RestoreFlags, only: Option<&str>, default: &str) -> Result<Vec<Saved>, Failure> {
    let options = dump::Options {
        paths: vec![flags.file.clone()],
        recursive: false,
        now: Timestamp::now(),
        complete: false,
        namespace: default.to_owned(),
    };
    let dump = Dump::read(options, Warnings::default())?;
    let mut saved = vec![];
    for (namespace, name, json) in dump.objects(ENO_GROUP, ResourceSlice::KIND) {
        let asked = flags.names.is_empty() || flags.names.contains(&name);
        if !asked || only.is_some_and(|only| only != namespace) {
            continue;
        }
        let damaged = |error: &dyn std::fmt::Display| {
            Failure::local(format_args!("slice {namespace}/{name} of the file is damaged: {error}"))
        };
        let slice: ResourceSlice = decode(json.as_bytes()).map_err(|error| damaged(&error))?;
        let object: Value = serde_json::from_str(json).map_err(|error| damaged(&error))?;
        saved.push(of(namespace, &slice.metadata, object));
    }
    for name in &flags.names {
        if !saved.iter().any(|slice| slice.name == *name) {
            return Err(Failure::local(format_args!("there is no slice {name} in {}", flags.file.display())));
        }
    }
    if saved.is_empty() {
        return Err(Failure::local(format_args!("there is no slice of Eno in {}", flags.file.display())));
    }
    Ok(saved)
}

fn of(namespace: String, metadata: &Metadata, mut object: Value) -> Saved {
    Saved {
        namespace,
        name: metadata.name.clone(),
        owner: composition_owner(metadata).map(|owner| owner.name.clone()),
        is_cut: metadata.annotation(CUT_ANNOTATION).is_some() || !object["spec"].is_object(),
        spec: object["spec"].take(),
        labels: object["metadata"]["labels"].take(),
    }
}

impl Saved {
    /// How many resources it holds.
    pub fn resources(&self) -> usize {
        self.spec["resources"].as_array().map_or(0, Vec::len)
    }

    /// The slice to be made: name, manifests, Eno's finalizer, and the composition as it is now for its owner. No status:
    /// what Eno has deleted since, the old one would not know.
    pub fn object(&self, composition: &Composition) -> Value {
        let Metadata { name, uid, .. } = &composition.metadata;
        let mut object = json!({
            "apiVersion": ENO_API_VERSION, "kind": ResourceSlice::KIND,
            "metadata": {
                "namespace": self.namespace, "name": self.name,
                "finalizers": [CLEANUP_FINALIZER],
                "ownerReferences": [{
                    "apiVersion": ENO_API_VERSION, "kind": Composition::KIND, "name": name, "uid": uid,
                    "controller": true, "blockOwnerDeletion": true,
                }],
            },
            "spec": self.spec,
        });
        if self.labels.is_object() {
            object["metadata"]["labels"] = self.labels.clone();
        }
        object
    }
}
