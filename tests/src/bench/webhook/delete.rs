//! Added to the deletion of a slice. Four namespaces of one control plane hold the same objects: one is guarded by nobody, one
//! by ours, one by the peer, one by the policy. The same DELETE (as a dry run, so that it can be repeated) goes to them by turns.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eno_shared::names::{ENO_GROUP, ENO_VERSION, HOOK_DOMAIN};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration};
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::bench::figures::Times;
use crate::bench::performance::{self, Table};
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::fixtures;
use crate::namespace::Namespace;
use crate::peer::Peer;
use crate::webhook::{Profile, Webhook, WebhookOptions};
use crate::workspace;

/// Deletions of each sort.
const DELETIONS: usize = 1000;
/// Before measuring: connections are made, caches are filled.
const WARM_UP: usize = 50;
/// Further compositions in each namespace.
const COMPOSITIONS: usize = 100;
/// How long until a guard is in force.
const LIMIT: Duration = Duration::from_secs(30);
/// The peer's hook, as the API server's metrics name it.
const PEERS: &str = "slices-delete.peer.example";
/// What the API server labels a namespace with: its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// The policy, and its binding.
const POLICY: &str = "eno-webhook-slices";

/// A namespace with a slice that is needed and one that is garbage.
struct Place {
    namespace: Namespace,
    slices: Api<DynamicObject>,
}

/// Measures, prints, and keeps the table.
///
/// # Errors
/// The control plane refuses something, or a guard answers wrongly.
pub async fn run(cluster: &Cluster) -> Result<()> {
    let mut places = vec![];
    for hint in ["none", "ours", "peer", "policy"] {
        places.push(place(cluster, hint).await?);
    }
    let [none, ours, peer, policy] = places.as_slice() else { return Ok(()) };
    let options = WebhookOptions {
        namespace: ours.namespace.name().to_owned(),
        profile: Profile::Release,
        ..WebhookOptions::default()
    };
    let _ours = Webhook::start(cluster, options).await?;
    let _peer = guard_by_peer(cluster, peer).await?;
    guard_by_policy(cluster, policy).await?;
    for guarded in [ours, peer, policy] {
        eventually("the guard to be in force", LIMIT, async || {
            ensure!(delete(&guarded.slices, "needed").await?.1.is_err(), "the needed slice may be deleted");
            Ok(())
        })
        .await?;
    }

    let own = format!("slices-delete.{HOOK_DOMAIN}");
    let hooks = [own.as_str(), PEERS];
    let mut times = [(); 4].map(|()| Times::default());
    let mut before = vec![];
    for round in 0..WARM_UP + DELETIONS {
        if round == WARM_UP {
            for hook in hooks {
                before.push(Histogram::of(cluster, hook).await?);
            }
        }
        for (place, times) in [none, ours, peer, policy].into_iter().zip(&mut times) {
            let (took, answer) = delete(&place.slices, "garbage").await?;
            answer.with_context(|| format!("deleting garbage of {}", place.namespace.name()))?;
            if round >= WARM_UP {
                times.add(took);
            }
        }
    }
    let mut table = Table::new(&["DELETE of a slice", "no webhook", "ours", "peer", "policy", "must"]);
    let millis = |time: Duration| time.as_secs_f64() * 1000.0;
    let shown = |show: &dyn Fn(&Times) -> f64| times.each_ref().map(|times| format!("{:.2} ms", show(times)));
    let [none, ours, peer, policy] = &times;
    for percent in [50, 99] {
        let [a, b, c, d] = shown(&|times| millis(times.percentile(percent)));
        table.row(&[&format!("client's clock, p{percent}"), &a, &b, &c, &d, ""]);
    }
    let added =
        |of: &Times, percent| format!("{:.2} ms", millis(of.percentile(percent)) - millis(none.percentile(percent)));
    for percent in [50, 99] {
        let [b, c, d] = [ours, peer, policy].map(|times| added(times, percent));
        table.row(&[&format!("added, p{percent}"), "", &b, &c, &d, ""]);
    }
    let mut histograms = vec![];
    for (hook, before) in hooks.iter().zip(before) {
        histograms.push(Histogram::of(cluster, hook).await?.since(&before));
    }
    if let [ours, peer] = histograms.as_slice() {
        for (what, must) in [("0.005", "median < 5 ms: ≥ 50 %"), ("0.025", "p99 < 25 ms: ≥ 99 %")] {
            let part = |histogram: &Histogram| 100.0 * histogram.within(what) / histogram.calls;
            let of = |histogram: &Histogram| format!("{:.1} %", part(histogram));
            let limit = format!("API server's clock: calls of the hook within {} ms", what.parse::<f64>()? * 1000.0);
            table.row(&[&limit, "", &of(ours), &of(peer), "", &performance::must(must, part(ours))?]);
        }
        let mean = |histogram: &Histogram| format!("{:.2} ms", histogram.seconds * 1000.0 / histogram.calls);
        table.row(&["API server's clock: mean of a call of the hook", "", &mean(ours), &mean(peer), "", ""]);
    }
    performance::keep("delete", &table)
}

async fn place(cluster: &Cluster, hint: &str) -> Result<Place> {
    let namespace = Namespace::new(cluster, hint).await?;
    let name = namespace.name();
    for index in 0..COMPOSITIONS {
        cluster.apply(&fixtures::composition(name, &format!("other-{index}"))).await?;
    }
    let web = cluster.apply(&fixtures::composition(name, "web")).await?;
    for slice in ["needed", "garbage"] {
        cluster.apply(&fixtures::slice(&web, slice, "", &[fixtures::config_map(name, "web", 0)])).await?;
    }
    let current = fixtures::reconciled_synthesis("1", web.metadata.generation, &["needed"]);
    cluster.set_status(&fixtures::composition(name, "web"), &json!({"currentSynthesis": current})).await?;
    Ok(Place { slices: cluster.eno("ResourceSlice", name), namespace })
}

/// How long it took, and what came of it.
async fn delete(slices: &Api<DynamicObject>, name: &str) -> Result<(Duration, Result<(), kube::Error>)> {
    let dry_run = DeleteParams { dry_run: true, ..DeleteParams::default() };
    let begun = Instant::now();
    let answer = slices.delete(name, &dry_run).await;
    Ok((begun.elapsed(), answer.map(drop)))
}

async fn guard_by_peer(cluster: &Cluster, place: &Place) -> Result<Peer> {
    let peer = Peer::start(cluster).await?;
    let hook = json!({
        "name": PEERS, "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail", "timeoutSeconds": 5,
        "clientConfig": {"url": format!("{}/slices-delete", peer.url()), "caBundle": ByteString(fs::read(peer.ca())?)},
        "namespaceSelector": {"matchLabels": {NAME_LABEL: place.namespace.name()}},
        "rules": [{
            "apiGroups": [ENO_GROUP], "apiVersions": [ENO_VERSION], "resources": ["resourceslices"], "operations": ["DELETE"],
        }],
    });
    let config: ValidatingWebhookConfiguration =
        serde_json::from_value(json!({"metadata": {"name": "peer"}, "webhooks": [hook]}))?;
    Api::all(cluster.client()).create(&PostParams::default(), &config).await?;
    Ok(peer)
}

async fn guard_by_policy(cluster: &Cluster, place: &Place) -> Result<()> {
    let folder = workspace::root().join("manifests/policy/deny").display().to_string();
    cluster.kubectl(&["apply", "-k", &folder]).await?.success()?;
    let only = json!({"spec": {"matchResources": {"namespaceSelector": {
        "matchLabels": {NAME_LABEL: place.namespace.name()},
    }}}});
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(cluster.client());
    bindings.patch(POLICY, &PatchParams::default(), &Patch::Merge(only)).await?;
    Ok(())
}

/// The API server's own account of the calls of a hook.
struct Histogram {
    /// How many took at most so many seconds, as the metrics write it.
    buckets: Vec<(String, f64)>,
    calls: f64,
    seconds: f64,
}

impl Histogram {
    async fn of(cluster: &Cluster, hook: &str) -> Result<Self> {
        let text = cluster.client().request_text(http::Request::get("/metrics").body(vec![])?).await?;
        let (metric, name) = ("apiserver_admission_webhook_admission_duration_seconds", format!("name=\"{hook}\""));
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with(metric) && line.contains(&name)).collect();
        let value = |line: &str| line.rsplit(' ').next()?.parse::<f64>().ok();
        let sum = |kind: &str| {
            lines.iter().filter(|line| line[metric.len()..].starts_with(kind)).filter_map(|line| value(line)).sum()
        };
        let mut buckets: Vec<(String, f64)> = vec![];
        for line in lines.iter().filter(|line| line[metric.len()..].starts_with("_bucket")) {
            let limit = line.split_once("le=\"").and_then(|(_, rest)| rest.split_once('"')).context("no limit")?.0;
            let count = value(line).context("no count")?;
            match buckets.iter_mut().find(|(known, _)| known == limit) {
                Some((_, known)) => *known += count,
                None => buckets.push((limit.to_owned(), count)),
            }
        }
        Ok(Self { buckets, calls: sum("_count"), seconds: sum("_sum") })
    }

    fn since(mut self, before: &Self) -> Self {
        for (limit, count) in &mut self.buckets {
            *count -= before.within(limit);
        }
        Self { calls: self.calls - before.calls, seconds: self.seconds - before.seconds, ..self }
    }

    fn within(&self, limit: &str) -> f64 {
        self.buckets.iter().find(|(known, _)| known == limit).map_or(0.0, |(_, count)| *count)
    }
}
