//! `top` by typed words, without a terminal.

use std::io::Write;
use std::process::{Command, Stdio};

/// Types lines, to the end of input. Returns what is said after the first picture.
fn said(typed: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-eno"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("NO_COLOR", "1");
    command.args(["top", "--plain", "-f", "tests/data/demo.yaml", "--complete", "--now", "2026-03-01T12:00:00Z"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let stdout = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = stdout.split_once("Type help for the words that there are.\n").unwrap();
    rest.to_owned()
}

#[test]
fn answers_all_that_was_typed_before_it_ends() {
    let text = said("slices\nfilter hold\nwhy shop-k8d2m\n");
    assert!(
        text.starts_with("8 slices\nresourceslice team-a/billing-ff0q1: stuck, composition billing, Collect,"),
        "{text}"
    );
    assert!(text.contains("\n2 slices\n"), "{text}");
    assert!(text.contains("HOLD   NeededForDeletion") && text.contains("\nNext\n"), "{text}");
}

#[test]
fn says_what_it_cannot_do() {
    for (typed, answer) in [
        ("release legacy", "files are only read"),
        ("why nobody", "no \"nobody\" among the compositions that are listed"),
        ("dance", "no such word: dance"),
    ] {
        let text = said(&format!("{typed}\n"));
        assert!(text.contains(answer), "{typed}: {text}");
    }
    assert!(said("help\n").contains("release NAME [--force]: take Eno's finalizer off"));
}
