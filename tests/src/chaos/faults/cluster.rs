//! Faults of what the webhook needs of the cluster and of its machine.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{WEBHOOK_NAME, WEBHOOK_NAMESPACE};
use eno_webhook::certificates::signed::{Signed, leaf};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use crate::chaos::fault::Strike;
use crate::eventually::eventually;
use crate::manifests::replica::Conditions;
use crate::manifests::replica::conditions::Clock;
use crate::rollout::SECRET;

/// How often the history is forgotten while the fault lasts.
const COMPACTIONS: usize = 3;
/// What is mended is mended within that time.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(60);

pub async fn compact(strike: &mut Strike<'_>) -> Result<String> {
    for _ in 0..COMPACTIONS {
        // The witness could not begin again before that.
        let known = eventually("the witness to have seen all", LIMIT, || strike.stage.witness.has_seen_all()).await?;
        strike.stage.ground.lock().await.controlplane().compact_at(known).await?;
        strike.hold().await;
    }
    Ok(format!("{COMPACTIONS} compactions"))
}

/// Somebody else holds the Lease, and does not renew it.
pub async fn take_lease(strike: &mut Strike<'_>) -> Result<String> {
    let leases = Api::<Lease>::namespaced(strike.stage.cluster.client(), WEBHOOK_NAMESPACE);
    let patch = json!({"spec": {
        "holderIdentity": "somebody-else", "leaseDurationSeconds": strike.pace.lease,
        "renewTime": MicroTime(Timestamp::now()),
    }});
    leases.patch(WEBHOOK_NAME, &PatchParams::default(), &Patch::Merge(patch)).await?;
    strike.hold().await;
    Ok(format!("for {} s", strike.pace.lease))
}

pub async fn revoke_rights(strike: &mut Strike<'_>) -> Result<String> {
    let bindings = strike.stage.cluster.api("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", None);
    let name = "eno-webhook-read";
    let mut binding = bindings.get(name).await.context("the binding of the manifests")?;
    bindings.delete(name, &DeleteParams::default()).await?;
    strike.hold().await;
    binding.metadata = kube::api::ObjectMeta {
        name: binding.metadata.name.take(),
        labels: binding.metadata.labels.take(),
        ..Default::default()
    };
    let binding = serde_json::to_value(&binding)?;
    eventually("the right to be given back", LIMIT, async || strike.stage.cluster.apply(&binding).await).await?;
    Ok(String::new())
}

/// A certificate of the right authority that has ended yesterday.
pub async fn end_certificate(strike: &mut Strike<'_>) -> Result<String> {
    let secrets = Api::<Secret>::namespaced(strike.stage.cluster.client(), WEBHOOK_NAMESPACE);
    let data = secrets.get(SECRET).await?.data.context("an empty Secret")?;
    let text = |key: &str| -> Result<String> {
        Ok(String::from_utf8(data.get(key).with_context(|| format!("no {key}"))?.0.clone())?)
    };
    let authorities = Signed::all(&text("ca.crt")?)?;
    let hosts = Signed::from_pem(&text("tls.crt")?)?.hosts;
    let newest = authorities.first().context("no authority")?;
    let (day, now) = (SignedDuration::from_hours(24), Timestamp::now());
    let (ended, key) = leaf(newest, &text("ca.key")?, &hosts, now - day * 2, day)?;
    let ended_text = ended.pem.clone();
    let data = [("tls.crt", ended.pem), ("tls.key", key)].map(|(key, text)| (key, ByteString(text.into_bytes())));
    let patch = Patch::Merge(json!({"data": BTreeMap::from(data)}));
    secrets.patch(SECRET, &PatchParams::default(), &patch).await?;
    strike.hold().await;
    eventually("another certificate to be made", LIMIT, async || {
        let data = secrets.get(SECRET).await?.data.unwrap_or_default();
        let now = data.get("tls.crt").map(|crt| crt.0.clone()).unwrap_or_default();
        ensure!(now != ended_text.as_bytes(), "it is the one that has ended");
        Ok(())
    })
    .await?;
    Ok(String::new())
}

pub async fn set_clocks(strike: &mut Strike<'_>) -> Result<String> {
    let clock = Clock::new()?;
    let fleet = &strike.stage.fleet;
    fleet.roll(&Conditions { clock: Some(clock.clone()), ..Conditions::default() }).await?;
    let offsets: Vec<i64> = match strike.rng.bool() {
        true => strike.pace.clocks.to_vec(),
        false => strike.pace.clocks.iter().rev().copied().collect(),
    };
    for seconds in &offsets {
        clock.set(SignedDuration::from_secs(*seconds))?;
        eventually("the leader to tell another time", LIMIT, async || {
            let renewed = strike.stage.lease().await?.renew_time.context("nobody leads")?.0;
            let ahead = renewed.duration_since(Timestamp::now()).as_secs();
            // The last renewal is some seconds ago.
            ensure!((ahead - seconds).abs() < (ahead).abs(), "its clock is {ahead} s ahead, not {seconds}");
            Ok(())
        })
        .await?;
        strike.hold().await;
    }
    clock.set(SignedDuration::ZERO)?;
    fleet.roll(&Conditions::default()).await?;
    Ok(format!("by {offsets:?} s"))
}

pub async fn fill_log_disk(strike: &mut Strike<'_>) -> Result<String> {
    let fleet = &strike.stage.fleet;
    fleet.roll(&Conditions { full_log_disk: true, ..Conditions::default() }).await?;
    strike.hold().await;
    let mut panics = 0.0;
    for member in fleet.members().await.iter() {
        let metrics = member.replica.metrics().await?;
        let of = metrics.lines().filter(|line| line.starts_with("eno_webhook_panics_total"));
        panics += of.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum::<f64>();
    }
    if panics > 0.0 {
        strike.stage.ledger.violated(format!("{panics} panics while the disk for logs was full"));
    }
    fleet.roll(&Conditions::default()).await?;
    Ok(String::new())
}

pub async fn roll(strike: &mut Strike<'_>) -> Result<String> {
    strike.stage.fleet.roll(&Conditions::default()).await?;
    Ok(String::new())
}
