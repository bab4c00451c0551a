//! Pods of synthesizers: they live, are deleted, take their time to go, and are gone. Some stay.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use kube::ResourceExt;
use kube::api::{DeleteParams, PostParams, Preconditions};
use serde_json::json;

use super::Actor;
use crate::chaos::ledger::{Ledger, Outcome};
use crate::chaos::stage::{Stage, TARGETS};
use crate::eventually::eventually;

/// How long it may take until the last end is told: sweeps, a Lease that lapses, deliveries that back off.
const TOLD: Duration = Duration::from_secs(120);

/// How long it may take until what is going is written down.
const NOTED: Duration = Duration::from_secs(5);

/// The pods that lived.
#[derive(Debug, Default)]
pub struct Pods(Mutex<Vec<Pod>>);

#[derive(Debug, Clone)]
struct Pod {
    name: String,
    uid: String,
    born: Instant,
    gone: Option<Instant>,
}

impl Pods {
    fn all(&self) -> MutexGuard<'_, Vec<Pod>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acts until the end.
    pub(super) async fn live(self: Arc<Self>, mut actor: Actor) {
        let pods = actor.stage.cluster.api("v1", "Pod", Some(TARGETS));
        let mut made = 0;
        while actor.goes_on() {
            let name = format!("synthesizer-{made}");
            made += 1;
            let pod = json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "labels": {MANAGED_BY_LABEL: MANAGED_BY_ENO}},
                "spec": {
                    "nodeName": "node-1", "automountServiceAccountToken": false,
                    "containers": [{"name": "synthesizer", "image": "none"}],
                },
            });
            let pod = serde_json::from_value(pod).expect("a pod is an object");
            let Some(pod) = actor.stage.call("a new pod", pods.create(&PostParams::default(), &pod)).await.1 else {
                actor.pause(1000, 2000).await;
                continue;
            };
            let uid = pod.uid().unwrap_or_default();
            self.all().push(Pod { name: name.clone(), uid: uid.clone(), born: Instant::now(), gone: None });
            actor.pause(500, 4000).await;
            if actor.rng.u8(..4) == 0 {
                continue; // it stays
            }
            // Without a kubelet it stays, too, until it is deleted at once.
            actor.stage.call("the deletion of a pod", pods.delete(&name, &DeleteParams::default())).await;
            actor.pause(0, 4000).await;
            self.end(&actor.stage, &uid).await;
        }
    }

    /// The node has stopped it. Nobody must have been told before.
    async fn end(&self, stage: &Stage, uid: &str) {
        let Some(pod) = self.all().iter().find(|pod| pod.uid == uid).cloned() else { return };
        if let Some(told) = stage.receiver.of(uid).first() {
            stage.ledger.violated(format!("the end of pod {} was told while it was there: {}", pod.name, told.event));
        }
        let preconditions = Some(Preconditions { uid: Some(uid.to_owned()), resource_version: None });
        let at_once = DeleteParams { preconditions, ..DeleteParams::default().grace_period(0) };
        let pods = stage.cluster.api("v1", "Pod", Some(TARGETS));
        let (outcome, _) = stage.call("the end of a pod", pods.delete(&pod.name, &at_once)).await;
        // One that fails may have done it or not: it is asked again at the end.
        if matches!(outcome, Outcome::Done | Outcome::Overtaken) {
            self.all().iter_mut().filter(|pod| pod.uid == uid).for_each(|pod| pod.gone = Some(Instant::now()));
        }
    }

    /// Each end was told, and no other.
    ///
    /// # Errors
    /// The pods cannot be read, or what must be told is not in time.
    pub async fn verify(&self, stage: &Stage) -> Result<()> {
        let api = stage.cluster.api("v1", "Pod", Some(TARGETS));
        let pods = self.all().clone();
        for pod in pods.iter().filter(|pod| pod.gone.is_none()) {
            let is_there = api.get_metadata_opt(&pod.name).await?.and_then(|it| it.uid()) == Some(pod.uid.clone());
            if is_there && let Some(told) = stage.receiver.of(&pod.uid).first() {
                stage.ledger.violated(format!("the end of pod {} was told, and it lives: {}", pod.name, told.event));
            }
        }
        let sure = self.sure(&stage.ledger);
        ensure!(!sure.is_empty(), "of none of {} pods the end must be told", pods.len());
        eventually("each end of a pod to be told", TOLD, async || {
            let untold: Vec<_> = sure.iter().filter(|pod| stage.receiver.of(&pod.uid).is_empty()).collect();
            ensure!(untold.is_empty(), "{untold:?}");
            Ok(())
        })
        .await
    }

    /// Those whose end must be told. What is born and gone while nobody runs is never told of: a limit.
    fn sure(&self, ledger: &Ledger) -> Vec<Pod> {
        let now = Instant::now();
        let sure = |pod: &&Pod| {
            let noted = pod.gone.map(|gone| gone + NOTED).filter(|noted| *noted <= now);
            noted.is_some_and(|noted| ledger.was_watched(pod.born, noted))
        };
        self.all().iter().filter(sure).cloned().collect()
    }

    /// Waits until there is one whose end must be told.
    ///
    /// # Errors
    /// Pods do not live and end any more.
    pub(in crate::chaos) async fn one_is_sure(&self, ledger: &Ledger) -> Result<()> {
        eventually("a pod that lives while all is well", TOLD, async || {
            ensure!(!self.sure(ledger).is_empty(), "{} pods lived", self.count());
            Ok(())
        })
        .await
    }

    /// How many ends must be told.
    pub fn must_be_told(&self, ledger: &Ledger) -> usize {
        self.sure(ledger).len()
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.all().len()
    }
}
