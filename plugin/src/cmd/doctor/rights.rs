//! What the user may do.

use eno_shared::names::{ENO_GROUP, FORCE_VERB};
use futures::stream::{StreamExt, iter};
use serde_json::json;

use super::ask::{Answer, post};
use super::check::Check;
use super::id::Id;
use crate::cluster::Cluster;

/// A verb on a resource, and what needs it.
type Right = (&'static str, &'static str, &'static str);

const READ: [Right; 6] = [
    ("list", "resourceslices", "everything"),
    ("get", "resourceslices", "blockers of slices that are being deleted"),
    ("list", "compositions", "everything"),
    ("watch", "resourceslices", "wait"),
    ("watch", "compositions", "wait"),
    ("get", "namespaces", "the blocker NamespaceTerminating"),
];

const WRITE: [Right; 7] = [
    ("delete", "resourceslices", "cleanup"),
    ("patch", "resourceslices", "cleanup, release"),
    ("create", "resourceslices", "restore"),
    ("patch", "compositions", "resynth, release"),
    ("patch", "symphonies", "release"),
    (FORCE_VERB, "resourceslices", "release --force"),
    (FORCE_VERB, "compositions", "release --force"),
];

/// What the plugin reads.
pub(super) async fn read(cluster: &Cluster, namespace: Option<&str>) -> Check {
    match missing(cluster, namespace, &READ).await {
        Err(why) => Check::skipped(Id::RightsRead, format!("cannot tell what you may read: {why}")),
        Ok(missing) if missing.is_empty() => Check::passed(
            Id::RightsRead,
            format!("you may list, get and watch slices and compositions{}", shown(namespace)),
        ),
        Ok(missing) => {
            let details = missing.iter().map(named);
            if missing.iter().any(|(verb, _, _)| *verb == "list") {
                let message = format!("you may not list what decides{}", shown(namespace));
                return Check::failed(Id::RightsRead, message).with(details);
            }
            Check::warning(Id::RightsRead, format!("you may not read all{}", shown(namespace))).with(details)
        }
    }
}

/// What the commands need that write.
pub(super) async fn write(cluster: &Cluster, namespace: Option<&str>) -> Check {
    match missing(cluster, namespace, &WRITE).await {
        Err(why) => Check::skipped(Id::RightsWrite, format!("cannot tell what you may write: {why}")),
        Ok(missing) if missing.is_empty() => Check::passed(
            Id::RightsWrite,
            format!("you may delete, patch, create and force slices and compositions{}", shown(namespace)),
        ),
        Ok(missing) => {
            Check::warning(Id::RightsWrite, format!("some commands that write will fail{}", shown(namespace)))
                .with(missing.iter().map(named))
        }
    }
}

fn named((verb, resource, needs): &Right) -> String {
    format!("you may not {verb} {resource}; needed for {needs}")
}

fn shown(namespace: Option<&str>) -> String {
    namespace.map_or_else(|| " in all namespaces".to_owned(), |namespace| format!(" in namespace {namespace}"))
}

async fn missing(cluster: &Cluster, namespace: Option<&str>, rights: &[Right]) -> Result<Vec<Right>, String> {
    let answers = rights.iter().map(|right| async move { (*right, may(cluster, namespace, right).await) });
    let answers: Vec<_> = iter(answers).buffered(cluster.concurrency).collect().await;
    let mut missing = vec![];
    for (right, may) in answers {
        if !may? {
            missing.push(right);
        }
    }
    Ok(missing)
}

async fn may(cluster: &Cluster, namespace: Option<&str>, (verb, resource, _): &Right) -> Result<bool, String> {
    let core = *resource == "namespaces";
    let attributes = json!({
        "verb": verb, "resource": resource, "group": if core { "" } else { ENO_GROUP },
        "namespace": namespace.unwrap_or_default(), "name": namespace.filter(|_| core).unwrap_or_default(),
    });
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    match post(cluster, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review).await {
        Answer::Found(answer) => Ok(answer["status"]["allowed"] == true),
        other => Err(other.reason()),
    }
}
