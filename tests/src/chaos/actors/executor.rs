//! Eno's scheduler and executor, where the stand-in is used: synthesizes what is new or wanted anew, sometimes slowly, and
//! sometimes fails in the middle and begins again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use eno_shared::names::FORCE_RESYNTHESIS;
use jiff::{SignedDuration, Timestamp};
use kube::ResourceExt;
use kube::api::{DynamicObject, ListParams};
use std::time::Instant;
use tokio::task::JoinSet;

use super::users::EACH;
use super::{Actor, namespace_of};
use crate::chaos::ledger::{Outcome, Symptom};
use crate::chaos::stage::TARGETS;
use crate::fixtures::config_map;
use crate::standin::synthesis::Synthesis;

/// A synthesis in flight for longer is begun again.
const ABANDONED: SignedDuration = SignedDuration::from_secs(12);

/// Synthesizes until the end.
pub(super) async fn execute(mut actor: Actor) {
    let busy = Arc::<Mutex<HashSet<String>>>::default();
    let mut running = JoinSet::new();
    while actor.goes_on() {
        for town in actor.stage.towns_of_actors() {
            let compositions = actor.stage.eno("Composition", &town);
            let list = actor.stage.call("a list", compositions.list(&ListParams::default())).await.1;
            for composition in list.into_iter().flatten() {
                let uid = composition.uid().unwrap_or_default();
                let is_free = || busy.lock().unwrap_or_else(PoisonError::into_inner).insert(uid.clone());
                if is_due(&composition) && is_free() {
                    let (busy, mut worker) = (Arc::clone(&busy), actor.clone());
                    worker.rng = actor.rng.fork();
                    running.spawn(async move {
                        let began = Instant::now();
                        if let Err(error) = synthesize(&mut worker, &composition).await {
                            worker.stage.ledger.note("a synthesis", began, &outcome(&error));
                        }
                        busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&uid);
                    });
                }
            }
        }
        while running.try_join_next().is_some() {}
        actor.pause(200, 1000).await;
    }
    running.join_all().await;
}

/// Whether a synthesis is to begin.
fn is_due(composition: &DynamicObject) -> bool {
    let status = &composition.data["status"];
    if let Some(initialized) = status["inFlightSynthesis"]["initialized"].as_str() {
        let since = initialized.parse::<Timestamp>().map(|since| Timestamp::now().duration_since(since));
        return since.is_ok_and(|age| age > ABANDONED);
    }
    let current = &status["currentSynthesis"]["uuid"];
    let wanted = composition.annotations().get(FORCE_RESYNTHESIS);
    let anew = wanted.is_some_and(|wanted| current.as_str() == Some(wanted.as_str()));
    composition.metadata.deletion_timestamp.is_none() && (current.is_null() || anew)
}

async fn synthesize(actor: &mut Actor, composition: &DynamicObject) -> Result<()> {
    let (namespace, name) = (namespace_of(composition), composition.name_any());
    let client = actor.stage.cluster.client();
    let mut synthesis = Synthesis::begin(&client, &namespace, &name).await?;
    let slices = actor.rng.usize(1..=EACH);
    for slice in 0..slices {
        if actor.rng.u8(..12) == 0 {
            return Ok(()); // its pod was evicted, say
        }
        let resources = (slice..EACH).step_by(slices).map(|index| config_map(TARGETS, &name, index));
        synthesis.write_slice(&resources.collect::<Vec<_>>()).await?;
        // Eno's cleanup looks at slices when they are 5 s old.
        let slow = actor.rng.u8(..8) == 0;
        actor.pause(50, if slow { 9_000 } else { 800 }).await;
    }
    synthesis.finish().await
}

fn outcome(error: &anyhow::Error) -> Outcome {
    match error.downcast_ref::<kube::Error>() {
        Some(error) => Outcome::of_error(error),
        // It was deleted, or another synthesis is in flight.
        None if error.to_string().contains("in flight by now") => Outcome::Overtaken,
        None => Outcome::Failed(Symptom::Unserved, format!("{error:#}")),
    }
}
