//! `kubectl eno cleanup` against a server that keeps what is written.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::api_server::{ApiServer, Request, Response};
use super::store::Store;
use crate::{COMPOSITIONS, SLICES, composition, run, slice};

/// A composition with a slice it needs, one that is garbage, one that is held, and one that may be released.
pub(super) fn mixed() -> Store {
    Store::of(&[
        composition("team-a", "web", &["web-a"], false),
        slice("team-a", "web-a", "web", false),
        slice("team-a", "web-old", "web", false),
        slice("team-a", "web-free", "web", true),
        composition("team-a", "legacy", &["legacy-a"], true),
        slice("team-a", "legacy-a", "legacy", true),
    ])
}

pub(super) fn unmeddled(_: &Store, _: &Request) -> Option<Response> {
    None
}

pub(super) fn path(name: &str) -> String {
    format!("{SLICES}/{name}")
}

/// The writes so far: method and the last part of the path.
fn writes(server: &ApiServer) -> Vec<String> {
    let requests = server.requests().into_iter().filter(|request| request.method != "GET");
    let name = |request: &Request| request.path.rsplit('/').next().unwrap().to_owned();
    let mut writes: Vec<String> = requests.map(|request| format!("{} {}", request.method, name(&request))).collect();
    writes.sort();
    writes
}

#[test]
fn collects_and_releases_what_the_verdicts_say_and_nothing_else() {
    let store = mixed();
    let server = store.serve(unmeddled);
    let (code, stdout, stderr) = run(&server, &["cleanup", "--yes"]);
    assert_eq!(code, 0, "{stderr}");
    let mut lines: Vec<&str> = stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "resourceslice.eno.azure.io \"web-old\" deleted from team-a namespace",
            "resourceslice.eno.azure.io/web-free finalizer released",
        ]
    );
    assert!(stderr.starts_with(&format!("Context: c   Cluster: {}   User: u\n", server.url)), "{stderr}");
    assert!(stderr.contains("2 to change, 1 kept, 1 held, 0 unknown (see: kubectl eno slices -n team-a)"), "{stderr}");
    assert!(stderr.contains("web-old    web           Collect   Unreferenced"), "{stderr}");
    assert!(stderr.contains("2 changed, 0 skipped, 0 failed in "), "{stderr}");
    // The answer of the DELETE lets the finalizer come off at once.
    assert_eq!(writes(&server), ["DELETE web-old", "PATCH web-free", "PATCH web-old"]);
    assert!(store.get(&path("web-old")).is_none() && store.get(&path("web-free")).is_none());
    assert!(store.get(&path("web-a")).is_some() && store.get(&path("legacy-a")).is_some());
}

#[test]
fn says_when_there_is_nothing_to_do() {
    let server = Store::of(&[composition("team-a", "web", &[], false)]).serve(unmeddled);
    let (code, stdout, stderr) = run(&server, &["cleanup"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("nothing to change, 0 kept, 0 held, 0 unknown"), "{stderr}");
}

#[test]
fn asks_nobody_without_a_terminal_and_writes_nothing() {
    let server = mixed().serve(unmeddled);
    let (code, stdout, stderr) = run(&server, &["cleanup"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    let told = "error: refusing to clean up without confirmation: pass --yes (stdin is not a terminal)\n";
    assert!(stderr.ends_with(told), "{stderr}");
    assert_eq!(writes(&server), [""; 0]);
}

#[test]
fn dry_runs_write_nothing() {
    let store = mixed();
    let server = store.serve(unmeddled);
    let (code, stdout, _) = run(&server, &["cleanup", "--dry-run=client", "--only=collect"]);
    assert_eq!(
        (code, stdout.as_str()),
        (0, "resourceslice.eno.azure.io \"web-old\" deleted from team-a namespace (dry run)\n")
    );
    assert_eq!(writes(&server), [""; 0]);
    let (code, stdout, stderr) = run(&server, &["cleanup", "--dry-run=server"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("\"web-old\" deleted from team-a namespace (server dry run)\n"), "{stdout}");
    assert!(stdout.contains("/web-free finalizer released (server dry run)\n"), "{stdout}");
    assert_eq!(writes(&server), ["DELETE web-old", "PATCH web-free"]);
    assert!(store.get(&path("web-old")).unwrap()["metadata"]["deletionTimestamp"].is_null());
    assert!(store.get(&path("web-free")).is_some());
}

#[test]
fn what_a_composition_lists_by_now_is_skipped() {
    let store = mixed();
    let looks = AtomicUsize::new(0);
    let server = store.serve(move |store, request| {
        // The first list makes the preview, the second is the second look.
        if request.path == COMPOSITIONS && looks.fetch_add(1, Ordering::Relaxed) == 1 {
            let listed = json!([{"name": "web-a"}, {"name": "web-old"}]);
            let web = format!("{COMPOSITIONS}/web");
            store.change(&web, |web| web["status"]["currentSynthesis"]["resourceSlices"] = listed);
        }
        None
    });
    let (code, stdout, stderr) = run(&server, &["cleanup", "--yes", "--only=collect"]);
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    let told = "/web-old skipped: changed since preview: now Keep: the current synthesis of composition web lists it\n";
    assert!(stderr.contains(told), "{stderr}");
    assert_eq!(writes(&server), [""; 0]);
}

#[test]
fn what_changes_before_the_write_is_judged_again() {
    let store = mixed();
    let server = store.serve(|store, request| {
        // The write meets another version than the one judged: once for web-old, for ever for web-free.
        if request.method == "DELETE" && store.get(&path("web-old")).unwrap()["metadata"]["labels"].is_null() {
            store.change(&path("web-old"), |slice| slice["metadata"]["labels"] = json!({"a": "b"}));
        }
        if request.method == "PATCH" && request.path == path("web-free") {
            store.change(&path("web-free"), |slice| slice["metadata"]["labels"] = json!({"a": "b"}));
        }
        None
    });
    let (code, stdout, stderr) = run(&server, &["cleanup", "--yes"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout, "resourceslice.eno.azure.io \"web-old\" deleted from team-a namespace\n");
    let skipped = "resourceslice.eno.azure.io/web-free skipped: changed since preview: it keeps changing\n";
    assert!(stderr.contains(skipped), "{stderr}");
    assert!(stderr.contains("1 changed, 1 skipped, 0 failed"), "{stderr}");
    assert!(store.get(&path("web-old")).is_none() && store.get(&path("web-free")).is_some());
}

#[test]
fn a_refusal_by_admission_is_no_change_whatever_its_code() {
    let denied =
        "resourceslices.eno.azure.io \"web-old\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: not now";
    for (code, reason) in [(422, "Invalid"), (409, "Conflict")] {
        let refuse = move |_: &Store, request: &Request| {
            (request.method == "DELETE").then(|| Response::status(code, reason, denied))
        };
        let server = mixed().serve(refuse);
        let (exit, stdout, stderr) = run(&server, &["cleanup", "--yes", "--only=collect"]);
        assert_eq!((exit, stdout.as_str()), (1, ""), "{stderr}");
        let failed = format!("/web-old failed: Error from server ({reason}): {denied}\n");
        assert!(stderr.contains(&failed) && stderr.contains("0 changed, 0 skipped, 1 failed"), "{stderr}");
    }
}

#[test]
fn another_object_of_the_name_is_not_touched() {
    let store = mixed();
    let server = store.serve(|store, request| {
        if request.method == "GET" && request.path == path("web-old") {
            store.change(&path("web-old"), |slice| slice["metadata"]["uid"] = json!("another"));
        }
        None
    });
    let (code, _, stderr) = run(&server, &["cleanup", "--yes", "--only=collect"]);
    assert_eq!(code, 0);
    assert!(stderr.contains("/web-old skipped: changed since preview: it is another object now"), "{stderr}");
    assert_eq!(writes(&server), [""; 0]);
}

#[test]
fn what_is_gone_by_now_is_a_success() {
    let store = mixed();
    let server = store.serve(|_, request| (request.method == "DELETE").then(|| Response::not_found("web-old")));
    let (code, stdout, stderr) = run(&server, &["cleanup", "--yes", "--only=collect"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("resourceslice.eno.azure.io/web-old is gone already"), "{stderr}");
    assert!(stderr.contains("0 changed, 1 gone already, 0 skipped, 0 failed"), "{stderr}");
}

#[test]
fn failures_are_told_one_by_one_and_counted() {
    let objects: Vec<Value> = (0..6).map(|index| slice("team-a", &format!("s{index}"), "gone", false)).collect();
    let forbid =
        |_: &Store, request: &Request| (request.method == "DELETE").then(|| Response::forbidden("you may not"));
    let server = Store::of(&objects).serve(forbid);
    let (code, stdout, stderr) = run(&server, &["cleanup", "--yes", "--keep-going"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    let failed = "/s3 failed: Error from server (Forbidden): you may not\n";
    assert!(stderr.contains(failed) && stderr.contains("0 changed, 0 skipped, 6 failed"), "{stderr}");

    let server = Store::of(&objects).serve(forbid);
    let (code, _, stderr) = run(&server, &["cleanup", "--yes", "--fail-fast", "--concurrency=1"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("stopped after 1 of 6\n0 changed, 0 skipped, 1 failed"), "{stderr}");
}

#[test]
fn flags_narrow_what_is_done() {
    let mut young = slice("team-a", "young", "gone", false);
    young["metadata"]["creationTimestamp"] = json!(jiff::Timestamp::now() - jiff::SignedDuration::from_secs(60));
    let mut objects: Vec<Value> = (0..4).map(|index| slice("team-a", &format!("s{index}"), "gone", false)).collect();
    objects.push(young);
    let server = Store::of(&objects).serve(unmeddled);
    let args = ["cleanup", "--dry-run=client", "--min-age=1h", "--limit=2", "-o", "name"];
    let (code, stdout, stderr) = run(&server, &args);
    let mut names: Vec<&str> = stdout.lines().collect();
    names.sort_unstable();
    assert_eq!((code, names), (0, vec!["resourceslice.eno.azure.io/s0", "resourceslice.eno.azure.io/s1"]), "{stderr}");
    assert!(stderr.contains("2 to change, 0 kept, 0 held, 0 unknown, 3 left out by the flags"), "{stderr}");
}

#[test]
fn json_says_what_became_of_each() {
    let server = mixed().serve(unmeddled);
    let (code, stdout, _) = run(&server, &["cleanup", "--yes", "-o", "json"]);
    assert_eq!(code, 0);
    let list: Value = serde_json::from_str(&stdout).unwrap();
    let items = list["items"].as_array().unwrap();
    let old = items.iter().find(|item| item["name"] == "web-old").unwrap();
    assert_eq!(old["action"], "Collect");
    assert_eq!(old["reason"], "Unreferenced");
    assert_eq!(old["outcome"], "deleted");
    assert_eq!(old["finalizerReleased"], true);
    assert!(items.iter().any(|item| item["name"] == "web-free" && item["outcome"] == "released"));
}

#[test]
fn ownerless_slices_go_only_where_that_is_asked_for_and_nothing_lists_them() {
    let unowned = |name: &str| {
        let mut slice = slice("team-a", name, "web", false);
        slice["metadata"]["ownerReferences"] = json!([]);
        slice
    };
    let mut web = composition("team-a", "web", &[], false);
    web["status"]["inFlightSynthesis"] = json!({"uuid": "f", "resourceSlices": [{"name": "listed"}]});
    let store = Store::of(&[web, unowned("free"), unowned("listed")]);
    let server = store.serve(unmeddled);
    let (_, _, stderr) = run(&server, &["cleanup"]);
    assert!(stderr.contains("nothing to change") && stderr.contains("2 without an owner kept (--unowned)"), "{stderr}");
    let (code, stdout, stderr) = run(&server, &["cleanup", "--unowned", "--yes"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout, "resourceslice.eno.azure.io \"free\" deleted from team-a namespace\n");
    assert!(store.get(&path("free")).is_none() && store.get(&path("listed")).is_some());
}

#[test]
fn nothing_is_done_where_compositions_cannot_be_read() {
    let server =
        mixed().serve(|_, request| (request.path == COMPOSITIONS).then(|| Response::forbidden("no compositions")));
    let (code, stdout, stderr) = run(&server, &["cleanup", "--yes"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("nothing to change") && stderr.contains("4 unknown"), "{stderr}");
    assert!(stderr.contains("Warning: cannot list compositions"), "{stderr}");
    assert_eq!(writes(&server), [""; 0]);
}

#[test]
fn waits_until_all_are_gone() {
    let store = mixed();
    store.change(&path("web-free"), |slice| {
        slice["metadata"]["finalizers"] = json!(["eno.azure.io/cleanup", "example.com/other"]);
    });
    let server = store.serve(unmeddled);
    let (code, _, stderr) = run(&server, &["cleanup", "--yes", "--wait", "--timeout=200ms"]);
    assert_eq!(code, 124, "{stderr}");
    assert!(stderr.contains("waiting: 1 to be gone (0s)\n"), "{stderr}");
    let told = "error: timed out waiting for 1 to be gone: resourceslice.eno.azure.io/web-free\n";
    assert!(stderr.ends_with(told), "{stderr}");
    let server = mixed().serve(unmeddled);
    assert_eq!(run(&server, &["cleanup", "--yes", "--wait"]).0, 0);
}

#[test]
fn refuses_what_makes_no_sense() {
    let server = mixed().serve(unmeddled);
    for (args, told) in [
        (["cleanup", "-f", "x.yaml"].as_slice(), "error: -f cannot be used here"),
        (&["cleanup", "--wait", "--dry-run=server"], "error: --wait makes no sense with --dry-run"),
        (&["cleanup", "--keep-going", "--fail-fast"], "cannot be used with"),
        (&["cleanup", "--force"], "unexpected argument '--force'"),
    ] {
        let (code, stdout, stderr) = run(&server, args);
        assert_eq!((code, stdout.as_str()), (1, ""), "{args:?}");
        assert!(stderr.contains(told), "{stderr}");
    }
    assert_eq!(server.requests().len(), 0);
}
