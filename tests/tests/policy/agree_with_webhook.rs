//! The policy and the webhook are asked the same, in one request: the policy is never stricter, and where it is laxer is a
//! closed list, which docs/security.md has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{Component, ControlPlane, Options};
use eno_tests::eventually::eventually;
use eno_tests::replay::ask::Ask;
use eno_tests::replay::dump::{self, Dump};
use eno_tests::replay::{replay_all, space};
use eno_tests::webhook::Guarded;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::{DynamicObject, ListParams, PostParams};
use kube::{Api, ResourceExt};

use crate::ask::{Answers, ask_both};
use crate::kustomized;

const LIMIT: Duration = Duration::from_secs(60);
/// Requests at a time.
const AT_ONCE: usize = 16;

/// A control plane of its own, on which the webhook answers, the policy warns, and nobody else writes.
struct Ground {
    // Dropped first, and with it all that the test has made: nothing is left to remove one by one.
    _controlplane: ControlPlane,
    guarded: Guarded,
}

impl Ground {
    async fn new() -> Result<Self> {
        let mut controlplane = ControlPlane::start(Options::default()).await?;
        let cluster = Cluster::of(&controlplane).await?;
        let mut guarded = Guarded::on(cluster.clone(), "policy").await?;
        // No controllers: then the webhook lets most pass.
        guarded.guard(&[]).await?;
        guard_all_namespaces(&cluster).await?;
        // Owners that do not exist are a reason for the collector to delete.
        controlplane.kill(Component::KubeControllerManager);
        kustomized(&cluster, &["apply"], "policy/warn").await?.success()?;
        Ok(Self { _controlplane: controlplane, guarded })
    }

    /// Waits until the policy has seen all compositions: their informer knows the last one, so it knows all.
    async fn seen(&self) -> Result<()> {
        let (cluster, namespace) = (self.guarded.cluster(), self.guarded.name());
        let last = self.guarded.live("last", 1).await?;
        let slice = cluster.eno("ResourceSlice", namespace).get(&format!("{}-0", last.name_any())).await?;
        eventually("the policy to have seen all compositions", LIMIT, async || {
            let answers =
                ask_both(Ask::Delete, &cluster.client(), &slice).await?.context("a deletion can be asked of all")?;
            ensure!(!answers.policy.is_empty(), "{answers:?}");
            Ok(())
        })
        .await
    }

    async fn ask(&self, dumps: &[Dump], slices: &[Option<DynamicObject>]) -> Result<Compared> {
        let client = self.guarded.cluster().client();
        let made = dumps.iter().zip(slices).filter_map(|(dump, slice)| Some((dump, slice.as_ref()?)));
        let all = made.flat_map(|(dump, slice)| Ask::ALL.map(|ask| (dump, slice, ask)));
        let asked = stream::iter(all).map(async |(dump, slice, ask)| {
            let answers = ask_both(ask, &client, slice).await.with_context(|| dump.title.clone())?;
            anyhow::Ok(answers.map(|answers| (dump, ask, answers)))
        });
        let asked: Vec<_> = asked.buffered(AT_ONCE).try_collect().await?;
        let mut compared = Compared::default();
        for (dump, ask, answers) in asked.into_iter().flatten() {
            compared.add(dump, ask, &answers)?;
        }
        Ok(compared)
    }
}

/// The webhook of a test guards one namespace; of compositions elsewhere it has no watch, and lists them.
async fn guard_all_namespaces(cluster: &Cluster) -> Result<()> {
    let api: Api<ValidatingWebhookConfiguration> = Api::all(cluster.client());
    for mut config in api.list(&ListParams::default()).await? {
        for hook in config.webhooks.iter_mut().flatten() {
            hook.namespace_selector = Some(LabelSelector::default());
        }
        api.replace(&config.name_any(), &PostParams::default(), &config).await?;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Compared {
    both_deny: usize,
    both_allow: usize,
    /// By request and the webhook's reason.
    laxer: BTreeMap<(Ask, String), Vec<String>>,
    stricter: String,
}

impl Compared {
    fn add(&mut self, dump: &Dump, ask: Ask, answers: &Answers) -> Result<()> {
        match (answers.policy.as_slice(), &answers.webhook) {
            ([], None) => self.both_allow += 1,
            ([_, ..], Some(_)) => self.both_deny += 1,
            ([], Some(_)) => {
                self.laxer.entry((ask, answers.reason().to_owned())).or_default().push(dump.title.clone());
            }
            (denials @ [_, ..], None) => writeln!(self.stricter, "{ask:?} of {}: {denials:?}", dump.title)?,
        }
        Ok(())
    }

    fn laxer(&self) -> Vec<(Ask, &str)> {
        self.laxer.keys().map(|(ask, reason)| (*ask, reason.as_str())).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn policy_is_never_stricter_than_the_webhook() -> Result<()> {
    let ground = Ground::new().await?;
    let cases = [dump::own()?, dump::shared()?].concat();
    let of_cases = replay_all(ground.guarded.cluster(), "case", &cases).await?;
    let states = space::all();
    let of_states = replay_all(ground.guarded.cluster(), "state", &states).await?;
    ground.seen().await?;
    let refused = cases.iter().zip(&of_cases).filter(|(_, slice)| slice.is_none());
    let refused: BTreeSet<_> = refused.filter_map(|(dump, _)| dump.title.split(' ').next()).collect();
    assert_eq!(refused, BTreeSet::from(["nulls-for-empty.json"]), "null where an object must be");
    assert!(of_states.iter().all(Option::is_some));

    let compared = ground.ask(&cases, &of_cases).await?;
    assert_eq!(compared.stricter, "");
    assert!(compared.both_deny > 80 && compared.both_allow > 80, "{compared:#?}");
    assert_eq!(compared.laxer(), [], "{compared:#?}");

    let compared = ground.ask(&states, &of_states).await?;
    assert_eq!(compared.stricter, "");
    assert!(compared.both_deny > 400 && compared.both_allow > 400, "{compared:#?}");
    // A composition that is not the owner is asked without the owner, which may be finished: then the slice may go.
    assert_eq!(
        compared.laxer(),
        [(Ask::Delete, "ReferencedByCurrent"), (Ask::Delete, "ReferencedByPrevious")],
        "{compared:#?}"
    );
    let of_previous = |title: &String| title.contains("Live Previous") || title.contains("(Live, Previous)");
    assert!(compared.laxer.values().flatten().all(of_previous), "{compared:#?}");
    Ok(())
}
