//! Changes as values: a patch or a delete, with what it demands of the object as it is stored.
//!
//! A failed demand is a 422 of a patch and a 409 of a delete. Both mean: look again.

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, TestOperation};
use serde_json::{Value, json};

use crate::api::Metadata;
use crate::names::{CLEANUP_FINALIZER, FORCE_ANNOTATION};

/// Preconditions of a delete: the object as it was judged, and no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preconditions {
    /// The uid it must have.
    pub uid: String,
    /// The resourceVersion it must have.
    pub resource_version: String,
}

impl Preconditions {
    /// The object as read.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Preconditions { uid: metadata.uid.clone(), resource_version: metadata.resource_version.clone() }
    }
}

/// Removes one finalizer, and leaves all others where they are. `None` where it is not on the object.
///
/// The patch tests uid, resourceVersion and the finalizer at its index first: an index alone could hit another's finalizer
/// that has moved there since.
#[must_use]
pub fn remove_finalizer(metadata: &Metadata, finalizer: &str) -> Option<Patch> {
    let index = metadata.finalizers.iter().position(|present| present == finalizer)?;
    let place = pointer(&["metadata", "finalizers", &index.to_string()]);
    let mut operations = guards(metadata);
    operations.push(PatchOperation::Test(TestOperation { path: place.clone(), value: json!(finalizer) }));
    operations.push(PatchOperation::Remove(RemoveOperation { path: place }));
    Some(Patch(operations))
}

/// As [`remove_finalizer`], and marks the object with its own uid in the same step: the override of a webhook that denies
/// the removal.
#[must_use]
pub fn force_finalizer_off(metadata: &Metadata, finalizer: &str) -> Option<Patch> {
    let Patch(removal) = remove_finalizer(metadata, finalizer)?;
    let Patch(mut operations) = annotate(metadata, FORCE_ANNOTATION, &metadata.uid);
    operations.extend(removal);
    Some(Patch(operations))
}

/// Adds Eno's finalizer to an object that is being created. `None` where it is there already.
///
/// An absent list, `null` and `[]` are set whole: appending to an absent list fails, and a patch that fails is a 500
/// whatever the failurePolicy says.
#[must_use]
pub fn add_cleanup_finalizer(metadata: &Metadata) -> Option<Patch> {
    if metadata.has_cleanup_finalizer() {
        return None;
    }
    let (path, value) = if metadata.finalizers.is_empty() {
        (pointer(&["metadata", "finalizers"]), json!([CLEANUP_FINALIZER]))
    } else {
        (pointer(&["metadata", "finalizers", "-"]), json!(CLEANUP_FINALIZER))
    };
    Some(Patch(vec![PatchOperation::Add(AddOperation { path, value })]))
}

/// Puts Eno's finalizer back on a stored object, guarded. `None` where it is there already.
#[must_use]
pub fn readd_cleanup_finalizer(metadata: &Metadata) -> Option<Patch> {
    let Patch(addition) = add_cleanup_finalizer(metadata)?;
    let mut operations = guards(metadata);
    operations.extend(addition);
    Some(Patch(operations))
}

/// Sets an annotation of a stored object, guarded.
#[must_use]
pub fn annotate(metadata: &Metadata, key: &str, value: &str) -> Patch {
    let mut operations = guards(metadata);
    // Adding a member to an absent map fails, and adding the map would replace one that is there.
    let (path, value) = if metadata.annotations.is_empty() {
        (pointer(&["metadata", "annotations"]), json!({ key: value }))
    } else {
        (pointer(&["metadata", "annotations", key]), json!(value))
    };
    operations.push(PatchOperation::Add(AddOperation { path, value }));
    Patch(operations)
}

fn guards(metadata: &Metadata) -> Vec<PatchOperation> {
    let test = |field: &str, value: &str| {
        PatchOperation::Test(TestOperation { path: pointer(&["metadata", field]), value: Value::from(value) })
    };
    vec![test("uid", &metadata.uid), test("resourceVersion", &metadata.resource_version)]
}

fn pointer(path: &[&str]) -> PointerBuf {
    PointerBuf::from_tokens(path.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(finalizers: &[&str]) -> Metadata {
        Metadata {
            uid: "u".into(),
            resource_version: "7".into(),
            finalizers: finalizers.iter().map(ToString::to_string).collect(),
            ..Metadata::default()
        }
    }

    fn apply(patch: &Patch, mut object: Value) -> Result<Value, json_patch::PatchError> {
        json_patch::patch(&mut object, patch).map(|()| object)
    }

    #[test]
    fn removes_one_finalizer_and_leaves_the_others() {
        let patch = remove_finalizer(&metadata(&["a/b", CLEANUP_FINALIZER, "c/d"]), CLEANUP_FINALIZER).unwrap();
        let stored =
            json!({"metadata": {"uid": "u", "resourceVersion": "7", "finalizers": ["a/b", CLEANUP_FINALIZER, "c/d"]}});
        assert_eq!(apply(&patch, stored).unwrap()["metadata"]["finalizers"], json!(["a/b", "c/d"]));
    }

    #[test]
    fn a_finalizer_that_moved_is_not_hit() {
        let patch = remove_finalizer(&metadata(&[CLEANUP_FINALIZER, "c/d"]), CLEANUP_FINALIZER).unwrap();
        let stored =
            json!({"metadata": {"uid": "u", "resourceVersion": "7", "finalizers": ["c/d", CLEANUP_FINALIZER]}});
        assert!(apply(&patch, stored).unwrap_err().to_string().contains("/metadata/finalizers/0"));
    }

    #[test]
    fn another_uid_or_version_is_not_patched() {
        let patch = remove_finalizer(&metadata(&[CLEANUP_FINALIZER]), CLEANUP_FINALIZER).unwrap();
        for (uid, version, blamed) in [("other", "7", "/metadata/uid"), ("u", "8", "/metadata/resourceVersion")] {
            let stored =
                json!({"metadata": {"uid": uid, "resourceVersion": version, "finalizers": [CLEANUP_FINALIZER]}});
            assert!(apply(&patch, stored).unwrap_err().to_string().contains(blamed));
        }
    }

    #[test]
    fn forces_by_an_annotation_that_comes_with_the_removal() {
        let patch = force_finalizer_off(&metadata(&["a/b", CLEANUP_FINALIZER]), CLEANUP_FINALIZER).unwrap();
        let stored =
            json!({"metadata": {"uid": "u", "resourceVersion": "7", "finalizers": ["a/b", CLEANUP_FINALIZER]}});
        let forced = apply(&patch, stored).unwrap();
        assert_eq!(forced["metadata"]["finalizers"], json!(["a/b"]));
        assert_eq!(forced["metadata"]["annotations"], json!({FORCE_ANNOTATION: "u"}));
    }

    #[test]
    fn adds_the_finalizer_to_whatever_list_there_is() {
        for (list, expected) in [
            (None, json!([CLEANUP_FINALIZER])),
            (Some(json!(null)), json!([CLEANUP_FINALIZER])),
            (Some(json!([])), json!([CLEANUP_FINALIZER])),
            (Some(json!(["a/b"])), json!(["a/b", CLEANUP_FINALIZER])),
        ] {
            let mut object = json!({"metadata": {"name": "x"}});
            if let Some(list) = list {
                object["metadata"]["finalizers"] = list;
            }
            let metadata: Metadata = serde_json::from_value(object["metadata"].clone()).unwrap();
            let patch = add_cleanup_finalizer(&metadata).unwrap();
            assert_eq!(apply(&patch, object).unwrap()["metadata"]["finalizers"], expected);
        }
        assert_eq!(add_cleanup_finalizer(&metadata(&[CLEANUP_FINALIZER, CLEANUP_FINALIZER])), None);
    }
}
