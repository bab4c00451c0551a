//! The first object of a snapshot: what the snapshot holds, and when it was taken.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// `apiVersion` of the marker. It is no object of any cluster.
const API_VERSION: &str = "kubectl-eno.dev/v1";
/// `kind` of the marker.
const KIND: &str = "Snapshot";
/// Annotation of a slice whose manifests were cut: it must not be brought back to a cluster as it is.
pub const CUT_ANNOTATION: &str = "kubectl-eno.dev/manifests-cut";

/// What a snapshot says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Marker {
    /// When it was taken, by the clock of whoever took it.
    pub taken: Timestamp,
    /// The only namespace that it is of.
    pub namespace: Option<String>,
    /// Slices and compositions that could not be read.
    pub missing: Vec<String>,
    /// Does it hold manifests?
    pub full: bool,
}

/// Is it a marker?
pub fn is_marker(api_version: &str, kind: &str) -> bool {
    api_version == API_VERSION && kind == KIND
}

impl Marker {
    /// As an object.
    pub fn object(&self) -> Value {
        json!({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "snapshot"}, "spec": self})
    }

    /// From the JSON of an object.
    pub fn read(json: &str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Object {
            api_version: String,
            kind: String,
            spec: Marker,
        }
        let Object { api_version, kind, spec } = serde_json::from_str(json).ok()?;
        is_marker(&api_version, &kind).then_some(spec)
    }

    /// Why the snapshot is not all there is; `None` where it is.
    pub fn lacks(&self) -> Option<String> {
        if let Some(namespace) = &self.namespace {
            return Some(format!("it is of namespace {namespace} only"));
        }
        (!self.missing.is_empty()).then(|| format!("it lacks {}", self.missing.join(", ")))
    }
}
