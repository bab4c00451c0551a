//! The API server, and Eno's kinds in it.

use std::time::Instant;

use eno_shared::api::{Composition, Kind, ResourceSlice, Symphony, Synthesizer};
use eno_shared::names::{ENO_API_VERSION, ENO_GROUP, ENO_VERSION};
use serde_json::Value;

use super::ask::{Answer, get, text};
use super::check::Check;
use super::id::Id;
use crate::cluster::Cluster;

const PLURALS: [&str; 4] = [Composition::PLURAL, ResourceSlice::PLURAL, Symphony::PLURAL, Synthesizer::PLURAL];

/// Does it answer?
pub(super) async fn reachable(cluster: &Cluster) -> Check {
    let begun = Instant::now();
    // The version is there for everybody; this wants credentials that are accepted.
    let path = "/apis/authorization.k8s.io/v1";
    match (get(cluster, "/version").await, get(cluster, path).await) {
        (_, Answer::Failed { code: 401, .. }) => {
            Check::failed(Id::Api, "the API server does not accept the credentials: log in again")
        }
        (Answer::Found(version), _) => Check::passed(
            Id::Api,
            format!("API server answers ({}, {} ms)", text(&version, "/gitVersion"), begun.elapsed().as_millis() / 2),
        ),
        (version, _) => Check::failed(Id::Api, format!("API server does not answer: {}", version.reason())),
    }
}

/// Are Eno's kinds served, and meant to stay?
pub(super) async fn crds(cluster: &Cluster) -> Check {
    let served = match get(cluster, &format!("/apis/{ENO_API_VERSION}")).await {
        Answer::Found(list) => list,
        Answer::Missing => {
            return Check::failed(Id::Crds, format!("{ENO_API_VERSION} is not served: Eno is not installed"));
        }
        failed @ Answer::Failed { .. } => return Check::skipped(Id::Crds, format!("cannot tell: {}", failed.reason())),
    };
    let resources = served["resources"].as_array().cloned().unwrap_or_default();
    let missing: Vec<&str> =
        PLURALS.into_iter().filter(|plural| resources.iter().all(|resource| resource["name"] != *plural)).collect();
    if !missing.is_empty() {
        return Check::failed(Id::Crds, format!("not served in {ENO_API_VERSION}: {}", missing.join(", ")));
    }
    let mut troubles = vec![];
    for plural in PLURALS {
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{ENO_GROUP}");
        // Who may not read them knows from the above that they are served.
        if let Answer::Found(definition) = get(cluster, &path).await {
            troubles.extend(trouble(plural, &definition));
        }
    }
    let all = PLURALS.join(", ");
    if troubles.is_empty() {
        return Check::passed(Id::Crds, format!("{all} are served in {ENO_API_VERSION}"));
    }
    Check::failed(Id::Crds, format!("of {all}, some will not last")).with(troubles)
}

fn trouble(plural: &str, definition: &Value) -> Option<String> {
    if !text(definition, "/metadata/deletionTimestamp").is_empty() {
        return Some(format!("{plural}.{ENO_GROUP} is being deleted, and all its objects with it"));
    }
    let versions: Vec<&str> = definition["spec"]["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|version| version["served"] == true)
        .filter_map(|version| version["name"].as_str())
        .collect();
    (!versions.contains(&ENO_VERSION)).then(|| format!("{plural}.{ENO_GROUP} serves {} only", versions.join(", ")))
}
