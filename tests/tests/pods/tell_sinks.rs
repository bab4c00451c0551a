//! What a receiver answers, and what follows. What it may say beyond that is tried without a control plane, in
//! webhook/src/pods/sinks: every status, answers that are none, redirects, a destroy that is given up.

use std::time::Duration;

use anyhow::{Context, Result};
use eno_tests::receiver::Answer;
use http::StatusCode;

use crate::ground::{Ground, causes};

/// Who asks for time asks it of all, and not for one end.
#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_asks_for_time_gets_it_from_all() -> Result<()> {
    let mut ground = Ground::following("retry-after").await?;
    let (first, second) = (ground.pod("first").await?, ground.pod("second").await?);
    ground.followed(2).await?;
    let busy = Answer { status: StatusCode::TOO_MANY_REQUESTS, retry_after: Some(4) };
    ground.receiver.answer_by(move |_| Some(busy));
    ground.delete_at_once("first").await?;
    let asked = ground.told(&first, 1).await?[0].at;
    // It has been told that it was refused: what comes now waits as well.
    ground.metric("eno_webhook_sink_attempts_total", &["result=\"retried\""], |count| count == 1).await?;
    ground.receiver.answer(StatusCode::OK);
    ground.delete_at_once("second").await?;
    for uid in [&first, &second] {
        let again = ground.told(uid, if *uid == first { 2 } else { 1 }).await?.pop().context("nothing came")?;
        let rest = again.at.saturating_duration_since(asked);
        assert!(rest >= Duration::from_secs(4), "{} came after {rest:?}", again.event["subject"]);
    }
    ground.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_is_not_taken_or_not_answered_delays_no_other() -> Result<()> {
    let mut ground = Ground::following("poisoned").await?;
    let (poisoned, held) = (ground.pod("poisoned").await?, ground.pod("held").await?);
    let good = ground.pod("good").await?;
    ground.followed(3).await?;
    let (refused, unanswered) = (poisoned.clone(), held.clone());
    ground.receiver.answer_by(move |received| match received.uid() {
        uid if uid == refused => Some(StatusCode::INTERNAL_SERVER_ERROR.into()),
        uid if uid == unanswered => None,
        _ => Some(StatusCode::OK.into()),
    });
    ground.delete_at_once("poisoned").await?;
    ground.delete_at_once("held").await?;
    ground.told(&poisoned, 1).await?;
    ground.told(&held, 1).await?;
    ground.delete_at_once("good").await?;
    // It was taken, and that was noted, while the others wait.
    ground.metric("eno_webhook_sink_attempts_total", &["result=\"delivered\""], |count| count == 1).await?;
    ground.noted(&good, |entry| entry.is_none()).await?;
    for uid in [&poisoned, &held] {
        ground.noted(uid, |entry| entry.is_some_and(|entry| entry["undelivered"].is_array())).await?;
    }
    ground.receiver.answer(StatusCode::OK);
    for uid in [&poisoned, &held] {
        ground.noted(uid, |entry| entry.is_none()).await?;
        let told = ground.receiver.of(uid);
        assert!(causes(&told).iter().all(|cause| *cause == "Gone") && told.iter().all(|one| one.id() == told[0].id()));
    }
    assert_eq!(ground.receiver.of(&good).len(), 1);
    ground.finish().await
}
