//! The programs, built for others' machines.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::tool::Tool;
use crate::workspace;

/// What a program is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux, linked with musl: the plugin must not depend on the libc of whoever runs it, nor load its name services.
    Linux,
    /// Linux, linked with a static glibc: for the image, where there is nothing to load; its allocator is the faster one.
    Image,
    /// Windows, by mingw-w64.
    Windows,
}

impl Platform {
    /// Those for which the plugin can be built on Linux. For darwin it is built on darwin, by the release workflow.
    pub const HERE: [Platform; 2] = [Platform::Linux, Platform::Windows];

    /// Rust's name of it.
    fn target(self) -> &'static str {
        match self {
            Platform::Linux => "x86_64-unknown-linux-musl",
            Platform::Image => "x86_64-unknown-linux-gnu",
            Platform::Windows => "x86_64-pc-windows-gnu",
        }
    }

    /// Krew's name of the operating system.
    pub fn os(self) -> &'static str {
        match self {
            Platform::Linux | Platform::Image => "linux",
            Platform::Windows => "windows",
        }
    }

    /// The file name of a program.
    pub fn file_name(self, program: &str) -> String {
        match self {
            Platform::Linux | Platform::Image => program.to_owned(),
            Platform::Windows => format!("{program}.exe"),
        }
    }

    /// Builds a program from the lock file, and returns where it is.
    ///
    /// # Errors
    /// The target or its linker is missing (the compiler says so), or the program does not build.
    pub fn build(self, program: &str) -> Result<PathBuf> {
        eprintln!("== {program} for {}", self.target());
        if self != Platform::Image {
            Tool::named("rustup", "rustup").args(["target", "add", self.target()]).run()?;
        }
        let mut flags = paths()?;
        if self == Platform::Image {
            flags.push_str(" -C target-feature=+crt-static");
        }
        Tool::cargo()
            .args(["build", "--release", "--locked", "--package", program, "--target", self.target()])
            .env("RUSTFLAGS", flags)
            .run()
            .with_context(|| match self {
                Platform::Linux => "hint: apt-get install musl-tools",
                Platform::Image => "hint: apt-get install libc6-dev",
                Platform::Windows => "hint: apt-get install mingw-w64",
            })?;
        Ok(workspace::target().join(self.target()).join("release").join(self.file_name(program)))
    }
}

/// Where things lay on the machine that built a program is not in it: the bytes depend on the commit alone.
fn paths() -> Result<String> {
    let home = env::home_dir().context("no home folder")?;
    let cargo = env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
    let (root, cargo) = (workspace::root(), cargo);
    Ok(format!("--remap-path-prefix={}=/src --remap-path-prefix={}=/cargo", root.display(), cargo.display()))
}
