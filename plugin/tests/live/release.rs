//! `kubectl eno release` against a server that keeps what is written.

use std::path::Path;

use serde_json::json;

use super::api_server::{ApiServer, Request, Response};
use super::store::Store;
use super::terminal;
use crate::{COMPOSITIONS, SLICES, command, composition, outcome, run, slice};

/// What our webhook says, as the API server passes it on.
const DENIAL: &str = "admission webhook \"slices-update.webhook.kubectl-eno.dev\" denied the request: it must stay";

/// A slice that its deleting composition needs, and one that nothing needs.
fn going() -> Store {
    let mut legacy = composition("team-a", "legacy", &["legacy-a"], true);
    legacy["metadata"]["generation"] = json!(2);
    Store::of(&[legacy, slice("team-a", "legacy-a", "legacy", true), slice("team-a", "free", "gone", true)])
}

fn unmeddled(_: &Store, _: &Request) -> Option<Response> {
    None
}

fn path(name: &str) -> String {
    format!("{SLICES}/{name}")
}

fn patches(server: &ApiServer) -> Vec<Request> {
    server.requests().into_iter().filter(|request| request.method == "PATCH").collect()
}

/// Runs it with backups in a folder; returns the folder, too.
fn release(server: &ApiServer, args: &[&str]) -> (i32, String, String, tempfile::TempDir) {
    let backups = tempfile::tempdir().unwrap();
    let folder = format!("--backup-dir={}", backups.path().display());
    let (code, stdout, stderr) = run(server, &[&["release"], args, &[&folder]].concat());
    (code, stdout, stderr, backups)
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn lets_go_of_what_nothing_needs() {
    let store = going();
    let server = store.serve(unmeddled);
    let (code, stdout, stderr, backups) = release(&server, &["slice/free", "--yes"]);
    assert_eq!((code, stdout.as_str()), (0, "resourceslice.eno.azure.io/free finalizer released\n"), "{stderr}");
    assert!(stderr.starts_with("Context: c   Cluster: http://127.0.0.1:"), "{stderr}");
    assert!(stderr.contains("/free   Release: its composition gone does not exist any more\n"), "{stderr}");
    assert!(stderr.contains("This removes finalizer eno.azure.io/cleanup (others stay: <none>).\n"), "{stderr}");
    assert!(stderr.contains("resourceslice.eno.azure.io/free gone after 0."), "{stderr}");
    assert!(!stderr.contains("will NOT be deleted"), "{stderr}");
    assert!(store.get(&path("free")).is_none());
    // The server is asked before anything is written.
    let queries: Vec<String> = patches(&server).into_iter().map(|patch| patch.query).collect();
    assert!(queries.len() == 2 && queries[0].contains("dryRun=All") && !queries[1].contains("dryRun"), "{queries:?}");
    let files = files(backups.path());
    assert!(files.len() == 1 && files[0].starts_with("eno-release-resourceslice-team-a-free-2"), "{files:?}");
}

#[test]
fn what_is_needed_is_refused_without_force() {
    let store = going();
    let server = store.serve(unmeddled);
    let (code, stdout, stderr, backups) = release(&server, &["slice/legacy-a", "slice/free", "--yes"]);
    assert_eq!((code, stdout.as_str()), (4, ""), "{stderr}");
    let why = "composition legacy is being deleted and still needs it: Eno has not seen the deletion yet";
    assert!(stderr.contains(&format!("/legacy-a   Hold: {why}\n")), "{stderr}");
    assert!(stderr.contains("1 resource will NOT be deleted by Eno then:\n  v1/Secret s\n"), "{stderr}");
    let refused = format!(
        "error: refused: resourceslice.eno.azure.io/legacy-a is still needed: {why}. See: kubectl eno why \
         resourceslice/legacy-a -n team-a; or pass --force to go on\n"
    );
    assert!(stderr.ends_with(&refused), "{stderr}");
    // Of several, none is released.
    assert_eq!(patches(&server).len(), 0);
    assert_eq!(files(backups.path()), [""; 0]);
    assert!(store.get(&path("free")).is_some());
}

#[test]
fn force_overrides_our_webhook_only_where_that_denies() {
    let store = going();
    let deny = |_: &Store, request: &Request| {
        let denied = request.method == "PATCH"
            && !request.body.contains("kubectl-eno.dev~1force\"")
            && !request.body.contains("\"kubectl-eno.dev/force\":\"uid-legacy-a\"");
        denied.then(|| Response::forbidden(DENIAL))
    };
    let server = store.serve(deny);
    let (code, stdout, stderr, _backups) = release(&server, &["slice/legacy-a", "--yes", "--force"]);
    assert_eq!((code, stdout.as_str()), (0, "resourceslice.eno.azure.io/legacy-a finalizer released\n"), "{stderr}");
    assert!(stderr.contains("The webhook denies it; kubectl-eno.dev/force is set to override that.\n"), "{stderr}");
    assert!(store.get(&path("legacy-a")).is_none());
    let marked: Vec<bool> = patches(&server).iter().map(|patch| patch.body.contains("kubectl-eno.dev")).collect();
    assert_eq!(marked, [false, true, true]);

    let server = going().serve(unmeddled);
    assert_eq!(release(&server, &["slice/legacy-a", "--yes", "--force"]).0, 0);
    assert!(patches(&server).iter().all(|patch| !patch.body.contains("kubectl-eno.dev")));
}

#[test]
fn a_try_that_finds_another_version_promises_nothing() {
    let server = going().serve(|_, request| (request.method == "PATCH").then(Response::test_failed));
    let (code, stdout, stderr, _backups) = release(&server, &["slice/free", "--dry-run=server"]);
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(
        stderr.contains("slice.eno.azure.io/free has changed since it was looked at, and was not released"),
        "{stderr}"
    );
}

#[test]
fn a_denial_that_force_does_not_override_is_told() {
    let deny = |_: &Store, request: &Request| (request.method == "PATCH").then(|| Response::forbidden(DENIAL));
    let store = going();
    let server = store.serve(deny);
    let (code, _, stderr, backups) = release(&server, &["slice/legacy-a", "--yes", "--force"]);
    assert_eq!(code, 1);
    assert!(stderr.ends_with(&format!("Error from server (Forbidden): {DENIAL}\n")), "{stderr}");
    // What the rules would release, the webhook may know better: nothing is forced by itself.
    let (code, _, stderr, _backups) = release(&server, &["slice/free", "--yes"]);
    assert_eq!(code, 4, "{stderr}");
    assert!(store.get(&path("free")).is_some() && store.get(&path("legacy-a")).is_some());
    assert_eq!(files(backups.path()), [""; 0]);
}

#[test]
fn what_is_not_being_deleted_keeps_its_finalizer_even_by_force() {
    let store = Store::of(&[composition("team-a", "web", &["web-a"], false), slice("team-a", "web-a", "web", false)]);
    let server = store.serve(unmeddled);
    for object in ["slice/web-a", "composition/web"] {
        let (code, _, stderr, _backups) = release(&server, &[object, "--yes", "--force"]);
        assert_eq!(code, 4, "{stderr}");
        assert!(stderr.contains("is not being deleted, and its finalizer will be needed when it is"), "{stderr}");
    }
    assert_eq!(patches(&server).len(), 0);
}

#[test]
fn one_finalizer_goes_and_the_others_stay() {
    let store = going();
    store.change(&path("free"), |slice| {
        slice["metadata"]["finalizers"] = json!(["example.com/a", "eno.azure.io/cleanup", "example.com/b"]);
    });
    let server = store.serve(unmeddled);
    let (code, _, stderr, _backups) = release(&server, &["slice/free", "--yes"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("(others stay: example.com/a, example.com/b)"), "{stderr}");
    let held = "/free is still there: finalizers of others hold it: example.com/a, example.com/b\n";
    assert!(stderr.ends_with(held), "{stderr}");

    let foreign = ["slice/free", "--yes", "--finalizer=example.com/b"];
    let (code, _, stderr, _backups) = release(&server, &foreign);
    assert_eq!(code, 4);
    assert!(stderr.contains("only who has set example.com/b knows whether it is"), "{stderr}");
    assert_eq!(release(&server, &[&foreign[..], &["--force"]].concat()).0, 0);
    assert_eq!(store.get(&path("free")).unwrap()["metadata"]["finalizers"], json!(["example.com/a"]));
}

#[test]
fn nothing_is_done_where_the_finalizer_is_not_on_it() {
    let store = going();
    store.change(&path("free"), |slice| slice["metadata"]["finalizers"] = json!(["example.com/a"]));
    let server = store.serve(unmeddled);
    let (code, stdout, stderr, _backups) = release(&server, &["slice/free"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.ends_with("finalizer eno.azure.io/cleanup is not on it: nothing to do\n"), "{stderr}");
}

#[test]
fn says_who_puts_the_finalizer_back() {
    let store = going();
    let server = store.serve(|store, request| {
        if request.method == "PATCH" && !request.query.contains("dryRun") {
            store.change(&path("free"), |slice| {
                slice["metadata"]["managedFields"] = json!([{"manager": "restorer", "time": "2026-03-01T12:00:00Z",
                    "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"eno.azure.io/cleanup\"": {}}}}}]);
            });
            return Some(Response::ok(store.get(&path("free")).unwrap()));
        }
        None
    });
    let (code, _, stderr, _backups) = release(&server, &["slice/free", "--yes"]);
    assert_eq!(code, 1);
    assert!(stderr.ends_with("/free has the finalizer again: re-added by restorer\n"), "{stderr}");
}

#[test]
fn dry_runs_write_nothing_and_need_no_confirmation() {
    let store = going();
    let server = store.serve(unmeddled);
    let (code, stdout, _, backups) = release(&server, &["slice/free", "--dry-run=client"]);
    assert_eq!((code, stdout.as_str()), (0, "resourceslice.eno.azure.io/free finalizer released (dry run)\n"));
    assert_eq!(patches(&server).len(), 0);
    let (code, stdout, _, _more) = release(&server, &["slice/free", "--dry-run=server"]);
    assert_eq!((code, stdout.as_str()), (0, "resourceslice.eno.azure.io/free finalizer released (server dry run)\n"));
    assert!(patches(&server).iter().all(|patch| patch.query.contains("dryRun=All")));
    assert_eq!(files(backups.path()), [""; 0]);
    assert!(store.get(&path("free")).is_some());
}

#[test]
fn nothing_is_released_without_a_backup_or_an_answer() {
    let store = going();
    let server = store.serve(unmeddled);
    let (code, _, stderr) = run(&server, &["release", "slice/free", "--yes", "--backup-dir=/does/not/exist"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("error: cannot write the backup /does/not/exist/eno-release-"), "{stderr}");
    let (code, _, stderr) = run(&server, &["release", "slice/free", "--no-backup"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("refusing to release without confirmation: pass --yes"), "{stderr}");
    assert!(store.get(&path("free")).is_some());
}

#[test]
fn asks_to_type_the_name() {
    for (answer, released) in [("free\n", true), ("y\n", false)] {
        let store = going();
        let server = store.serve(unmeddled);
        let (_folder, mut command) = command(&server, &["release", "slice/free", "--no-backup"]);
        let (code, shown) = terminal::run(&mut command, 80, &[("Type the name to confirm (free): ", answer)]);
        assert_eq!(code, 0, "{shown}");
        assert_eq!(store.get(&path("free")).is_none(), released, "{shown}");
        assert_eq!(shown.contains("release is cancelled"), !released, "{shown}");
    }
}

#[test]
fn a_composition_is_released_where_eno_would_do_it() {
    let store = going();
    let listed = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
    let list = |slices: Vec<serde_json::Value>| {
        store.change(&format!("{COMPOSITIONS}/legacy"), |legacy| {
            legacy["status"]["currentSynthesis"]["resourceSlices"] = json!(slices);
        });
    };
    list(listed(&["legacy-a", "legacy-b"]));
    let server = store.serve(unmeddled);
    let (code, _, stderr, _backups) = release(&server, &["composition/legacy", "--yes"]);
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("/legacy   NeededForDeletion\n"), "{stderr}");
    assert!(
        stderr.contains("legacy is still needed: Eno has not seen the deletion yet. See: kubectl eno why"),
        "{stderr}"
    );
    assert!(stderr.contains("What it holds is not known: slice legacy-b does not exist.\n"), "{stderr}");
    assert!(stderr.contains("1 resource will NOT be deleted by Eno then:\n  v1/Secret s\n"), "{stderr}");

    list(listed(&["legacy-a"]));
    store.change(&format!("{COMPOSITIONS}/legacy"), |legacy| {
        let current = &mut legacy["status"]["currentSynthesis"];
        current["observedCompositionGeneration"] = json!(2);
        current["reconciled"] = json!("2026-03-01T12:00:00Z");
    });
    store.change(&path("legacy-a"), |slice| slice["status"] = json!({"resources": [{"deleted": true}]}));
    let (code, stdout, stderr, _backups) = release(&server, &["composition", "legacy", "--yes"]);
    assert_eq!((code, stdout.as_str()), (0, "composition.eno.azure.io/legacy finalizer released\n"), "{stderr}");
    assert!(store.get(&format!("{COMPOSITIONS}/legacy")).is_none());
}

#[test]
fn a_backup_brings_a_slice_back() {
    let store = going();
    let server = store.serve(unmeddled);
    let (code, _, stderr, backups) = release(&server, &["slice/legacy-a", "--yes", "--force"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(store.get(&path("legacy-a")).is_none());
    let file = backups.path().join(&files(backups.path())[0]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    store.put(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}));
    let (_folder, mut command) = command(&server, &["restore", file.to_str().unwrap(), "--yes"]);
    let (code, stdout, stderr) = outcome(&command.output().unwrap());
    assert_eq!((code, stdout.as_str()), (0, "resourceslice.eno.azure.io/legacy-a restored\n"), "{stderr}");
    let restored = store.get(&path("legacy-a")).unwrap();
    assert_eq!(restored["spec"], slice("team-a", "legacy-a", "legacy", true)["spec"]);
    assert!(restored["metadata"]["deletionTimestamp"].is_null());
}

#[test]
fn a_webhook_that_does_not_answer_is_named() {
    let fail = |_: &Store, request: &Request| {
        let told = "Internal error occurred: failed calling webhook \"slices-update.webhook.kubectl-eno.dev\": refused";
        (request.method == "PATCH").then(|| Response::status(500, "InternalError", told))
    };
    let store = going();
    let (code, _, stderr, _backups) = release(&store.serve(fail), &["slice/legacy-a", "--yes", "--force"]);
    assert_eq!(code, 1);
    let next = "The webhook does not answer, and nothing passes without it. Next: kubectl eno doctor\n";
    assert!(stderr.contains("Error from server (InternalError)") && stderr.ends_with(next), "{stderr}");
    assert!(store.get(&path("legacy-a")).is_some());
}
