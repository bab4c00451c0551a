//! Reviews of slices, ready to be sent.

use anyhow::Result;
use bytes::Bytes;
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION, ENO_GROUP, ENO_VERSION};
use serde_json::{Value, json};

/// The body of a call.
#[derive(Debug, Clone)]
pub struct Review {
    /// The hook's path.
    pub path: &'static str,
    /// The body.
    pub body: Bytes,
    /// What the answer must be.
    pub allowed: bool,
}

/// The deletion of a slice that is being deleted already: it may pass, and nothing is read for it.
///
/// # Errors
/// It is no JSON.
pub fn repeated_deletion(bytes: usize) -> Result<Review> {
    let mut slice = slice(bytes);
    slice["metadata"]["deletionTimestamp"] = json!("2026-05-04T08:00:00Z");
    deletion(&slice, true)
}

/// The deletion of this slice.
///
/// # Errors
/// It is no JSON.
pub fn deletion(slice: &Value, allowed: bool) -> Result<Review> {
    let body = review(&slice["metadata"], "DELETE", &Value::Null, slice)?;
    Ok(Review { path: "/slices-delete", body, allowed })
}

/// An update that takes nothing away that is guarded, of a slice before and after.
///
/// # Errors
/// It is no JSON.
pub fn harmless_update(bytes: usize) -> Result<Review> {
    let slice = slice(bytes);
    let body = review(&slice["metadata"], "UPDATE", &slice, &slice)?;
    Ok(Review { path: "/slices-update", body, allowed: true })
}

fn review(metadata: &Value, operation: &str, new: &Value, old: &Value) -> Result<Bytes> {
    let review = json!({
        "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": ENO_GROUP, "version": ENO_VERSION, "kind": "ResourceSlice"},
            "resource": {"group": ENO_GROUP, "version": ENO_VERSION, "resource": "resourceslices"},
            "name": metadata["name"], "namespace": metadata["namespace"], "operation": operation,
            "userInfo": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
            "object": new, "oldObject": old, "dryRun": false,
        },
    });
    Ok(serde_json::to_vec(&review)?.into())
}

/// A slice with about so many bytes of manifests, of Deployments as people write them.
fn slice(bytes: usize) -> Value {
    let one = json!({"manifest": deployment(0).to_string()}).to_string().len();
    let resources: Vec<_> = (0..bytes / one).map(|index| json!({"manifest": deployment(index).to_string()})).collect();
    json!({
        "apiVersion": ENO_API_VERSION, "kind": "ResourceSlice",
        "metadata": {
            "name": "web-7k2xq", "generateName": "web-", "namespace": "team-a", "uid": "c0c5f3ac-6393-11e8-b7cc-42010a800002",
            "resourceVersion": "4711", "generation": 1, "creationTimestamp": "2026-05-04T06:00:10Z",
            "finalizers": [CLEANUP_FINALIZER],
            "ownerReferences": [{
                "apiVersion": ENO_API_VERSION, "kind": "Composition", "name": "web",
                "uid": "7e1d52ee-6393-11e8-b7cc-42010a800002", "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {"synthesisUUID": "4f1c2a90-6393-11e8-b7cc-42010a800002", "resources": resources},
    })
}

fn deployment(index: usize) -> Value {
    let env: Vec<_> =
        (0..12).map(|n| json!({"name": format!("SETTING_{n}"), "value": format!("value of {n}")})).collect();
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": format!("web-{index}"), "namespace": "web", "labels": {"app": "web", "tier": "front"}},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web", "tier": "front"}},
                "spec": {"containers": [{
                    "name": "web", "image": "registry.example/web:1.2.3", "args": ["--listen=:8080", "--greeting=\"hello\""],
                    "ports": [{"containerPort": 8080, "protocol": "TCP"}], "env": env,
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
                }]},
            },
        },
    })
}
