//! Eno's controllers: their pods, and the Lease that one of them holds.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::ask::{Answer, get, items, text};
use super::check::Check;
use super::id::Id;
use crate::age::age;
use crate::cluster::Cluster;

/// A Lease that was not renewed for so long is nobody's.
const LEASE_IS_STALE: SignedDuration = SignedDuration::from_secs(60);

/// Does the controller run that has this label `app`?
pub(super) async fn running(cluster: &Cluster, id: Id, app: &str) -> Check {
    let pods = match get(cluster, &format!("/api/v1/pods?labelSelector=app%3D{app}")).await {
        Answer::Found(list) => list,
        other => return Check::skipped(id, format!("cannot list pods of {app}: {}", other.reason())),
    };
    let pods: Vec<&Value> = items(&pods).collect();
    let Some(first) = pods.first() else {
        return Check::skipped(id, format!("no pod has the label app={app}; it may run elsewhere, or not at all"));
    };
    let namespace = text(first, "/metadata/namespace");
    let ready = pods.iter().filter(|pod| is_ready(pod)).count();
    let count = format!("{app} {ready}/{} ready in {namespace}", pods.len());
    let why: Vec<String> = pods.iter().filter(|pod| !is_ready(pod)).map(|pod| trouble(pod)).collect();
    if ready == 0 {
        return Check::failed(id, count).with(why);
    }
    let lease = lease(cluster, namespace, &pods).await;
    match lease {
        Lease::Fresh(renewed) => {
            Check::passed(id, format!("{count}, lease renewed {} ago", age(Some(renewed), Timestamp::now())))
        }
        Lease::Stale(renewed) => {
            let ago = age(Some(renewed), Timestamp::now());
            Check::failed(id, format!("{count}, but its lease was renewed {ago} ago: nobody leads")).with(why)
        }
        Lease::None if why.is_empty() => Check::passed(id, format!("{count}; no lease names one of them")),
        Lease::None => Check::warning(id, format!("{count}; no lease names one of them")).with(why),
    }
}

enum Lease {
    Fresh(Timestamp),
    Stale(Timestamp),
    None,
}

/// The latest Lease that one of the pods holds: a holder is named after its pod.
async fn lease(cluster: &Cluster, namespace: &str, pods: &[&Value]) -> Lease {
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
    let Answer::Found(leases) = get(cluster, &path).await else { return Lease::None };
    let names: Vec<&str> = pods.iter().map(|pod| text(pod, "/metadata/name")).collect();
    let held = items(&leases).filter(|lease| {
        let holder = text(lease, "/spec/holderIdentity");
        names.iter().any(|name| !name.is_empty() && holder.starts_with(name))
    });
    let renewed = held.filter_map(|lease| text(lease, "/spec/renewTime").parse::<Timestamp>().ok()).max();
    match renewed {
        None => Lease::None,
        Some(renewed) if Timestamp::now().duration_since(renewed) > LEASE_IS_STALE => Lease::Stale(renewed),
        Some(renewed) => Lease::Fresh(renewed),
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn trouble(pod: &Value) -> String {
    let waiting = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    let reason = waiting.map(|container| text(container, "/state/waiting/reason")).find(|reason| !reason.is_empty());
    let phase = text(pod, "/status/phase");
    format!("pod {} is not ready: {}", text(pod, "/metadata/name"), reason.unwrap_or(phase))
}
