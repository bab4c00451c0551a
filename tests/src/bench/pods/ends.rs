//! The ends as the webhook tells them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eno_shared::pods::tracker::SWEEP;

use super::super::figures::Times;
use super::super::load::{answered, cpu_of};
use super::LIMIT;
use super::ground::{Gone, Ground};
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::receiver::Receiver;

/// What the ends at once needed.
pub(super) struct Ends {
    pub(super) times: Times,
    pub(super) idle_reads: f64,
    pub(super) reads: f64,
    pub(super) writes: u64,
    pub(super) false_destroys: u64,
    pub(super) cpu: Duration,
    pub(super) retried: u64,
    pub(super) deleting: Duration,
}

impl Ground<'_> {
    /// Ends so many of the pods at once.
    pub(super) async fn ends(&self, pods: usize, ends: usize) -> Result<Ends> {
        let receiver = Receiver::start().await?;
        let webhook = self.following(pods, &receiver).await?;
        let pid = webhook.pid().context("it has ended")?;
        let writes = async || webhook.count("eno_webhook_outbox_writes_total", &[]).await;

        let idle = reads(self.cluster).await?;
        tokio::time::sleep(SWEEP * 3).await;
        let idle_reads = reads(self.cluster).await? - idle;

        let chosen = self.choose(ends).await?;
        let (reads_before, writes_before, cpu_before) = (reads(self.cluster).await?, writes().await?, cpu_of(pid)?);
        let Gone { at, took } = self.end(&chosen).await?;
        all_told(&receiver, ends).await?;
        let cpu = cpu_of(pid)?.saturating_sub(cpu_before);
        let reads = reads(self.cluster).await? - reads_before;
        self.noted(pods - ends).await?;
        Ok(Ends {
            times: times(&receiver, &at, ends)?,
            idle_reads,
            reads,
            writes: writes().await? - writes_before,
            false_destroys: webhook.count("eno_webhook_pod_false_destroys_total", &[]).await?,
            cpu,
            retried: webhook.count("eno_webhook_sink_attempts_total", &["result=\"retried\""]).await?,
            deleting: took,
        })
    }
}

/// Waits until so many ends came.
pub(super) async fn all_told(receiver: &Receiver, ends: usize) -> Result<()> {
    eventually("all ends to be told", LIMIT, async || {
        ensure!(receiver.count() >= ends, "{} are", receiver.count());
        Ok(())
    })
    .await
}

/// How long after its leaving the API each end came.
pub(super) fn times(receiver: &Receiver, gone: &HashMap<String, Instant>, ends: usize) -> Result<Times> {
    let (received, mut times) = (receiver.received(), Times::default());
    ensure!(received.len() == ends, "{} ends of {ends} pods were told", received.len());
    for end in &received {
        let at = gone.get(end.uid()).with_context(|| format!("{} was told and not deleted", end.event["subject"]))?;
        times.add(end.at.saturating_duration_since(*at));
    }
    Ok(times)
}

/// How many reads of pods and nodes the API server has answered.
async fn reads(cluster: &Cluster) -> Result<f64> {
    let reads = answered(cluster, |line| {
        (line.contains("resource=\"pods\"") || line.contains("resource=\"nodes\""))
            && (line.contains("verb=\"GET\"") || line.contains("verb=\"LIST\""))
    });
    reads.await
}
