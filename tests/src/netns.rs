//! A network namespace of a test's own: there the API server can reach a webhook by a Service, whose endpoints must not
//! be loopback addresses, without touching the machine's network. Needs root and iproute2.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use nix::sched::{CloneFlags, setns};
use tokio::runtime;
use tokio::sync::oneshot;

use crate::process;

/// The address in every such namespace, of the block reserved for documentation (RFC 5737).
pub const ADDRESS: &str = "192.0.2.1";

/// A network namespace, removed on drop.
#[derive(Debug)]
pub struct Netns {
    name: String,
}

impl Netns {
    /// Makes one with the loopback interface up, and [`ADDRESS`] on it.
    ///
    /// # Errors
    /// `ip` is missing or this user may not.
    pub fn new() -> Result<Self> {
        let netns = Self { name: format!("eno-{:08x}", fastrand::u32(..)) };
        let name = netns.name.as_str();
        ip(&["netns", "add", name])?;
        ip(&["-n", name, "link", "set", "lo", "up"])?;
        ip(&["-n", name, "address", "add", &format!("{ADDRESS}/32"), "dev", "lo"])?;
        Ok(netns)
    }

    /// Its name, for `ip netns exec`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Netns {
    fn drop(&mut self) {
        if let Err(error) = ip(&["netns", "delete", &self.name]) {
            eprintln!("{error:#}");
        }
    }
}

/// A program, inside the namespace of that name, where one is named.
pub fn command(name: Option<&str>, program: &Path) -> Command {
    let Some(name) = name else { return Command::new(program) };
    let mut ip = Command::new("ip");
    ip.args(["netns", "exec", name]).arg(program);
    ip
}

/// Runs `work` on a thread of its own, in the namespace of that name: its sockets, and those of what it spawns on its
/// runtime, are there. Without a name it runs here.
///
/// # Errors
/// The namespace cannot be entered, or `work` failed.
pub async fn within<T, W, F>(name: Option<&str>, work: W) -> Result<T>
where
    T: Send + 'static,
    W: FnOnce() -> F + Send + 'static,
    F: Future<Output = Result<T>>,
{
    let Some(name) = name else {
        return work().await;
    };
    let path = Path::new("/var/run/netns").join(name);
    let (sender, outcome) = oneshot::channel();
    // Children are told by name which namespace they run in; none must inherit that of the thread below.
    process::prepare();
    thread::spawn(move || {
        let entered = || -> Result<T> {
            let file = File::open(&path).with_context(|| format!("opening {}", path.display()))?;
            setns(file, CloneFlags::CLONE_NEWNET).with_context(|| format!("entering {}", path.display()))?;
            // Its threads come from this one, and are in the namespace, too.
            runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(work())
        };
        // The receiver is gone where the caller was cancelled.
        let _ = sender.send(entered());
    });
    outcome.await.map_err(|_| anyhow!("the work in the network namespace panicked"))?
}

fn ip(args: &[&str]) -> Result<()> {
    let output = Command::new("ip").args(args).output().context("running ip (install the package iproute2)")?;
    ensure!(output.status.success(), "ip {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}
