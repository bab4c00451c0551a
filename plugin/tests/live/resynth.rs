//! `kubectl eno resynth` against a server that keeps what is written.

use serde_json::{Value, json};

use super::api_server::{Request, Response};
use super::store::Store;
use crate::{COMPOSITIONS, SLICES, composition, run, slice};

fn web() -> String {
    format!("{COMPOSITIONS}/web")
}

/// A live composition, one of whose slices is being deleted.
fn waiting() -> Store {
    let mut web = composition("team-a", "web", &["web-a"], false);
    web["spec"] = json!({"synthesizer": {"name": "s"}});
    let synthesizer = json!({"apiVersion": "eno.azure.io/v1", "kind": "Synthesizer",
        "metadata": {"name": "s", "uid": "uid-s", "generation": 0}});
    Store::of(&[web, synthesizer, slice("team-a", "web-a", "web", true)])
}

fn changed(change: impl FnOnce(&mut Value)) -> Store {
    let store = waiting();
    store.change(&web(), change);
    store
}

fn unmeddled(_: &Store, _: &Request) -> Option<Response> {
    None
}

fn asked(store: &Store) -> Value {
    store.get(&web()).unwrap()["metadata"]["annotations"]["eno.azure.io/force-resynthesis"].clone()
}

#[test]
fn asks_by_the_uuid_of_the_current_synthesis() {
    let store = waiting();
    let server = store.serve(unmeddled);
    let (code, stdout, stderr) = run(&server, &["resynth", "web", "--yes"]);
    assert_eq!((code, stdout.as_str()), (0, "composition.eno.azure.io/web new synthesis requested\n"), "{stderr}");
    assert_eq!(asked(&store), "u");
    let (code, stdout, stderr) = run(&server, &["resynth", "composition/web", "--yes"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("was asked for a new synthesis already"), "{stderr}");
}

#[test]
fn what_eno_would_ignore_is_refused() {
    for (store, why) in [
        (changed(|web| web["metadata"]["deletionTimestamp"] = json!("2026-03-01T11:00:00Z")), "it is being deleted"),
        (changed(|web| web["status"] = json!({})), "it was never synthesized"),
        (changed(|web| web["spec"]["synthesizer"]["name"] = json!("none")), "its synthesizer does not exist"),
        (changed(|web| web["status"]["simplified"] = json!({"status": "MissingInputs"})), "(MissingInputs)"),
        (
            changed(|web| {
                web["status"]["dependencyStatus"] = json!({"blocked": true, "reason": "WaitingOnDependencies"})
            }),
            "other compositions block it (WaitingOnDependencies)",
        ),
    ] {
        let server = store.serve(unmeddled);
        let (code, stdout, stderr) = run(&server, &["resynth", "web", "--yes", "--force"]);
        assert_eq!((code, stdout.as_str()), (4, ""), "{stderr}");
        let told = "error: refused to ask for a new synthesis of composition.eno.azure.io/web: ";
        assert!(stderr.contains(told) && stderr.contains(why), "{stderr}");
        assert!(!stderr.contains("--force"), "force would not help: {stderr}");
        assert_eq!(asked(&store), Value::Null);
    }
}

#[test]
fn what_could_orphan_takes_force() {
    for (store, why) in [
        (
            changed(|web| web["metadata"]["generation"] = json!(2)),
            "have changed since the current synthesis; slice web-a is being deleted: resources of theirs that a new synthesis no longer contains would be orphaned",
        ),
        (
            changed(|web| web["metadata"]["annotations"] = json!({"eno.azure.io/ignore-side-effects": "true"})),
            "its annotation eno.azure.io/ignore-side-effects forbids it",
        ),
        (changed(|web| web["spec"] = json!({})), "labels choose its synthesizer"),
        (
            changed(|web| web["status"]["inFlightSynthesis"] = json!({"uuid": "f"})),
            "synthesis f is in flight already; pass --force to ask nevertheless",
        ),
    ] {
        let server = store.serve(unmeddled);
        let (code, _, stderr) = run(&server, &["resynth", "web", "--yes"]);
        assert_eq!(code, 4, "{stderr}");
        assert!(stderr.contains(why) && stderr.contains("; pass --force"), "{stderr}");
        assert_eq!(asked(&store), Value::Null);
        let (code, _, stderr) = run(&server, &["resynth", "web", "--yes", "--force"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(asked(&store).is_string());
    }
}

#[test]
fn a_newer_synthesizer_would_change_resources() {
    let store = waiting();
    store
        .change("/apis/eno.azure.io/v1/synthesizers/s", |synthesizer| synthesizer["metadata"]["generation"] = json!(5));
    let (code, _, stderr) = run(&store.serve(unmeddled), &["resynth", "web", "--yes"]);
    assert_eq!(code, 4);
    assert!(stderr.contains("composition or synthesizer have changed since the current synthesis"), "{stderr}");
}

#[test]
fn waits_until_a_new_synthesis_is_current() {
    let store = waiting();
    let server = store.serve(|store, request| {
        let asked = asked(store);
        // Eno begins when it is asked, and is done when it is looked at again.
        if request.method == "GET" && request.path == web() && asked.is_string() {
            store.change(&web(), |web| {
                let status = &mut web["status"];
                match status["inFlightSynthesis"].take() {
                    Value::Null => status["inFlightSynthesis"] = json!({"uuid": "new"}),
                    new => status["currentSynthesis"] = new,
                }
            });
        }
        None
    });
    let (code, stdout, stderr) = run(&server, &["resynth", "web", "--yes", "--wait"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.ends_with("composition.eno.azure.io/web synthesized: new\n"), "{stdout}");
    assert!(stderr.contains("waiting: synthesis new is in flight (0s)\n"), "{stderr}");
}

#[test]
fn says_what_it_waited_for_in_vain() {
    let server = waiting().serve(unmeddled);
    let (code, _, stderr) = run(&server, &["resynth", "web", "--yes", "--wait", "--timeout=100ms"]);
    assert_eq!(code, 124, "{stderr}");
    let told = "error: timed out waiting for a new synthesis of composition.eno.azure.io/web: Eno has not begun; is \
                eno-controller running?\n";
    assert!(stderr.ends_with(told), "{stderr}");
}

#[test]
fn a_composition_that_changes_meanwhile_is_not_written() {
    let server = waiting().serve(|_, request| (request.method == "PATCH").then(Response::test_failed));
    let (code, stdout, stderr) = run(&server, &["resynth", "web", "--yes"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains("has changed since it was looked at; nothing was written"), "{stderr}");
}

#[test]
fn dry_runs_leave_the_composition_as_it_is() {
    let store = waiting();
    let server = store.serve(unmeddled);
    for (flag, suffix) in [("--dry-run=client", "(dry run)"), ("--dry-run=server", "(server dry run)")] {
        let (code, stdout, _) = run(&server, &["resynth", "web", flag]);
        assert_eq!(code, 0);
        assert_eq!(stdout, format!("composition.eno.azure.io/web new synthesis requested {suffix}\n"));
        assert_eq!(asked(&store), Value::Null);
    }
    assert!(store.get(&format!("{SLICES}/web-a")).is_some());
}
