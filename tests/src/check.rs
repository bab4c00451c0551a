//! `cargo xtask test`: everything that must pass before a change lands, in the order that fails fastest.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::cluster::KUBECONFIG_VARIABLE;
use crate::controlplane::{AUDIT_LOG, Binaries, ControlPlane, Options};
use crate::instructions::Instructions;
use crate::{release, workspace};

/// What the rules must not depend on: with any of these they could read or write by themselves.
const FORBIDDEN: [&str; 4] = ["tokio", "hyper", "kube", "kube-client"];

/// Arguments of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// Leave out the tests on a control plane
    #[arg(long)]
    hermetic: bool,
}

impl Check {
    /// Runs all steps, and says at the end how long each took.
    ///
    /// # Errors
    /// The first step that fails.
    pub async fn run(self) -> Result<()> {
        let mut steps = Steps::default();
        steps.run("format", || cargo(&["fmt", "--all", "--check"]))?;
        steps.run("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
        steps.run("the rules have no client", rules_have_no_client)?;
        steps.run("hermetic tests", || cargo(&["test"]))?;
        steps.run("documents", || cargo(&["test", "--package", "eno-tests", "--test", "documents"]))?;
        if !self.hermetic {
            steps.run("instructions of the hot paths", || Instructions::default().run())?;
            steps.run("build of the control plane", || Binaries::ensure().map(drop))?;
            steps.run("image of the webhook", release::only_the_image)?;
            steps.run("build of webhook and plugin", || cargo(&["build"]))?;
            steps.run("build of the control-plane tests", || cargo(&["test", "--package", "eno-tests", "--no-run"]))?;
            let started = Instant::now();
            let running = controlplane().await?;
            steps.done("start of the control plane", started);
            let kubeconfig = running.kubeconfig();
            steps.run("control-plane tests", || {
                let mut tests = workspace::cargo(&["test", "--package", "eno-tests", "--no-fail-fast"]);
                // They wait for the control plane more than they work.
                run(tests.env(KUBECONFIG_VARIABLE, kubeconfig).env("RUST_TEST_THREADS", "8"))
            })?;
        }
        steps.print();
        Ok(())
    }
}

/// A control plane of its own, with an audit log.
async fn controlplane() -> Result<ControlPlane> {
    let dir = workspace::target().join("controlplane-of-tests");
    let audit = Some(dir.join(AUDIT_LOG));
    ControlPlane::start(Options { dir: Some(dir), audit, ..Options::default() }).await
}

#[derive(Default)]
struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) -> Result<()> {
        eprintln!("== {name}");
        let started = Instant::now();
        step().with_context(|| format!("step failed: {name}"))?;
        self.done(name, started);
        Ok(())
    }

    fn done(&mut self, name: &'static str, started: Instant) {
        self.0.push((name, started.elapsed()));
    }

    fn print(&self) {
        eprintln!("== all passed");
        for (name, took) in &self.0 {
            eprintln!("{:>6.1} s  {name}", took.as_secs_f64());
        }
    }
}

fn cargo(args: &[&str]) -> Result<()> {
    run(&mut workspace::cargo(args))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("running {command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

fn rules_have_no_client() -> Result<()> {
    let args = ["tree", "--package", "eno-shared", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let output = workspace::cargo(&args).output()?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout)?;
    let packages = tree.lines().filter_map(|line| line.split(' ').next());
    let found: Vec<_> = packages.filter(|package| FORBIDDEN.contains(package)).collect();
    if !found.is_empty() {
        bail!("eno-shared depends on {}: put what needs it behind the feature `client`", found.join(", "));
    }
    Ok(())
}
