//! A rolling restart and a change of authorities, under load: two replicas of the Deployment behind their Service.
//!
//! The calls are deletions of a slice that is needed, as dry runs. Each must be denied by the webhook: what fails is seen, and
//! what passes because nobody was asked is seen as well.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eno_shared::names::{HOOK_DOMAIN, WEBHOOK_NAMESPACE};
use eno_webhook::certificates::stored::Stored;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, DynamicObject};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval};

use crate::bench::figures::Times;
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::manifests::ground::{Ground, on_a_new_cluster};
use crate::manifests::replica::Replica;
use crate::manifests::{Manifests, overlay};

/// The Secret of the certificate.
pub(crate) const SECRET: &str = "eno-webhook-tls";
/// Where the slice is.
const NAMESPACE: &str = "team-a";
/// How long the authorities may take to change: half a minute passes on purpose.
const LIMIT: Duration = Duration::from_secs(120);

/// The load.
#[derive(Debug, Clone, Copy)]
pub struct Rollout {
    /// How many calls, at least.
    pub calls: usize,
    /// How many in a second.
    pub rate: u32,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How long the calls took.
    pub times: Times,
    /// How many calls were made.
    pub calls: usize,
    /// What was answered to the calls that the webhook did not deny, and how often.
    pub failed: BTreeMap<String, usize>,
    /// What the API server itself has counted meanwhile.
    pub counted: Counted,
    /// How long each of the replicas that were replaced took to end.
    pub ended: Vec<Duration>,
    /// How long the whole took.
    pub took: Duration,
}

/// Calls of our hooks, by the metrics of the API server.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counted {
    /// Calls that were answered.
    pub answered: u64,
    /// Calls that were not.
    pub failed: u64,
    /// Requests that passed because a call was not answered.
    pub open: u64,
}

impl Rollout {
    /// Runs it on a control plane of its own.
    ///
    /// # Errors
    /// A replica does not start, or the authorities do not change; what the calls met is in the outcome.
    pub async fn run(self) -> Result<Outcome> {
        let (done, outcome) = tokio::sync::oneshot::channel();
        on_a_new_cluster(move |ground| async move {
            let outcome = self.story(&ground).await?;
            // The receiver waits below.
            let _ = done.send(outcome);
            Ok(())
        })
        .await?;
        outcome.await.context("the story has an outcome")
    }

    async fn story(self, ground: &Ground) -> Result<Outcome> {
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let mut old = vec![];
        for name in ["old-0", "old-1"] {
            old.push((name, stand(ground, &manifests, name, old.is_empty()).await?));
        }
        ground.needed_slice(NAMESPACE, "web").await?;
        ground.guarded(NAMESPACE, "web-0").await?;
        let slices = ground.cluster().without_retries().await?.eno("ResourceSlice", NAMESPACE);

        let (before, began) = (Counted::of(ground.cluster()).await?, Instant::now());
        let changed = std::cell::Cell::new(false);
        let changes = async {
            let ended = replace_all(ground, &manifests, old).await;
            changed.set(true);
            ended
        };
        let (outcome, ended) = tokio::join!(self.load(&slices, || changed.get()), changes);
        let (ended, _new) = ended?;
        let counted = Counted::of(ground.cluster()).await?.since(before);
        Ok(Outcome { counted, ended, took: began.elapsed(), ..outcome })
    }

    /// Calls at its rate, until there are enough and all has changed.
    async fn load(self, slices: &Api<DynamicObject>, changed: impl Fn() -> bool) -> Outcome {
        let mut outcome = Outcome::default();
        let mut calls = JoinSet::new();
        let mut ticks = interval(Duration::from_secs(1) / self.rate);
        // A pause of this machine is made up for.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        while outcome.calls < self.calls || !changed() {
            ticks.tick().await;
            calls.spawn(call(slices.clone()));
            outcome.calls += 1;
            while let Some(called) = calls.try_join_next() {
                outcome.note(called);
            }
        }
        while let Some(called) = calls.join_next().await {
            outcome.note(called);
        }
        outcome
    }
}

impl Outcome {
    fn note(&mut self, called: Result<(Duration, Option<String>), tokio::task::JoinError>) {
        match called {
            Ok((took, None)) => self.times.add(took),
            Ok((_, Some(answer))) => *self.failed.entry(answer).or_default() += 1,
            Err(error) => *self.failed.entry(error.to_string()).or_default() += 1,
        }
    }
}

/// How long a call took, and what was answered where the webhook did not deny it.
async fn call(slices: Api<DynamicObject>) -> (Duration, Option<String>) {
    let began = Instant::now();
    let answer = slices.delete("web-0", &DeleteParams { dry_run: true, ..DeleteParams::default() }).await;
    let wrong = match answer {
        Ok(_) => Some("it was allowed".to_owned()),
        Err(kube::Error::Api(status)) if status.message.contains("must stay (ReferencedByCurrent)") => None,
        Err(kube::Error::Api(status)) => Some(status.message.clone()),
        Err(error) => Some(error.to_string()),
    };
    (began.elapsed(), wrong)
}

/// A replica that is ready, and behind the Service.
async fn stand(ground: &Ground, manifests: &Manifests, name: &str, first: bool) -> Result<Replica> {
    let replica = ground.start_unready(manifests, first).await?;
    replica.ready().await?;
    ground.endpoint(manifests, name, Some(&replica)).await?;
    Ok(replica)
}

/// Loses the Secret, which changes the authority; meanwhile replaces the replicas one after the other.
async fn replace_all(
    ground: &Ground,
    manifests: &Manifests,
    old: Vec<(&str, Replica)>,
) -> Result<(Vec<Duration>, Vec<Replica>)> {
    let secrets = Api::<Secret>::namespaced(ground.cluster().client(), WEBHOOK_NAMESPACE);
    let stored = async || Stored::from_data(&secrets.get(SECRET).await?.data.unwrap_or_default());
    let before = stored().await?;
    secrets.delete(SECRET, &DeleteParams::default()).await?;
    let (mut ended, mut new) = (vec![], vec![]);
    for (name, mut replica) in old {
        new.push(stand(ground, manifests, &format!("instead-of-{name}"), false).await?);
        // Kubelet and the controller of EndpointSlices do not wait for each other.
        let terminated = spawn_blocking(move || replica.terminate());
        ground.endpoint(manifests, name, None).await?;
        ended.push(terminated.await?);
    }
    eventually("another authority to sign", LIMIT, async || {
        let stored = stored().await?;
        let newest = &stored.authorities[0];
        ensure!(*newest != before.authorities[0], "the authority is the old one");
        ensure!(stored.signer() == Some(newest), "the old authority signs");
        Ok(())
    })
    .await?;
    Ok((ended, new))
}

impl Counted {
    async fn of(cluster: &Cluster) -> Result<Self> {
        let text = cluster.client().request_text(http::Request::get("/metrics").body(vec![])?).await?;
        let sum = |metric: &str, is_meant: &dyn Fn(&str) -> bool| -> u64 {
            let ours = text.lines().filter(|line| line.starts_with(metric) && line.contains(HOOK_DOMAIN));
            let values =
                ours.filter(|line| is_meant(line)).filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
            values.sum()
        };
        let answered = |line: &str| line.contains("code=\"200\"") || line.contains("code=\"403\"");
        Ok(Self {
            answered: sum("apiserver_admission_webhook_request_total{", &answered),
            failed: sum("apiserver_admission_webhook_rejection_count{", &|line| {
                !line.contains("error_type=\"no_error\"")
            }),
            open: sum("apiserver_admission_webhook_fail_open_count{", &|_| true),
        })
    }

    fn since(self, before: Self) -> Self {
        Self {
            answered: self.answered - before.answered,
            failed: self.failed - before.failed,
            open: self.open - before.open,
        }
    }
}
