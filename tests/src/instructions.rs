//! `cargo xtask instructions`: what the hot paths cost in instructions, against what is committed. A machine that is busy
//! changes times, and not this.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// The paths, as the example names them.
const PATHS: [&str; 2] = ["review", "store"];
/// How often each is run: the difference is that of the paths alone, without what comes before and after them.
const TIMES: [u64; 2] = [100, 600];
/// How much more it may be than what is committed: compilers differ.
const SLACK: f64 = 1.15;

/// Arguments of `cargo xtask instructions`.
#[derive(Debug, Default, clap::Args)]
pub struct Instructions {
    /// Commit to what it is now
    #[arg(long)]
    update: bool,
}

impl Instructions {
    /// Counts, and compares.
    ///
    /// # Errors
    /// There is no valgrind, or a path costs more than it may.
    pub fn run(&self) -> Result<()> {
        let example = build()?;
        let counted = PATHS.iter().map(|path| Ok(((*path).to_owned(), count(&example, path)?)));
        let counted: BTreeMap<String, u64> = counted.collect::<Result<_>>()?;
        let file = base();
        if self.update {
            return Ok(fs::write(&file, serde_json::to_string_pretty(&counted)? + "\n")?);
        }
        let base: BTreeMap<String, u64> = serde_json::from_str(&fs::read_to_string(&file)?)?;
        let mut over = vec![];
        for (path, instructions) in &counted {
            let committed = base.get(path).with_context(|| format!("{} lacks {path}", file.display()))?;
            let ratio = *instructions as f64 / *committed as f64;
            println!("{path}: {instructions} instructions, {ratio:.2} × {committed}");
            if ratio > SLACK {
                over.push(format!("{path} costs {ratio:.2} times as many instructions as committed, and may {SLACK}"));
            }
        }
        ensure!(
            over.is_empty(),
            "{}\nhint: see which functions by `valgrind --tool=callgrind {} PATH 600`; if it must be so, `cargo xtask \
             instructions --update`",
            over.join("; "),
            example.display()
        );
        Ok(())
    }
}

fn base() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.json")
}

fn build() -> Result<PathBuf> {
    // The profile that does not spend minutes on linking: it costs the same from one commit to the next.
    workspace::build(&["--profile=harness", "--package=eno-webhook", "--example=hot_paths"])?;
    Ok(workspace::target().join("harness/examples/hot_paths"))
}

/// Instructions of a path, run once.
fn count(example: &Path, path: &str) -> Result<u64> {
    let [few, many] = TIMES;
    let collected = |times| collected(example, path, times);
    Ok((collected(many)? - collected(few)?) / (many - few))
}

fn collected(example: &Path, path: &str, times: u64) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(example).args([path, &times.to_string()]);
    let output = valgrind.output().context("running valgrind (install the package valgrind)")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "valgrind: {said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.with_context(|| format!("valgrind says: {said}"))
}
