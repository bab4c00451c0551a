//! What a shell, or kubectl, is answered for a press of Tab.

use std::time::{Duration, Instant};

use serde_json::json;

use super::api_server::{ApiServer, Request, Response};
use crate::{COMPOSITIONS, SLICES, command, composition, healthy, outcome, paths, run, slice};

/// The words of the answer, without descriptions, and the directive.
fn words(server: &ApiServer, line: &[&str]) -> Vec<String> {
    let (code, stdout, stderr) = run(server, &[&["__complete"], line].concat());
    assert_eq!((code, stderr.as_str()), (0, ""), "{line:?}");
    stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn names_are_those_of_the_namespace_that_the_line_names() {
    let server = ApiServer::start(healthy);
    assert_eq!(words(&server, &["slices", ""]), ["legacy-a", "web-a", ":4"]);
    assert_eq!(words(&server, &["slices", "web-a", ""]), ["legacy-a", ":4"]);
    assert_eq!(words(&server, &["comp", "w"]), ["web", ":4"]);
    assert_eq!(words(&server, &["slices", "-n", "elsewhere", ""]), [":4"]);
    assert_eq!(paths(&server).last().unwrap(), "/apis/eno.azure.io/v1/namespaces/elsewhere/resourceslices");
}

#[test]
fn an_object_is_a_type_and_then_a_name() {
    let server = ApiServer::start(healthy);
    assert_eq!(words(&server, &["why", "c"]), ["composition/", ":6"]);
    assert_eq!(words(&server, &["why", "composition/"]), ["composition/legacy", "composition/web", ":4"]);
    // As it was typed.
    assert_eq!(words(&server, &["wait", "slice/w"]), ["slice/web-a", ":4"]);
    assert_eq!(words(&server, &["why", "comp", "w"]), ["web", ":4"]);
    assert_eq!(words(&server, &["why", "comp/web", ""]), [":4"]);
    assert_eq!(words(&server, &["release", "comp/web", "comp/"]), ["comp/legacy", "comp/web", ":4"]);
    assert_eq!(words(&server, &["why", "node/"]), [":4"]);
}

#[test]
fn values_of_flags_are_known_or_asked_for() {
    let server = ApiServer::start(|request: &Request| match request.path.as_str() {
        "/api/v1/namespaces" => {
            Response::list(&[json!({"metadata": {"name": "team-a"}}), json!({"metadata": {"name": "team-b"}})])
        }
        _ => healthy(request),
    });
    assert_eq!(words(&server, &["slices", "-n", ""]), ["team-a", "team-b", ":4"]);
    assert_eq!(words(&server, &["slices", "--composition=l"]), ["legacy", ":4"]);
    assert_eq!(words(&server, &["slices", "--context", ""]), ["c", ":4"]);
    assert_eq!(words(&server, &["slices", "--user", ""]), ["u", ":4"]);
    assert_eq!(words(&server, &["slices", "--verdict", "keep,ho"]), ["keep,hold", ":4"]);
    assert_eq!(words(&server, &["slices", "-o", "jsonpath"]), ["jsonpath=", "jsonpath-file=", ":6"]);
    assert_eq!(words(&server, &["cleanup", "--dry-run="]), ["none", "client", "server", ":4"]);
    assert_eq!(words(&server, &["slices", "-f", ""]), [":0"]);
    assert_eq!(words(&server, &["restore", ""]), [":0"]);
    assert_eq!(words(&server, &["slices", "--older-than", ""]), [":4"]);
}

#[test]
fn commands_and_flags_come_with_what_they_do() {
    let server = ApiServer::start(healthy);
    let (_, stdout, _) = run(&server, &["__complete", "sli"]);
    assert_eq!(stdout, "slices\tList resource slices with the verdict on each\n:4\n");
    let (_, stdout, _) = run(&server, &["__complete", "slices", "--stuck", "--st"]);
    assert!(stdout.starts_with("--stuck-after\tHow long something may wait"), "{stdout}");
    // Said once, it is not offered again; kubectl's flags are there, too.
    assert!(!stdout.contains("--stuck\t"), "{stdout}");
    assert_eq!(words(&server, &["slices", "--kube"]), ["--kubeconfig", ":4"]);
    assert!(!words(&server, &[""]).iter().any(|word| word.starts_with('_')));
    assert_eq!(paths(&server), [] as [&str; 0]);
}

#[test]
fn a_long_list_comes_page_by_page() {
    let server = ApiServer::start(|request: &Request| match request.path.as_str() {
        SLICES if request.query.contains("continue=next") => {
            Response::metadata_list(&[slice("team-a", "second", "web", false)])
        }
        SLICES => Response::metadata_list(&[slice("team-a", "first", "web", false)]).page("next"),
        _ => healthy(request),
    });
    assert_eq!(words(&server, &["slices", ""]), ["first", "second", ":4"]);
    let lists = server.requests();
    assert!(lists.iter().all(|list| list.headers["accept"].contains("PartialObjectMetadataList")));
}

#[test]
fn what_has_come_within_a_second_is_all_there_is() {
    let server = ApiServer::start(|request: &Request| match request.path.as_str() {
        SLICES if request.query.contains("continue=next") => Response::never(),
        SLICES => Response::metadata_list(&[slice("team-a", "first", "web", false)]).page("next"),
        COMPOSITIONS => Response::never(),
        _ => healthy(request),
    });
    // More than a second by so much as a busy machine needs: far less than any timeout of a connection.
    let limit = Duration::from_secs(8);
    for (line, answer) in [(["slices", ""], &["first", ":4"] as &[&str]), (["compositions", ""], &[":4"])] {
        let begun = Instant::now();
        assert_eq!(words(&server, &line), answer);
        assert!(begun.elapsed() < limit, "{:?}", begun.elapsed());
    }
}

#[test]
fn nobody_reads_an_error() {
    let refusing = ApiServer::start(|_: &Request| Response::forbidden("you may not"));
    assert_eq!(words(&refusing, &["slices", ""]), [":4"]);
    let warning = ApiServer::start(|request: &Request| healthy(request).with("warning", "299 - \"old\""));
    assert_eq!(words(&warning, &["slices", "w"]), ["web-a", ":4"]);
    let gone = ApiServer::start(healthy).stop();
    assert_eq!(words(&gone, &["slices", ""]), [":4"]);
    let server = ApiServer::start(healthy);
    assert_eq!(words(&server, &["slices", "--kubeconfig=/nowhere", ""]), [":4"]);
    assert_eq!(words(&server, &["slices", "-n", "a?b", ""]), [":4"]);
    assert_eq!(words(&server, &["no-such-command", ""]).last().unwrap(), ":4");
}

#[test]
fn credentials_that_hang_hold_nobody_up() {
    let server = ApiServer::start(healthy);
    let (folder, mut command) = command(&server, &["__complete", "slices", ""]);
    let config = json!({
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh",
            "args": ["-c", "echo log in at >&2; exec sleep 20"], "interactiveMode": "Never",
        }}}],
    });
    std::fs::write(folder.path().join("config"), config.to_string()).unwrap();
    let begun = Instant::now();
    let (code, stdout, _) = outcome(&command.stderr(std::process::Stdio::null()).output().unwrap());
    assert_eq!((code, stdout.as_str()), (0, ":4\n"));
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[test]
fn names_of_a_dump_need_no_cluster() {
    let server = ApiServer::start(healthy);
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.json");
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
        composition("team-a", "of-dump", &[], false), composition("team-b", "of-b", &[], false),
    ]});
    std::fs::write(&dump, objects.to_string()).unwrap();
    let dump = dump.to_str().unwrap();
    assert_eq!(words(&server, &["why", "-f", dump, "comp/"]), ["comp/of-b", "comp/of-dump", ":4"]);
    assert_eq!(words(&server, &["why", "-n", "team-b", "-f", dump, "comp/"]), ["comp/of-b", ":4"]);
    assert_eq!(words(&server, &["why", "-f", "-", "comp/"]), [":4"]);
    assert_eq!(paths(&server), [] as [&str; 0]);
}
