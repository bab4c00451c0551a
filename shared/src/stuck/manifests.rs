//! What holds a synthesis up that its manifests show.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::api::{Manifest, ResourceRef, SliceManifests};

use super::Blocker;

/// What the manifests of a composition's current synthesis show; for one that is not done. `slices` are name and
/// manifests, `deleting` is of the composition.
#[must_use]
pub fn manifest_blockers(slices: &[(&str, &SliceManifests)], deleting: bool) -> Vec<Blocker> {
    let mut blockers = vec![];
    let mut resources = vec![];
    for (slice, SliceManifests(manifests)) in slices {
        for (index, manifest) in manifests.iter().enumerate() {
            match manifest.resource() {
                Some(resource) => resources.push((*slice, resource, manifest)),
                None => blockers.push(Blocker::MalformedManifest { slice: (*slice).to_owned(), index }),
            }
        }
    }
    blockers.extend(duplicates(&resources));
    if !deleting {
        blockers.extend(deadlocks(&resources));
    }
    blockers
}

type Placed<'a> = (&'a str, ResourceRef, &'a Manifest);

fn duplicates(resources: &[Placed<'_>]) -> Vec<Blocker> {
    let mut slices_of: BTreeMap<_, (&ResourceRef, Vec<String>)> = BTreeMap::new();
    for (slice, resource, _) in resources {
        slices_of.entry(resource.identity()).or_insert((resource, vec![])).1.push((*slice).to_owned());
    }
    let twice = slices_of.into_values().filter(|(_, slices)| slices.len() > 1);
    twice
        .map(|(resource, mut slices)| {
            slices.dedup();
            Blocker::DuplicateResource { resource: resource.to_string(), slices }
        })
        .collect()
}

/// Definitions that wait, by their readiness group, for objects of their own kind.
fn deadlocks(resources: &[Placed<'_>]) -> Vec<Blocker> {
    let definitions = resources.iter().filter_map(|(_, resource, manifest)| {
        let Head { metadata, spec } = head(manifest);
        let defines = spec.filter(|_| resource.kind == "CustomResourceDefinition")?;
        Some((resource, defines, metadata.group()?))
    });
    let waits_for = |defines: &Definition, group: i64| {
        resources.iter().find(|(_, resource, manifest)| {
            resource.group() == defines.group
                && resource.kind == defines.names.kind
                && head(manifest).metadata.group().is_some_and(|earlier| earlier < group)
        })
    };
    definitions
        .filter_map(|(definition, defines, group)| {
            let (_, resource, _) = waits_for(&defines, group)?;
            Some(Blocker::ReadinessDeadlock { definition: definition.to_string(), resource: resource.to_string() })
        })
        .collect()
}

fn head(manifest: &Manifest) -> Head {
    serde_json::from_str(&manifest.manifest).unwrap_or_default()
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Head {
    metadata: HeadMetadata,
    spec: Option<Definition>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HeadMetadata {
    annotations: BTreeMap<String, String>,
}

/// `spec` of a CustomResourceDefinition.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Definition {
    group: String,
    names: DefinedNames,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DefinedNames {
    kind: String,
}

impl HeadMetadata {
    /// The readiness group; none, where none is set.
    fn group(&self) -> Option<i64> {
        self.annotations.get(crate::names::READINESS_GROUP)?.parse().ok()
    }
}
