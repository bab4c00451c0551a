//! What README shows is what the plugin prints. `README=overwrite cargo test -p kubectl-eno --test readme` writes it anew.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const PROMPT: &str = "$ kubectl eno ";

/// A `console` block, with what the command prints now.
fn rerun(block: &str, root: &Path) -> String {
    let command =
        block.lines().next().and_then(|line| line.strip_prefix(PROMPT)).expect("a block begins with a command");
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-eno"))
        .args(command.split_whitespace())
        .current_dir(root)
        .env_remove("KUBECTL_ENO_STUCK_AFTER")
        .output()
        .expect("the plugin runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    format!("{PROMPT}{command}\n{}", String::from_utf8(output.stdout).expect("the plugin prints UTF-8"))
}

#[test]
fn readme_shows_what_the_plugin_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate stands in the workspace");
    let path = root.join("README.md");
    let readme = fs::read_to_string(&path).expect("README.md can be read");
    let mut parts = readme.split("```console\n");
    let mut now = parts.next().unwrap_or_default().to_owned();
    let mut blocks = 0;
    for part in parts {
        let (block, rest) = part.split_once("```").expect("a block ends");
        now += &format!("```console\n{}```{rest}", rerun(block, root));
        blocks += 1;
    }
    assert!(blocks > 0, "README shows the plugin");
    if env::var("README").is_ok_and(|mode| mode == "overwrite") {
        fs::write(&path, now).expect("README.md can be written");
    } else {
        assert_eq!(readme, now);
    }
}
