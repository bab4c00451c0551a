//! Waiting for something to become true: poll with a deadline, never sleep and hope.

use std::time::Duration;

use anyhow::{Result, anyhow};
use tokio::time::{Instant, sleep, timeout_at};

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// Calls `look` until it is `Ok`, for at most `limit`; its errors say what was seen instead.
///
/// # Errors
/// The deadline passed: says what was waited for and what was seen last.
pub async fn eventually<T>(what: &str, limit: Duration, mut look: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let deadline = Instant::now() + limit;
    let mut last = anyhow!("the first look did not end");
    while Instant::now() < deadline {
        match timeout_at(deadline, look()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(seen)) => last = seen,
            Err(_) => break,
        }
        sleep(PAUSE).await;
    }
    Err(last.context(format!("waited {} s for {what}; last seen", limit.as_secs_f64())))
}

/// The same for a look that need not be waited for.
///
/// # Errors
/// As for [`eventually`].
pub async fn eventually_seen<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Result<T>) -> Result<T> {
    let deadline = Instant::now() + limit;
    loop {
        match look() {
            Ok(value) => return Ok(value),
            Err(seen) if Instant::now() >= deadline => {
                return Err(seen.context(format!("waited {} s for {what}; last seen", limit.as_secs_f64())));
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}
