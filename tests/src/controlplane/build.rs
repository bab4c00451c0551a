//! Builds the binaries from Go modules, into a cache outside target/.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::component::{Component, cache};

/// How often a progress line is written where there is no terminal to rewrite it on.
const PROGRESS: Duration = Duration::from_secs(15);

/// How much of a failed build's output its error shows.
const SHOWN: usize = 20;

/// Builds one, with progress on standard error, and returns where it is.
///
/// # Errors
/// There is no Go, or the build fails.
pub fn build(component: Component) -> Result<PathBuf> {
    require_go(component)?;
    let target = component.cached()?;
    let dir = target.parent().context("the cache has no parent")?;
    fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
    // Two builds of the same would only slow each other down.
    let lock = File::create(cache()?.join("lock"))?;
    lock.lock()?;
    if target.is_file() {
        return Ok(target);
    }
    let new = dir.join(format!("{}.new", component.name()));
    go_build(component, &new)?;
    fs::rename(&new, &target)?;
    Ok(target)
}

fn require_go(component: Component) -> Result<()> {
    let go = Command::new("go").arg("version").output();
    ensure!(
        go.is_ok_and(|output| output.status.success()),
        "no {name} and no Go to build it with\n\
         hint: install Go 1.26 or newer (https://go.dev/dl), or install envtest's binaries and set KUBEBUILDER_ASSETS to \
         their folder (it must hold {name})",
        name = component.name(),
    );
    Ok(())
}

fn go_build(component: Component, output: &std::path::Path) -> Result<()> {
    let version = component.version()?;
    let mut go = go(component)?;
    go.args(["build", "-v", "-trimpath", "-ldflags", &ldflags(component, &version), "-o"]).arg(output);
    go.arg(component.package());
    let total = packages(component)?;

    let mut child = go.stderr(Stdio::piped()).spawn().context("starting go build")?;
    let lines = BufReader::new(child.stderr.take().context("go has no standard error")?).lines();
    let mut progress = Progress::new(format!("building {} {version}", component.name()), total);
    let mut output = vec![];
    for line in lines {
        let line = line?;
        progress.step(&line);
        output.push(line);
    }
    progress.end();
    if !child.wait()?.success() {
        bail!(
            "go build of {} failed:\n{}",
            component.package(),
            output[output.len().saturating_sub(SHOWN)..].join("\n")
        );
    }
    Ok(())
}

fn go(component: Component) -> Result<Command> {
    let mut go = Command::new("go");
    go.current_dir(component.source()?).env("GOFLAGS", "-mod=readonly").env("GOWORK", "off").stdin(Stdio::null());
    Ok(go)
}

/// How many packages it consists of. This downloads the modules, so it takes a while at first.
fn packages(component: Component) -> Result<usize> {
    eprintln!("downloading the modules of {}", component.package());
    let list = go(component)?.args(["list", "-deps", &component.package()]).stderr(Stdio::inherit()).output()?;
    ensure!(list.status.success(), "go list of {} failed", component.package());
    Ok(list.stdout.iter().filter(|&&byte| byte == b'\n').count())
}

/// Kubernetes binaries are told their version by the linker; without it the API server cannot start.
fn ldflags(component: Component, version: &str) -> String {
    let mut flags = "-s -w".to_owned();
    match component {
        Component::Etcd => {}
        Component::KubeApiserver | Component::KubeControllerManager | Component::Kubectl => {
            let mut parts = version.trim_start_matches('v').split('.');
            for (field, value) in
                [("gitVersion", Some(version)), ("gitMajor", parts.next()), ("gitMinor", parts.next())]
            {
                let value = value.unwrap_or_default();
                flags.push_str(&format!(" -X k8s.io/component-base/version.{field}={value}"));
            }
        }
    }
    flags
}

/// One line that grows: rewritten on a terminal, repeated now and then elsewhere.
struct Progress {
    what: String,
    total: usize,
    done: usize,
    started: Instant,
    written: Instant,
    terminal: bool,
}

impl Progress {
    fn new(what: String, total: usize) -> Self {
        let now = Instant::now();
        let progress = Self { what, total, done: 0, started: now, written: now, terminal: stderr().is_terminal() };
        progress.write();
        progress
    }

    /// `go build -v` names each package as it is compiled; those in Go's cache are not named.
    fn step(&mut self, line: &str) {
        if line.contains(' ') {
            return;
        }
        self.done += 1;
        let pause = if self.terminal { Duration::from_millis(200) } else { PROGRESS };
        if self.written.elapsed() >= pause {
            self.written = Instant::now();
            self.write();
        }
    }

    fn write(&self) {
        let (start, end) = if self.terminal { ("\r", "  ") } else { ("", "\n") };
        let seconds = self.started.elapsed().as_secs();
        let of = format!("{}: {} of at most {} packages, {seconds} s", self.what, self.done, self.total);
        eprint!("{start}{of}{end}");
        // A progress line that does not show does not matter.
        let _ = stderr().flush();
    }

    fn end(&self) {
        self.write();
        if self.terminal {
            eprintln!();
        }
    }
}
