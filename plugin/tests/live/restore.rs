//! `kubectl eno restore` against a server that keeps what is written.

use serde_json::{Value, json};

use super::api_server::{ApiServer, Request, Response};
use super::store::Store;
use crate::{COMPOSITIONS, SLICES, composition, run, slice};

fn namespace() -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})
}

/// A composition that waits for a slice that does not exist (S1). It was made again since: its uid is another.
fn lacking() -> Store {
    let mut legacy = composition("team-a", "legacy", &["legacy-a", "legacy-b"], true);
    legacy["metadata"]["uid"] = json!("uid-now");
    Store::of(&[namespace(), legacy, slice("team-a", "legacy-a", "legacy", true)])
}

fn unmeddled(_: &Store, _: &Request) -> Option<Response> {
    None
}

/// Restores from a file that holds these objects.
fn restore(server: &ApiServer, objects: &[Value], args: &[&str]) -> (i32, String, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    std::fs::write(file.path(), list.to_string()).unwrap();
    run(server, &[&["restore", file.path().to_str().unwrap()], args].concat())
}

fn lost() -> Value {
    let mut lost = slice("team-a", "legacy-b", "legacy", true);
    lost["metadata"]["labels"] = json!({"app": "legacy"});
    lost["metadata"]["resourceVersion"] = json!("9");
    lost["metadata"]["annotations"] = json!({"kubectl-eno.dev/force": "uid-legacy-b"});
    lost["status"] = json!({"resources": [{"deleted": true}]});
    lost
}

#[test]
fn makes_a_lost_slice_again_for_the_composition_as_it_is_now() {
    let store = lacking();
    let server = store.serve(unmeddled);
    let (code, stdout, stderr) = restore(&server, &[lost(), slice("team-a", "legacy-a", "legacy", true)], &["--yes"]);
    assert_eq!((code, stdout.as_str()), (0, "resourceslice.eno.azure.io/legacy-b restored\n"), "{stderr}");
    let told = "This makes slice team-a/legacy-b again, with 1 resources: the current synthesis of composition legacy \
                lists it, and it does not exist\n";
    assert!(stderr.contains(told) && stderr.contains("1 to restore, 1 exist, 0 must not be restored\n"), "{stderr}");
    let made = store.get(&format!("{SLICES}/legacy-b")).unwrap();
    assert_eq!(made["spec"], lost()["spec"]);
    let metadata = &made["metadata"];
    assert_eq!(metadata["finalizers"], json!(["eno.azure.io/cleanup"]));
    assert_eq!(metadata["labels"], json!({"app": "legacy"}));
    let owner = &metadata["ownerReferences"];
    assert_eq!(
        *owner,
        json!([{"apiVersion": "eno.azure.io/v1", "kind": "Composition", "name": "legacy", "uid": "uid-now",
            "controller": true, "blockOwnerDeletion": true}])
    );
    // What the old one knew is not true any more.
    assert!(made["status"].is_null() && metadata["deletionTimestamp"].is_null() && metadata["annotations"].is_null());
}

#[test]
fn what_must_not_be_made_again_is_refused_with_the_reason() {
    let cases: [(&str, Store, Value); 5] = [
        ("no synthesis of composition.eno.azure.io/legacy lists it", lacking(), slice("team-a", "x", "legacy", true)),
        ("its composition none does not exist", lacking(), slice("team-a", "legacy-b", "none", true)),
        ("its manifests were cut", lacking(), {
            let mut cut = lost();
            cut["metadata"]["annotations"] = json!({"kubectl-eno.dev/manifests-cut": "true"});
            cut
        }),
        (
            "namespace team-a is being deleted",
            {
                let store = lacking();
                store.change("/api/v1/namespaces/team-a", |namespace| {
                    namespace["metadata"]["deletionTimestamp"] = json!("2026-03-01T11:00:00Z");
                });
                store
            },
            lost(),
        ),
        (
            "Eno has finished deleting composition.eno.azure.io/legacy",
            {
                let store = lacking();
                store.change(&format!("{COMPOSITIONS}/legacy"), |legacy| legacy["metadata"]["finalizers"] = json!([]));
                store
            },
            lost(),
        ),
    ];
    for (why, store, saved) in cases {
        let server = store.serve(unmeddled);
        let (code, stdout, stderr) = restore(&server, &[saved], &["--yes"]);
        assert_eq!((code, stdout.as_str()), (4, ""), "{stderr}");
        assert!(stderr.contains(why), "{why}: {stderr}");
        assert!(server.requests().iter().all(|request| request.method == "GET"));
    }
}

#[test]
fn a_slice_without_an_owner_goes_to_the_composition_that_lists_it() {
    let store = lacking();
    let mut ownerless = lost();
    ownerless["metadata"]["ownerReferences"] = json!([]);
    let (code, _, stderr) = restore(&store.serve(unmeddled), &[ownerless], &["--yes"]);
    assert_eq!(code, 0, "{stderr}");
    let made = store.get(&format!("{SLICES}/legacy-b")).unwrap();
    assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], "uid-now");
}

#[test]
fn dry_runs_make_nothing() {
    let store = lacking();
    let server = store.serve(unmeddled);
    for (flag, suffix) in [("--dry-run=client", "(dry run)"), ("--dry-run=server", "(server dry run)")] {
        let (code, stdout, _) = restore(&server, &[lost()], &[flag]);
        assert_eq!(code, 0);
        assert_eq!(stdout, format!("resourceslice.eno.azure.io/legacy-b restored {suffix}\n"));
        assert!(store.get(&format!("{SLICES}/legacy-b")).is_none());
    }
}

#[test]
fn asks_nobody_without_a_terminal() {
    let store = lacking();
    let (code, _, stderr) = restore(&store.serve(unmeddled), &[lost()], &[]);
    assert_eq!(code, 1);
    assert!(stderr.contains("refusing to restore without confirmation: pass --yes"), "{stderr}");
    assert!(store.get(&format!("{SLICES}/legacy-b")).is_none());
}

#[test]
fn says_what_the_file_lacks() {
    let server = lacking().serve(unmeddled);
    let (code, _, stderr) = restore(&server, &[lost()], &["--name=other"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("there is no slice other in "), "{stderr}");
    let (code, _, stderr) = restore(&server, &[namespace()], &[]);
    assert_eq!(code, 1);
    assert!(stderr.contains("there is no slice of Eno in "), "{stderr}");
    let mut damaged = lost();
    damaged["spec"]["resources"] = json!("many");
    let (code, _, stderr) = restore(&server, &[damaged], &[]);
    assert_eq!(code, 1);
    assert!(stderr.contains("slice team-a/legacy-b of the file is damaged"), "{stderr}");
}
