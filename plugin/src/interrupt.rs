//! Ctrl-C while something is written: the request in flight is finished, and no other is begun.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::failure::INTERRUPTED;

/// Was the command interrupted? Clones share the answer.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Begins to listen. Until then, Ctrl-C ends the process at once: a prompt does not catch it.
    pub fn listen() -> Self {
        let interrupt = Interrupt::default();
        let flag = Arc::clone(&interrupt.0);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                // Whoever asks twice does not want to wait for the request in flight.
                if flag.swap(true, Ordering::Relaxed) {
                    std::process::exit(i32::from(INTERRUPTED));
                }
            }
        });
        interrupt
    }

    /// It comes.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Was it?
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits so long, or until it comes.
    pub async fn pause(&self, time: Duration) {
        const LOOK: Duration = Duration::from_millis(50);
        let deadline = tokio::time::Instant::now() + time;
        while !self.came() && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(LOOK.min(deadline - tokio::time::Instant::now())).await;
        }
    }
}
