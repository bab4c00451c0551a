//! What is in namespaces that do not exist.

use std::collections::{BTreeMap, BTreeSet};

use eno_shared::Lookup;

use super::check::Check;
use super::id::Id;
use crate::cluster::Cluster;
use crate::snapshot::{Seen, Snapshot};
use crate::surroundings::Namespace;

/// Is there anything? `listed` are the namespaces that a list has shown; of all others each is asked for.
pub(super) async fn stranded<T>(cluster: &Cluster, snapshot: &Snapshot, listed: &BTreeMap<String, T>) -> Check {
    let of_slices = snapshot.slices.iter().map(Seen::metadata).map(|metadata| metadata.namespace.as_str());
    let used: BTreeSet<&str> = of_slices.chain(snapshot.namespaces.names()).collect();
    let mut stranded = vec![];
    for name in used.iter().filter(|name| !listed.contains_key(**name)) {
        match cluster.core::<Namespace>("/api/v1/namespaces", name).await {
            Lookup::Missing => stranded.push(*name),
            Lookup::Found(_) => {}
            Lookup::Unknown(why) => return Check::skipped(Id::Namespaces, format!("namespace {name}: {why}")),
        }
    }
    if stranded.is_empty() {
        return Check::passed(
            Id::Namespaces,
            format!("of {} namespaces with slices or compositions, all exist", used.len()),
        );
    }
    let next = stranded.iter().map(|name| {
        let slices = snapshot.slices.iter().filter(|seen| seen.metadata().namespace == *name).count();
        let compositions = snapshot.namespaces.compositions(name).names().count();
        let again = format!("kubectl create namespace {name} && kubectl delete namespace {name}");
        format!("{name}: {compositions} compositions, {slices} slices: {again}")
    });
    let message = format!(
        "{} namespaces do not exist, and what is in them stays, with its resources: they went before it",
        stranded.len()
    );
    Check::warning(Id::Namespaces, message).with_few(next.collect())
}
