//! Certificates and authorities come and go under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use eno_tests::eventually::eventually;
use kube::Api;
use kube::api::{DeleteParams, DynamicObject};
use tokio::task::JoinHandle;

use crate::ground::{Ground, LIMIT, Replica, lasting};

/// Calls at once.
const AT_ONCE: usize = 4;

/// Deletions, as dry runs, one after the other until it is told to stop.
pub struct Load {
    calls: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    callers: Vec<JoinHandle<Result<()>>>,
}

impl Load {
    pub fn start(ground: &Ground) -> Self {
        let (calls, stop) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let caller = |_| {
            let slices = ground.cluster().eno("ResourceSlice", ground.namespace());
            tokio::spawn(call(slices, Arc::clone(&calls), Arc::clone(&stop)))
        };
        let callers = (0..AT_ONCE).map(caller).collect();
        Load { calls, stop, callers }
    }

    /// Waits for so many more calls.
    pub async fn go_on(&self, ground: &Ground, calls: usize) -> Result<()> {
        let until = self.calls.load(Ordering::Relaxed) + calls;
        eventually("more calls", LIMIT, async || {
            let calls = self.calls.load(Ordering::Relaxed);
            ensure!(calls >= until || self.callers.iter().any(JoinHandle::is_finished), "{calls} of {until}");
            ground.ask().await
        })
        .await
    }

    pub async fn none_failed(self) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        for caller in self.callers {
            caller.await??;
        }
        ensure!(self.calls.load(Ordering::Relaxed) > 0, "nothing was called");
        Ok(())
    }
}

/// Ends with the first that fails.
async fn call(slices: Api<DynamicObject>, calls: Arc<AtomicUsize>, stop: Arc<AtomicBool>) -> Result<()> {
    let dry_run = DeleteParams { dry_run: true, ..DeleteParams::default() };
    while !stop.load(Ordering::Relaxed) {
        slices.delete("garbage", &dry_run).await?;
        calls.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Certificates that live 15 seconds, of authorities that live 30, for long enough that each is renewed twice.
#[tokio::test(flavor = "multi_thread")]
async fn certificates_and_authorities_that_live_for_seconds_are_renewed_and_no_call_fails() -> Result<()> {
    let ground = Ground::new("seconds").await?;
    let replica = Replica::start(ground.cluster().client(), ground.options(lasting(15, 30))).await?;
    ground.configure(&replica).await?;
    ground.answered(&replica).await?;
    let load = Load::start(&ground);
    let mut authorities = vec![ground.stored().await?.authorities[0].clone()];
    let mut leaves = vec![];
    eventually("two authorities to have come", Duration::from_secs(90), async || {
        let stored = ground.stored().await?;
        if !authorities.contains(&stored.authorities[0]) {
            authorities.push(stored.authorities[0].clone());
        }
        if !leaves.contains(&stored.leaf) {
            leaves.push(stored.leaf.clone());
        }
        let signs = stored.signer() == Some(&stored.authorities[0]);
        ensure!(!load.callers.iter().any(JoinHandle::is_finished), "a call failed");
        ensure!(authorities.len() == 3 && signs, "{} authorities, {} certificates", authorities.len(), leaves.len());
        Ok(())
    })
    .await?;
    ensure!(leaves.len() >= 5, "only {} certificates", leaves.len());
    load.go_on(&ground, 100).await?;
    load.none_failed().await?;
    replica.ready().await
}
