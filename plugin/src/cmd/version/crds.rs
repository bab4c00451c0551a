//! Eno's kinds as the API server serves them. Discovery tells, which everybody may read; the CRDs themselves few may.

use std::collections::BTreeMap;

use eno_shared::names::ENO_GROUP;
use serde::Serialize;

use crate::cluster::Cluster;
use crate::cmd::doctor::ask::{Answer, get, text};

/// A kind of Eno's.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Definition {
    /// `compositions.eno.azure.io`
    name: String,
    /// In which versions it is served, the preferred one first.
    versions: Vec<String>,
}

/// What is served; nothing, where Eno is not installed.
pub(super) async fn read(cluster: &Cluster) -> Result<Vec<Definition>, String> {
    let cannot = |why: String| format!("cannot read which versions of {ENO_GROUP} are served: {why}");
    let group = match get(cluster, &format!("/apis/{ENO_GROUP}")).await {
        Answer::Found(group) => group,
        Answer::Missing => return Ok(vec![]),
        other @ Answer::Failed { .. } => return Err(cannot(other.reason())),
    };
    let mut versions: Vec<&str> =
        group["versions"].as_array().into_iter().flatten().filter_map(|version| version["version"].as_str()).collect();
    let preferred = text(&group, "/preferredVersion/version");
    versions.sort_by_key(|version| *version != preferred);
    let mut served: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for version in versions {
        let list = match get(cluster, &format!("/apis/{ENO_GROUP}/{version}")).await {
            Answer::Found(list) => list,
            other => return Err(cannot(other.reason())),
        };
        let names = list["resources"].as_array().into_iter().flatten().filter_map(|resource| resource["name"].as_str());
        // `compositions/status` is part of compositions.
        for name in names.filter(|name| !name.contains('/')) {
            served.entry(format!("{name}.{ENO_GROUP}")).or_default().push(version.to_owned());
        }
    }
    Ok(served.into_iter().map(|(name, versions)| Definition { name, versions }).collect())
}

/// `v1 (compositions, resourceslices)`
pub(super) fn sentence(definitions: &[Definition]) -> String {
    if definitions.is_empty() {
        return "none: Eno is not installed".to_owned();
    }
    let mut by_versions: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for Definition { name, versions } in definitions {
        let plural = name.split('.').next().unwrap_or_default();
        by_versions.entry(versions.join(", ")).or_default().push(plural);
    }
    let groups = by_versions.into_iter().map(|(versions, names)| format!("{versions} ({})", names.join(", ")));
    groups.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_the_same_versions_are_told_together() {
        let definition = |name: &str, versions: &[&str]| Definition {
            name: format!("{name}.{ENO_GROUP}"),
            versions: versions.iter().map(ToString::to_string).collect(),
        };
        let all = [definition("a", &["v1"]), definition("b", &["v2", "v1"]), definition("c", &["v1"])];
        assert_eq!(sentence(&all), "v1 (a, c); v2, v1 (b)");
        assert_eq!(sentence(&[]), "none: Eno is not installed");
    }
}
