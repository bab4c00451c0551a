//! Much at once.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use http::header::CONTENT_TYPE;
use jiff::Timestamp;
use kube::api::{DeleteParams, PostParams};
use kube::{Client, Config};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::chaos::fault::Strike;
use crate::chaos::ledger::Outcome;
use crate::chaos::stage::{CALM, Stage, TARGETS};
use crate::controlplane::Component;
use crate::eventually::eventually;
use crate::fixtures::{composition, reconciled_composition, reconciled_synthesis, slice};
use crate::netns;

/// Bodies in flight, each of nearly the largest size that is taken.
const BODIES: usize = 64;
const BODY: usize = 7 * 1024 * 1024 - 4096;
/// Connections that say nothing.
const SILENT: usize = 200;
/// Writes in flight while slices are made.
const IN_FLIGHT: usize = 32;
/// Namespaces that are being deleted when the API server is killed.
const NAMESPACES: usize = 8;
/// Time between their deletions: their controller comes back to each after some seconds, and some time is the wrong one.
const APART: Duration = Duration::from_secs(1);
/// How long a namespace may take to go: its controller comes again after a minute at most, and then after more.
const GOING: Duration = Duration::from_secs(600);

/// Bodies and connections that use up memory. Whoever reaches the port can send them: no process of the API server is needed.
pub async fn flood(strike: &mut Strike<'_>) -> Result<String> {
    let mut answers = BTreeMap::<String, usize>::new();
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "flood", "operation": "DELETE", "namespace": CALM, "name": "web-0",
            "resource": {"group": "eno.azure.io", "version": "v1", "resource": "resourceslices"},
            "oldObject": {"padding": "x".repeat(BODY)},
        },
    });
    let body = review.to_string().into_bytes();
    let ports: Vec<_> = strike.stage.fleet.members().await.iter().map(|member| member.replica.port()).collect();
    let pids = pids(strike.stage).await;
    for port in ports {
        let silent = stream::iter(0..SILENT).map(|_| TcpStream::connect((netns::ADDRESS, port)));
        let _silent: Vec<TcpStream> = silent.buffer_unordered(IN_FLIGHT).try_collect().await?;
        let mut config = Config::new(format!("https://{}:{port}", netns::ADDRESS).parse()?);
        // Its certificate is for the Service's name; who floods does not care.
        (config.accept_invalid_certs, config.default_retry) = (true, false);
        let client = Client::try_from(config)?;
        let ask = |_| {
            let (client, body) = (client.clone(), body.clone());
            async move {
                let request =
                    http::Request::post("/slices-delete?timeout=10s").header(CONTENT_TYPE, "application/json");
                match client.request_text(request.body(body)?).await {
                    Ok(_) => anyhow::Ok("200".to_owned()),
                    Err(kube::Error::Api(status)) => Ok(status.code.to_string()),
                    Err(_) => Ok("no answer".to_owned()),
                }
            }
        };
        let all: Vec<_> = stream::iter(0..BODIES).map(ask).buffer_unordered(BODIES).try_collect().await?;
        all.into_iter().for_each(|answer| *answers.entry(answer).or_default() += 1);
    }
    // A replica that was killed is a violation, too, as the kubelet sees it; but it may see it only later.
    if pids != self::pids(strike.stage).await {
        strike.stage.ledger.violated("a replica was killed in a flood".to_owned());
    }
    let mut peak = 0;
    for member in strike.stage.fleet.members().await.iter() {
        peak = peak.max(member.replica.peak()?);
    }
    let mib = |bytes: u64| bytes >> 20;
    Ok(format!("{answers:?}, peak {} of {} MiB", mib(peak), mib(strike.stage.fleet.memory())))
}

async fn pids(stage: &Stage) -> Vec<Option<u32>> {
    stage.fleet.members().await.iter().map(|member| member.replica.pid()).collect()
}

/// Makes live compositions in a namespace of their own, and so many slices that they list. They have no resources.
async fn populate(stage: &Stage, compositions: usize, slices: usize) -> Result<String> {
    let town = stage.found_aside().await?;
    let of = |index: usize| (index..slices).step_by(compositions).map(|slice| format!("s{slice}"));
    for index in 0..compositions {
        let composition = composition(&town, &format!("many-{index}"));
        let owner = stage.cluster.apply(&composition).await?;
        // Slices that nothing lists yet are garbage, unless they are being synthesized.
        let in_flight =
            json!({"uuid": "1", "initialized": Timestamp::now().strftime("%FT%TZ").to_string(), "attempts": 1});
        stage.cluster.set_status(&composition, &json!({"inFlightSynthesis": in_flight})).await?;
        let objects = stage.eno("ResourceSlice", &town);
        let make = |name: String| {
            let (objects, slice) = (&objects, slice(&owner, &name, "1", &[]));
            async move {
                anyhow::Ok(objects.create(&PostParams::default(), &serde_json::from_value(slice)?).await.map(drop)?)
            }
        };
        stream::iter(of(index)).map(make).buffer_unordered(IN_FLIGHT).try_collect::<Vec<()>>().await?;
        let names: Vec<_> = of(index).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let current = reconciled_synthesis("1", owner.metadata.generation, &names);
        stage
            .cluster
            .set_status(&composition, &json!({"currentSynthesis": current, "inFlightSynthesis": null}))
            .await?;
    }
    Ok(town)
}

/// Each of many needed slices is deleted by a call of its own, all in flight together.
pub async fn delete_at_once(strike: &mut Strike<'_>) -> Result<String> {
    let (stage, count) = (strike.stage, strike.pace.deletes);
    let town = populate(stage, 10, count).await?;
    let slices = stage.eno("ResourceSlice", &town);
    let began = Instant::now();
    let delete = |index: usize| {
        let slices = &slices;
        async move {
            let name = format!("s{index}");
            stage.call("one of many deletions", slices.delete(&name, &DeleteParams::default())).await.0
        }
    };
    let outcomes: Vec<_> = stream::iter(0..count).map(delete).buffer_unordered(count).collect().await;
    let took = began.elapsed();
    let of = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let denied = of(&|outcome| matches!(outcome, Outcome::Denied(_)));
    let passed = of(&|outcome| matches!(outcome, Outcome::Done | Outcome::Overtaken));
    if passed > 0 {
        stage.ledger.violated(format!("{passed} of {count} deletions at once passed"));
    }
    Ok(format!("{denied} of {count} denied, {} failed, in {:.1} s", count - denied - passed, took.as_secs_f64()))
}

/// An API server that starts may not know of CRDs yet. The controller of namespaces, which waits for it, then takes a namespace
/// that is being deleted for empty.
pub async fn delete_namespaces_in_restart(strike: &mut Strike<'_>) -> Result<String> {
    let (stage, stranded) = (strike.stage, strike.stage.stranded());
    let mut towns = vec![];
    for _ in 0..NAMESPACES {
        // Were it at work, there would be little left when the API server goes.
        let town = stage.found_without_eno().await?;
        reconciled_composition(&stage.cluster, &town, &town.replace('-', ""), TARGETS, 3).await?;
        towns.push(town);
    }
    let namespaces = stage.cluster.api("v1", "Namespace", None);
    for town in &towns {
        namespaces.delete(town, &DeleteParams::default()).await.context("deleting a namespace")?;
        sleep(APART).await;
    }
    stage.ground.lock().await.controlplane().kill(Component::KubeApiserver);
    stage.ground.lock().await.controlplane().revive_apiserver().await?;
    strike.hold().await;
    for town in &towns {
        stage.start_eno(town).await?;
    }
    eventually("namespaces to be looked at", GOING, || stage.forget_what_is_gone()).await?;
    let stranded = stage.stranded() - stranded;
    Ok(format!("{stranded} of {NAMESPACES} namespaces went before what was in them"))
}

/// A namespace with many slices is deleted, as `kubectl delete namespace` does.
pub async fn delete_namespace(strike: &mut Strike<'_>) -> Result<String> {
    let (stage, count) = (strike.stage, strike.pace.slices);
    let town = populate(stage, 10, count).await?;
    let namespaces = stage.cluster.api("v1", "Namespace", None);
    let (began, gone) = (Instant::now(), stage.witness.slices_gone());
    namespaces.delete(&town, &DeleteParams::default()).await.context("deleting a namespace")?;
    eventually("the namespace to be gone", GOING, async || {
        let left = stage.eno("ResourceSlice", &town).list_metadata(&kube::api::ListParams::default()).await?;
        let is_there = namespaces.get_metadata_opt(&town).await?.is_some();
        ensure!(!is_there, "{} slices are left", left.items.len());
        Ok(())
    })
    .await?;
    let slices = stage.witness.slices_gone() - gone;
    ensure!(slices >= count, "the store has seen {slices} of {count} slices go");
    Ok(format!("{count} slices and the namespace gone in {:.0} s", began.elapsed().as_secs_f64()))
}
