//! The examples of the help texts, offline: each is run by a shell, as a reader would run it.

use std::path::Path;
use std::process::Command;

use kubectl_eno::cli::EXAMPLES;

#[test]
fn every_offline_example_works() {
    let binary = Path::new(env!("CARGO_BIN_EXE_kubectl-eno"));
    // `kubectl eno` is the plugin, without the kubectl of whoever runs this.
    let folder = tempfile::tempdir().unwrap();
    let kubectl = folder.path().join("kubectl");
    std::fs::write(&kubectl, format!("#!/bin/sh\nshift\nexec '{}' \"$@\"\n", binary.display())).unwrap();
    Command::new("chmod").arg("+x").arg(&kubectl).status().unwrap();
    let path = std::env::join_paths(
        std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    for example in EXAMPLES.iter().filter(|example| !example.live) {
        let output = Command::new("sh")
            .args(["-c", example.line])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"))
            .env("PATH", &path)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !output.stdout.is_empty(), "{}: {stderr}", example.line);
    }
}

#[test]
fn examples_fit_a_terminal() {
    for example in EXAMPLES {
        assert!(example.line.len() <= 78, "{}", example.line);
    }
}
