//! The webhook in Go that ours is measured against gives the same answers: what is compared does the same work.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{ENO_GROUP, ENO_VERSION};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{Component, ControlPlane, Options};
use eno_tests::crds;
use eno_tests::eventually::eventually;
use eno_tests::namespace::Namespace;
use eno_tests::peer::Peer;
use eno_tests::replay::ask::{Ask, Change};
use eno_tests::replay::{dump, replay_all, space};
use eno_tests::webhook::{Webhook, WebhookOptions};
use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use kube::api::DynamicObject;
use kube::{Client, Config, ResourceExt};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);
/// A slice is too new to be garbage before it is 5 s old: then an answer would depend on when it is given.
const OLD_ENOUGH: i64 = 6;
/// Reviews at a time.
const AT_ONCE: usize = 16;

/// What a webhook says: is it allowed, by which code, for which reason.
type Said = (bool, u64, String);

struct Contestant(Client);

impl Contestant {
    fn at(url: &str, ca: &Path) -> Result<Self> {
        let mut config = Config::new(url.parse()?);
        config.root_cert_file = Some(ca.to_owned());
        Ok(Self(Client::try_from(config)?))
    }

    async fn ask(&self, path: &str, review: &Value) -> Result<Said> {
        let request = http::Request::post(path).header("content-type", "application/json");
        let answer: Value = self.0.request(request.body(serde_json::to_vec(review)?)?).await?;
        let response = &answer["response"];
        ensure!(response["uid"] == review["request"]["uid"], "{answer}");
        let allowed = response["allowed"].as_bool().with_context(|| format!("no answer: {answer}"))?;
        // Where it is allowed, the code is optional.
        let code = if allowed { 200 } else { response["status"]["code"].as_u64().unwrap_or_default() };
        let reason = response["auditAnnotations"]["reason"].as_str().unwrap_or_default();
        Ok((allowed, code, reason.to_owned()))
    }
}

/// The review, with the hook that it goes to; `None` where the slice has not what it takes away.
fn review(ask: Ask, slice: &DynamicObject) -> Result<Option<(&'static str, Value)>> {
    let old = serde_json::to_value(slice)?;
    let (path, operation, new) = match ask.change(slice) {
        None => return Ok(None),
        Some(Change::Deletion) => ("/slices-delete", "DELETE", Value::Null),
        Some(Change::Patch(patch)) => {
            let mut new = old.clone();
            json_patch::merge(&mut new, &patch);
            ("/slices-update", "UPDATE", new)
        }
    };
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": ENO_GROUP, "version": ENO_VERSION, "kind": "ResourceSlice"},
            "resource": {"group": ENO_GROUP, "version": ENO_VERSION, "resource": "resourceslices"},
            "name": slice.name_any(), "namespace": slice.namespace(), "operation": operation,
            "userInfo": {"username": "alice"}, "object": new, "oldObject": old, "dryRun": true,
        },
    });
    Ok(Some((path, review)))
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_as_ours_does_over_the_whole_space_of_states() -> Result<()> {
    let mut controlplane = ControlPlane::start(Options::default()).await?;
    let cluster = Cluster::of(&controlplane).await?;
    crds::install(&cluster).await?;
    let namespace = Namespace::new(&cluster, "peer").await?;
    // Owners that do not exist are a reason for the collector to delete.
    controlplane.kill(Component::KubeControllerManager);
    let dumps = [dump::own()?, dump::shared()?, space::all()].concat();
    let slices = replay_all(&cluster, "state", &dumps).await?;

    let options =
        WebhookOptions { namespace: namespace.name().to_owned(), unregistered: true, ..WebhookOptions::default() };
    let (webhook, peer) = (Webhook::start(&cluster, options).await?, Peer::start(&cluster).await?);
    let ours = Contestant::at(webhook.url(), webhook.ca())?;
    let theirs = Contestant::at(peer.url(), peer.ca())?;
    let born = slices.iter().flatten().filter_map(|slice| slice.creation_timestamp()).map(|time| time.0).max();
    let born = born.context("there are slices")?;
    eventually("the youngest slice to be old enough", LIMIT, async || {
        let age = Timestamp::now().duration_since(born).as_secs();
        ensure!(age >= OLD_ENOUGH, "it is {age} s old");
        Ok(())
    })
    .await?;

    let made = dumps.iter().zip(&slices).filter_map(|(dump, slice)| Some((dump, slice.as_ref()?)));
    let all = made.flat_map(|(dump, slice)| Ask::ALL.map(|ask| (dump, slice, ask)));
    let asked = stream::iter(all).map(async |(dump, slice, ask)| {
        let Some((path, review)) = review(ask, slice)? else { return Ok(None) };
        let said = tokio::try_join!(ours.ask(path, &review), theirs.ask(path, &review));
        anyhow::Ok(Some((dump, ask, said.with_context(|| format!("{ask:?} of {}", dump.title))?)))
    });
    let asked: Vec<_> = asked.buffered(AT_ONCE).try_collect().await?;
    let (mut differences, mut agreed) = (String::new(), BTreeMap::<Said, usize>::new());
    for (dump, ask, (ours, theirs)) in asked.into_iter().flatten() {
        if ours == theirs {
            *agreed.entry(ours).or_default() += 1;
        } else {
            writeln!(differences, "{ask:?} of {}: ours says {ours:?}, the peer {theirs:?}", dump.title)?;
        }
    }
    assert_eq!(differences, "");
    let of = |allowed: bool| agreed.iter().filter(|(said, _)| said.0 == allowed).map(|(_, count)| count).sum::<usize>();
    assert!(of(true) > 500 && of(false) > 500, "{agreed:#?}");
    assert!(agreed.len() >= 12, "not all reasons came up: {agreed:#?}");
    Ok(())
}
