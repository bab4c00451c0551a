//! `cargo xtask bench rollout` in small.

use anyhow::Result;
use eno_tests::rollout::Rollout;

#[tokio::test(flavor = "multi_thread")]
async fn no_call_fails_while_replicas_and_authorities_are_replaced() -> Result<()> {
    let outcome = Rollout { calls: 1000, rate: 20 }.run().await?;
    assert!(outcome.failed.is_empty(), "{:#?}", outcome.failed);
    assert_eq!((outcome.counted.failed, outcome.counted.open), (0, 0));
    assert!(outcome.counted.answered >= outcome.calls as u64, "{:?}", outcome.counted);
    assert_eq!(outcome.ended.len(), 2);
    Ok(())
}
