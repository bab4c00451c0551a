//! What a replica does about the certificate, step by step.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use tokio::time::{Instant, timeout};
use tracing::{info, warn};

use super::Options;
use super::changes::changes;
use super::configurations::Configurations;
use super::secret::{Found, Secrets};
use super::stored::Stored;
use crate::clock::Clock;
use crate::leader::Leadership;
use crate::metrics::Metrics;
use crate::tls::Serving;
use crate::tls::pair::Pair;

/// Steps in one go. Each leaves less to do.
const STEPS: usize = 8;
/// After a failure.
const RETRY: Duration = Duration::from_secs(5);
/// For one look. The client tries again for minutes, by itself, what the API server has no time for.
const LONGEST_LOOK: Duration = Duration::from_secs(30);

/// Keeps the certificate.
pub struct Keeper {
    client: Client,
    secrets: Secrets,
    configurations: Configurations,
    options: Options,
    serving: Arc<Serving>,
    leadership: Leadership,
    metrics: Metrics,
    clock: Clock,
    /// What is served.
    served: Option<Stored>,
    /// The bundle that the API server knows, and since when.
    known: Option<(String, Instant)>,
}

impl Keeper {
    /// Serves nothing yet.
    #[must_use]
    pub fn new(
        client: Client,
        options: Options,
        serving: Arc<Serving>,
        leadership: Leadership,
        metrics: Metrics,
        clock: Clock,
    ) -> Self {
        let secrets = Secrets::new(client.clone(), &options.namespace, &options.name);
        let configurations = Configurations::new(client.clone(), &options.configuration);
        Keeper {
            client,
            secrets,
            configurations,
            options,
            serving,
            leadership,
            metrics,
            clock,
            served: None,
            known: None,
        }
    }

    /// Keeps it for ever.
    pub async fn run(mut self) {
        let mut changes = changes(&self.client, &self.options);
        let mut told = None;
        loop {
            let looked = timeout(LONGEST_LOOK, self.look()).await.unwrap_or_else(|_| bail!("no answer in time"));
            let again = match looked {
                Ok(again) => {
                    told = None;
                    again
                }
                Err(error) => {
                    self.metrics.certificate_load_failed();
                    let error = format!("{error:#}");
                    if told.as_ref() != Some(&error) {
                        warn!(error, "cannot keep the serving certificate; what is served stays");
                        told = Some(error);
                    }
                    RETRY.min(self.options.period)
                }
            };
            tokio::select! {
                Some(()) = changes.next() => while changes.next().now_or_never().flatten().is_some() {},
                () = won_or_lost(&mut self.leadership) => {}
                () = tokio::time::sleep(again) => {}
            }
        }
    }

    /// Looks at all three objects, and does what is to be done. Returns when to look again.
    async fn look(&mut self) -> Result<Duration> {
        for _ in 0..STEPS {
            if !self.step().await? {
                break;
            }
        }
        let now = self.clock.now();
        let due = self.served.as_ref().map_or(now, Stored::due);
        let until_due = Duration::try_from(due.duration_since(now)).unwrap_or_default();
        let pause = until_due.max(Duration::from_secs(1)).min(self.options.period);
        // What waits for the API server to know an authority need not wait longer.
        let settles = self.known.as_ref().map(|(_, since)| self.options.settle.saturating_sub(since.elapsed()));
        Ok(settles.filter(|rest| !rest.is_zero()).map_or(pause, |rest| rest.min(pause)))
    }

    /// One step. Returns whether to look again at once.
    async fn step(&mut self) -> Result<bool> {
        let now = self.clock.now();
        let (secret, stored) = match self.secrets.read().await.context("cannot read the Secret")? {
            Found::Good(secret, stored) => (*secret, *stored),
            Found::Missing => return self.make(None, now).await,
            Found::Spoilt(secret, why) => {
                self.metrics.certificate_load_failed();
                warn!(secret = self.options.name, namespace = self.options.namespace, why, "the Secret is spoilt");
                return self.make(Some(*secret), now).await;
            }
        };
        let leads = self.leadership.leads();
        let trusting = self.served.as_ref().and_then(|served| stored.trusting(served, now));
        if let Some(trusting) = trusting.filter(|_| leads) {
            self.write(Some(secret), &trusting, "trust").await?;
            return Ok(true);
        }
        let known = match self.configurations.look(&stored, leads).await {
            Ok(known) => known,
            Err(error) => {
                // Better than nothing, where there is nothing.
                self.serve(stored, false)?;
                return Err(error);
            }
        };
        self.metrics.certificate_changed("bundle", known.written);
        self.settle(&stored.bundle(), known.bundle);
        self.serve(stored.clone(), known.signer)?;
        if !leads {
            return Ok(false);
        }
        let Some((change, next)) = stored.next(&self.options.wanted, now, self.has_settled())? else {
            return Ok(false);
        };
        self.write(Some(secret), &next, change.as_str()).await?;
        Ok(true)
    }

    /// There is no Secret, or none that can be used.
    async fn make(&self, spoilt: Option<Secret>, now: Timestamp) -> Result<bool> {
        let (leads, wanted) = (self.leadership.leads(), &self.options.wanted);
        let next = match &self.served {
            Some(served) if leads => served.after_loss(wanted, now)?,
            None if leads || spoilt.is_none() => Stored::new(wanted, now)?,
            // The leader does it, and may remember more.
            Some(_) | None => return Ok(false),
        };
        self.write(spoilt, &next, "secret").await?;
        Ok(true)
    }

    async fn write(&self, read: Option<Secret>, stored: &Stored, change: &'static str) -> Result<()> {
        if self.secrets.write(read, stored).await.context("cannot write the Secret")? {
            self.metrics.certificate_changed(change, 1);
            let Options { namespace, name, .. } = &self.options;
            info!(change, namespace, secret = name, not_after = %stored.leaf.ends, "wrote the Secret of the certificate");
        }
        Ok(())
    }

    fn settle(&mut self, bundle: &str, known: bool) {
        match &self.known {
            Some((before, _)) if known && before == bundle => {}
            _ => self.known = known.then(|| (bundle.to_owned(), Instant::now())),
        }
    }

    fn has_settled(&self) -> bool {
        self.known.as_ref().is_some_and(|(_, since)| since.elapsed() >= self.options.settle)
    }

    /// Serves it, unless what is served is better.
    fn serve(&mut self, stored: Stored, known: bool) -> Result<()> {
        let before = self.served.as_ref();
        let same = before.is_some_and(|served| served.leaf == stored.leaf);
        if !same && !stored.replaces(before, known, self.clock.now()) {
            return Ok(());
        }
        if !same {
            let pair = Pair::from_pem(stored.leaf.pem.as_bytes(), stored.leaf_key.as_bytes())
                .context("the serving certificate of the Secret")?;
            info!(not_after = %stored.leaf.ends, "serving the certificate of the Secret");
            self.serving.show(pair, known);
        } else if known {
            self.serving.known();
        }
        self.metrics.certificate(stored.leaf.ends);
        self.metrics.certificate_authority(stored.authorities[0].ends);
        self.served = Some(stored);
        Ok(())
    }
}

/// Waits until this process leads where it did not, or the other way round. A grant that is renewed is no news.
async fn won_or_lost(leadership: &mut Leadership) {
    let led = leadership.leads();
    while leadership.leads() == led {
        leadership.changed().await;
    }
}
