//! Where the workspace keeps what the harness reads and writes.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the crate stands in a folder of the workspace").to_owned()
}

/// Cargo's target folder: `CARGO_TARGET_DIR`, else `target`.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The folder of the control plane that the tests share: `target/controlplane`.
pub fn controlplane() -> PathBuf {
    target().join("controlplane")
}

/// Facts about Eno that live outside the project (`ENO_SHARED`, else `../shared`), where they exist.
pub fn eno_facts() -> Option<PathBuf> {
    let dir = env::var_os("ENO_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    dir.is_dir().then_some(dir)
}

/// The cargo that runs this, to be run in the root.
pub fn cargo(args: &[&str]) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(args).current_dir(root());
    cargo
}

/// Builds with these arguments of `cargo build`, and says nothing where that succeeds.
///
/// # Errors
/// It does not build; the compiler has said why.
pub fn build(what: &[&str]) -> Result<()> {
    let status = cargo(&["build", "--quiet"]).args(what).status().context("running cargo")?;
    ensure!(status.success(), "cargo build failed");
    Ok(())
}
