//! Writing commands in a terminal: what they ask, what they draw, and Ctrl-C.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::api_server::ApiServer;
use super::cleanup::{mixed, path, unmeddled};
use super::store::Store;
use super::terminal;
use crate::{command, run, slice};

#[test]
fn asks_in_a_terminal() {
    for (columns, answer, done) in [(80, "y\n", true), (40, "\n", false), (80, "\u{4}", false)] {
        let store = mixed();
        let server = store.serve(unmeddled);
        let (folder, mut command) = command(&server, &["cleanup"]);
        let (code, shown) = terminal::run(&mut command, columns, &[("Do you want to continue? (y/N): ", answer)]);
        assert_eq!(code, 0, "{shown}");
        assert_eq!(store.get(&path("web-old")).is_none(), done, "{shown}");
        assert_eq!(shown.contains("cleanup is cancelled"), !done, "{shown}");
        assert_eq!(shown.contains("\"web-old\" deleted from team-a namespace"), done, "{shown}");
        drop(folder);
    }
}

#[test]
fn asks_to_type_the_number_where_many_go_or_nobody_owns_them() {
    let slices: Vec<Value> = (0..26).map(|index| slice("team-a", &format!("s{index}"), "gone", false)).collect();
    for (answer, left) in [("26\n", 0), ("y\n", 26)] {
        let store = Store::of(&slices);
        let server = store.serve(unmeddled);
        let (_folder, mut command) = command(&server, &["cleanup", "-A"]);
        let question = "Type how many slices are changed to confirm (26): ";
        let (code, shown) = terminal::run(&mut command, 80, &[(question, answer)]);
        assert_eq!(code, 0, "{shown}");
        let exist = (0..26).filter(|index| store.get(&path(&format!("s{index}"))).is_some()).count();
        assert_eq!(exist, left, "{shown}");
    }
}

/// Three slices of garbage, on a server that takes its time to delete them.
fn slow() -> (Store, ApiServer) {
    let slices: Vec<Value> = (0..3).map(|index| slice("team-a", &format!("s{index}"), "gone", false)).collect();
    let store = Store::of(&slices);
    let server = store.serve(|_, request| {
        if request.method == "DELETE" {
            std::thread::sleep(Duration::from_millis(150));
        }
        None
    });
    (store, server)
}

#[test]
fn draws_one_bar_in_a_terminal() {
    let (_, server) = slow();
    let (_folder, mut command) = command(&server, &["cleanup", "--yes", "--concurrency=1"]);
    let (code, shown) = terminal::run(&mut command, 40, &[]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(" 1/3") && shown.contains(" 2/3"), "{shown}");
    let (_, server) = slow();
    let (_, stdout, stderr) = run(&server, &["cleanup", "--yes", "--concurrency=1"]);
    assert!(!format!("{stdout}{stderr}").contains("1/3"), "{stderr}");
}

#[test]
fn ctrl_c_finishes_the_request_in_flight_and_begins_no_other() {
    let (store, server) = slow();
    let (_folder, mut command) = command(&server, &["cleanup", "--yes", "--concurrency=1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"s0\" deleted"));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let rest = lines.count();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    // At most the one that was in flight.
    assert!(rest <= 1 && stderr.contains(&format!("stopped after {} of 3\n", rest + 1)), "{stderr}");
    assert!(store.get(&path("s2")).is_some());
}

#[test]
fn all_questions_come_before_the_first_write() {
    let objects = ["a", "b"].map(|name| slice("team-a", name, "gone", true));
    for (second, left) in [("b\n", 0), ("no\n", 2)] {
        let store = Store::of(&objects);
        let server = store.serve(unmeddled);
        let (_folder, mut command) = command(&server, &["release", "slice/a", "slice/b", "--no-backup"]);
        let answers = [("Type the name to confirm (a): ", "a\n"), ("Type the name to confirm (b): ", second)];
        let (code, shown) = terminal::run(&mut command, 80, &answers);
        assert_eq!(code, 0, "{shown}");
        let exist = ["a", "b"].iter().filter(|name| store.get(&path(name)).is_some()).count();
        assert_eq!(exist, left, "{shown}");
    }
}

/// Explanations are broken at the width of the terminal; words that are longer, such as commands, stay whole.
#[test]
fn explains_in_a_narrow_terminal() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-eno"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("NO_COLOR", "1");
    command.args(["why", "composition/legacy", "-n", "team-a", "-f", "tests/data/demo.yaml", "--complete"]);
    command.args(["--now", "2026-03-01T12:00:00Z"]);
    let (code, shown) = terminal::run(&mut command, 40, &[]);
    assert_eq!(code, 0, "{shown}");
    let prose: Vec<&str> =
        shown.lines().skip_while(|line| !line.starts_with("So ")).take_while(|line| !line.is_empty()).collect();
    assert!(prose.len() > 2 && prose.iter().all(|line| line.trim_end().chars().count() <= 40), "{shown}");
}
