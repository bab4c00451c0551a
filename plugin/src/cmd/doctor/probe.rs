//! Dry runs that show whether the webhook is asked: one that must be denied, one that must pass.

use std::collections::BTreeMap;
use std::time::Instant;

use eno_shared::admission::{self, Outcome as Admitted};
use eno_shared::api::{Kind, Metadata, ResourceSlice};
use eno_shared::client::{self, Effect, ReadError, Written};
use eno_shared::names::{ENO_API_VERSION, HOOK_DOMAIN};
use serde_json::json;

use super::ask::{Answer, post};
use super::audited;
use super::check::Check;
use super::id::Id;
use super::webhook::Hook;
use crate::cluster::Cluster;
use crate::snapshot::{Seen, Snapshot};

/// What `--mode=warn` puts before a denial.
const WOULD_BE_DENIED: &str = "would be denied";
/// The hook that is asked about the deletion of a slice.
const DELETE_HOOK: &str = "slices-delete";
/// Name of the slice that is created by nobody.
const PROBE: &str = "kubectl-eno-doctor";

/// What to try, and on what.
pub(super) struct Probes<'a> {
    pub cluster: &'a Cluster,
    pub snapshot: &'a Snapshot,
    pub hooks: &'a [Hook],
    /// Labels of the namespaces, as far as they are known.
    pub labels: &'a BTreeMap<String, BTreeMap<String, String>>,
}

/// How a dry run ended.
enum Tried {
    Passed { warnings: Vec<String> },
    Denied(String),
    Gone,
    NotAllowed(String),
    Broken(String),
}

impl Probes<'_> {
    /// A slice that is needed must not be deleted.
    pub(super) async fn deny(&self) -> Check {
        let Some(slice) = self.candidate(Admitted::Deny) else {
            return Check::skipped(Id::ProbeDeny, "no probe: there is no slice in a guarded namespace that is needed");
        };
        let (tried, took) = self.delete(slice).await;
        let what = format!("dry-run delete of needed slice {}", shown(slice));
        match tried {
            Tried::Denied(_) => Check::passed(Id::ProbeDeny, format!("{what} was denied by the webhook ({took} ms)")),
            Tried::Passed { warnings } if warnings.iter().any(|warning| warning.contains(WOULD_BE_DENIED)) => {
                Check::passed(
                    Id::ProbeDeny,
                    format!(
                        "{what} passed with the webhook's warning ({took} ms): it runs with --mode=warn, and denies nothing"
                    ),
                )
            }
            Tried::Passed { .. } if self.is_called(slice).await => Check::passed(
                Id::ProbeDeny,
                format!("{what} passed, and the webhook was asked: it runs with --mode=audit, and denies nothing"),
            ),
            Tried::Passed { .. } => Check::failed(Id::ProbeDeny, format!("{what} passed without a word")).with([
                "the API server does not ask the webhook, or it runs with --mode=audit, and you may not see its metrics"
                    .to_owned(),
            ]),
            Tried::Gone => {
                Check::skipped(Id::ProbeDeny, format!("no probe: slice {} was changed meanwhile", shown(slice)))
            }
            Tried::NotAllowed(why) => Check::skipped(Id::ProbeDeny, format!("no probe: {why}")),
            Tried::Broken(why) => {
                Check::failed(Id::ProbeDeny, format!("{what} was refused, but not by the rules")).with([why])
            }
        }
    }

    /// Does the API server ask the webhook about this deletion? With `--mode=audit` nothing else shows it here.
    async fn is_called(&self, slice: &Metadata) -> bool {
        let before = audited::calls(self.cluster, DELETE_HOOK).await;
        self.delete(slice).await;
        let after = audited::calls(self.cluster, DELETE_HOOK).await;
        before.zip(after).is_some_and(|(before, after)| after > before)
    }

    /// What nothing needs must pass.
    pub(super) async fn allow(&self) -> Check {
        let (what, (tried, took)) = match self.candidate(Admitted::Allow) {
            Some(slice) => (format!("dry-run delete of unneeded slice {}", shown(slice)), self.delete(slice).await),
            None => match self.guarded_namespace() {
                Some(namespace) => (format!("dry-run create of a slice in {namespace}"), self.create(&namespace).await),
                None => return Check::skipped(Id::ProbeAllow, "no probe: no guarded namespace is known"),
            },
        };
        match tried {
            Tried::Passed { .. } => Check::passed(Id::ProbeAllow, format!("{what} was allowed ({took} ms)")),
            Tried::Denied(why) => Check::failed(Id::ProbeAllow, format!("{what} was denied")).with([why]),
            Tried::Gone => Check::skipped(Id::ProbeAllow, "no probe: the slice was changed meanwhile"),
            Tried::NotAllowed(why) => Check::skipped(Id::ProbeAllow, format!("no probe: {why}")),
            Tried::Broken(why) => Check::failed(Id::ProbeAllow, format!("{what} failed")).with([why]),
        }
    }

    /// A slice of a guarded namespace on whose deletion the rules say this.
    fn candidate(&self, wanted: Admitted) -> Option<&Metadata> {
        let fits = |seen: &&Seen| {
            let metadata = seen.metadata();
            let compositions = self.snapshot.namespaces.compositions(&metadata.namespace);
            seen.unreadable.is_none()
                && !metadata.is_deleting()
                && self.is_guarded(&metadata.namespace)
                && admission::slice::delete(&seen.slice, compositions, self.snapshot.now).outcome == wanted
        };
        self.snapshot.slices.iter().find(fits).map(Seen::metadata)
    }

    fn guarded_namespace(&self) -> Option<String> {
        let with_slices = self.snapshot.slices.iter().map(|seen| seen.place().0);
        with_slices.chain(self.labels.keys().map(String::as_str)).find(|name| self.is_guarded(name)).map(str::to_owned)
    }

    fn is_guarded(&self, namespace: &str) -> bool {
        let name = || BTreeMap::from([("kubernetes.io/metadata.name".to_owned(), namespace.to_owned())]);
        let labels = self.labels.get(namespace).cloned().unwrap_or_else(name);
        self.hooks.iter().any(|hook| hook.name() == DELETE_HOOK && hook.guards(&labels) == Some(true))
    }

    async fn delete(&self, slice: &Metadata) -> (Tried, u128) {
        self.cluster.warnings.take();
        let begun = Instant::now();
        let deleted =
            client::delete::<ResourceSlice>(&self.cluster.client, slice, Effect::DryRun, self.cluster.timeout);
        let tried = match deleted.await {
            Ok(Written::Done(_)) => Tried::Passed { warnings: self.cluster.warnings.take() },
            Ok(Written::Gone | Written::Changed) => Tried::Gone,
            Err(ReadError::Api(status)) => refused(status.code, &status.message),
            Err(error) => Tried::Broken(error.to_string()),
        };
        (tried, begun.elapsed().as_millis())
    }

    async fn create(&self, namespace: &str) -> (Tried, u128) {
        self.cluster.warnings.take();
        let begun = Instant::now();
        let slice = json!({
            "apiVersion": ENO_API_VERSION, "kind": ResourceSlice::KIND,
            "metadata": {"name": PROBE, "namespace": namespace}, "spec": {"synthesisUUID": "", "resources": []},
        });
        let path = format!("{}?dryRun=All", ResourceSlice::path(Some(namespace)));
        let tried = match post(self.cluster, &path, &slice).await {
            Answer::Found(_) => Tried::Passed { warnings: self.cluster.warnings.take() },
            Answer::Missing => Tried::Gone,
            Answer::Failed { code, why } => refused(code, &why),
        };
        (tried, begun.elapsed().as_millis())
    }
}

/// Who refused, by what the API server says.
fn refused(code: u16, message: &str) -> Tried {
    match (message.contains(HOOK_DOMAIN), code) {
        (true, _) if message.contains("failed calling webhook") => Tried::Broken(message.to_owned()),
        (true, _) => Tried::Denied(message.to_owned()),
        (false, 403) => Tried::NotAllowed(message.to_owned()),
        (false, _) => Tried::Broken(message.to_owned()),
    }
}

fn shown(slice: &Metadata) -> String {
    format!("{}/{}", slice.namespace, slice.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_who_refused() {
        let hook = format!("admission webhook \"slices-delete.{HOOK_DOMAIN}\" denied the request: resourceslice a/b");
        assert!(matches!(refused(403, &hook), Tried::Denied(_)));
        let down =
            format!("Internal error: failed calling webhook \"slices-delete.{HOOK_DOMAIN}\": connection refused");
        assert!(matches!(refused(500, &down), Tried::Broken(_)));
        assert!(matches!(refused(403, "User \"eve\" cannot delete resource"), Tried::NotAllowed(_)));
    }
}
