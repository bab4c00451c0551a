//! What a release would do: is the object still needed, and what would nobody delete?

use std::collections::BTreeMap;

use eno_shared::admission::Outcome;
use eno_shared::admission::composition::{Evidence, update, wanted};
use eno_shared::api::{Composition, Metadata, ResourceRef, ResourceSlice, Symphony};
use eno_shared::client::{self, ReadError};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_GROUP};
use eno_shared::{Lookup, Verdict};
use futures::stream::{StreamExt, iter};
use serde_json::Value;

use super::target::{Kind, Target};
use crate::cli::ReleaseFlags;
use crate::cluster::goes_into_url;
use crate::failure::Failure;
use crate::finding::Finding;
use crate::output::table::sanitized;
use crate::query::{Depth, Query};
use crate::resources::left;
use crate::snapshot::Seen;
use crate::whole::WholeSlice;
use crate::writer::Writer;

/// So many resources are listed.
const LISTED: usize = 10;

/// What is known of an object that is to be released.
pub(super) struct Assessment {
    pub kind: Kind,
    pub metadata: Metadata,
    /// The object as it is stored, for the backup.
    pub stored: Value,
    pub has_finalizer: bool,
    /// What the rules say of it.
    says: String,
    /// Why it is still needed, or that nobody can say.
    needed: Option<String>,
    /// Resources that nobody would delete.
    orphans: Vec<ResourceRef>,
}

/// Reads the object and what surrounds it.
///
/// # Errors
/// It does not exist, or cannot be read.
pub(super) async fn of(target: &Target, flags: &ReleaseFlags, writer: &Writer) -> Result<Assessment, Failure> {
    goes_into_url("resource name", &target.name)?;
    let stored = stored(target.kind, &target.name, writer).await?;
    let stored = stored.ok_or_else(|| target.kind.not_found(&target.name))?;
    let metadata = serde_json::from_value::<Metadata>(stored["metadata"].clone()).map_err(Failure::local)?;
    let (says, needed, orphans) = match target.kind {
        Kind::Slice => slice(&target.name, writer).await?,
        Kind::Composition => composition(&target.name, writer).await?,
    };
    // The rules are of Eno's finalizer. What others wait for, only they know.
    let (needed, orphans) = match flags.finalizer == CLEANUP_FINALIZER {
        true => (needed, orphans),
        false => (Some(format!("only who has set {} knows whether it is", flags.finalizer)), vec![]),
    };
    let has_finalizer = metadata.finalizers.contains(&flags.finalizer);
    Ok(Assessment { kind: target.kind, metadata, stored, has_finalizer, says, needed, orphans })
}

impl Assessment {
    /// `resourceslice.eno.azure.io/NAME`.
    pub fn shown(&self) -> String {
        format!("{}.{ENO_GROUP}/{}", self.kind.singular(), self.metadata.name)
    }

    /// What a person reads first.
    pub fn lines(&self, finalizer: &str) -> Vec<String> {
        let mut lines = vec![format!("{}   {}", self.shown(), self.says)];
        if !self.has_finalizer {
            lines.push(format!("finalizer {finalizer} is not on it: nothing to do"));
        } else {
            let others: Vec<&str> =
                self.metadata.finalizers.iter().map(String::as_str).filter(|other| *other != finalizer).collect();
            let others = if others.is_empty() { "<none>".to_owned() } else { others.join(", ") };
            lines.push(format!("This removes finalizer {finalizer} (others stay: {others})."));
            lines.extend(self.orphaned());
        }
        lines.iter().map(|line| sanitized(line)).collect()
    }

    fn orphaned(&self) -> Vec<String> {
        let count = self.orphans.len();
        if count == 0 {
            return vec![];
        }
        let resources = if count == 1 { "1 resource" } else { &format!("{count} resources") };
        let mut lines = vec![format!("{resources} will NOT be deleted by Eno then:")];
        lines.extend(self.orphans.iter().take(LISTED).map(|resource| format!("  {resource}")));
        if count > LISTED {
            let shown = format!("{}/{}", self.kind.singular(), self.metadata.name);
            let namespace = &self.metadata.namespace;
            let left = count - LISTED;
            lines.push(format!("  … {left} more (kubectl eno why {shown} -n {namespace} --show-all)"));
        }
        lines
    }

    /// Why it may not be released, if so.
    pub fn refusal(&self, flags: &ReleaseFlags) -> Option<String> {
        let (shown, namespace) = (self.shown(), &self.metadata.namespace);
        if !self.metadata.is_deleting() {
            return Some(format!(
                "error: refused: {shown} is not being deleted, and its finalizer will be needed when it is. To delete \
                 it: kubectl delete {shown} -n {namespace}"
            ));
        }
        match &self.needed {
            Some(why) if self.has_finalizer && !flags.force => Some(format!(
                "error: refused: {shown} is still needed: {why}. See: kubectl eno why {}/{} -n {namespace}; or pass \
                 --force to go on",
                self.kind.singular(),
                self.metadata.name
            )),
            Some(_) | None => None,
        }
    }
}

/// The object as it is stored.
pub(super) async fn stored(kind: Kind, name: &str, writer: &Writer) -> Result<Option<Value>, Failure> {
    let (client, host) = (&writer.cluster.client, &writer.cluster.host);
    let request = kube::core::Request::new(kind.path(&writer.namespace)).get(name, &Default::default());
    let request = request.map_err(Failure::local)?;
    let read = tokio::time::timeout(writer.timeout(), client.request::<Value>(request));
    match read.await.map_err(|_| ReadError::TimedOut(writer.timeout())).and_then(|read| Ok(read?)) {
        Ok(stored) => Ok(Some(stored)),
        Err(ReadError::Api(status)) if status.code == 404 && status.reason == "NotFound" => Ok(None),
        Err(error) => Err(Failure::read::<ResourceSlice>(&error, host)),
    }
}

type Judged = (String, Option<String>, Vec<ResourceRef>);

async fn slice(name: &str, writer: &Writer) -> Result<Judged, Failure> {
    let query = Query {
        namespace: Some(writer.namespace.clone()),
        names: vec![name.to_owned()],
        depth: Depth::Manifests,
        ..Query::default()
    };
    let snapshot = writer.cluster.snapshot(&query).await?;
    let seen = snapshot.slices.first().ok_or_else(|| Kind::Slice.not_found(name))?;
    let finding = Finding::of(seen, &snapshot.namespaces, snapshot.now);
    let verdict = finding.judgement.verdict;
    let says = format!("{verdict}: {}", finding.message());
    let needed = match verdict {
        Verdict::Release => None,
        Verdict::Hold | Verdict::Unknown | Verdict::Keep | Verdict::Collect | Verdict::Wait => Some(finding.message()),
    };
    let orphans = if needed.is_some() { left(seen) } else { vec![] };
    Ok((says, needed, orphans))
}

async fn composition(name: &str, writer: &Writer) -> Result<Judged, Failure> {
    let cluster = &writer.cluster;
    let (namespace, failed) =
        (writer.namespace.as_str(), |e: ReadError| Failure::read::<Composition>(&e, &cluster.host));
    let read = client::get::<Composition>(&cluster.client, Some(namespace), name, cluster.timeout).await;
    let composition = read.map_err(failed)?.ok_or_else(|| Kind::Composition.not_found(name))?;
    let wanted = wanted(&composition);
    let names = composition.status.current_synthesis.iter().flat_map(|synthesis| &synthesis.resource_slices);
    let reads = names.map(async |slice| {
        let read = client::lookup::<WholeSlice>(&cluster.client, Some(namespace), &slice.name, cluster.timeout).await;
        (slice.name.clone(), read)
    });
    let slices: BTreeMap<String, _> = iter(reads).buffered(cluster.concurrency).collect().await;
    let symphony = match &wanted.symphony {
        Some(symphony) => {
            Some(client::lookup::<Symphony>(&cluster.client, Some(namespace), symphony, cluster.timeout).await)
        }
        None => None,
    };
    let of_rules = wanted.slices.iter().filter_map(|name| {
        let read = slices.get(name)?.as_ref().map(|whole| whole.slice.clone());
        Some((name.clone(), read))
    });
    let answer = update(&composition, &Evidence { symphony, slices: of_rules.collect() });
    let says = format!("{}: {}", answer.ground, answer.message);
    let needed = (answer.outcome != Outcome::Allow).then(|| answer.message.clone());
    let seen = slices.into_values().filter_map(|slice| match slice {
        Lookup::Found(WholeSlice { slice, manifests }) => {
            Some(Seen { slice, manifests: Some(manifests), ..Seen::default() })
        }
        Lookup::Missing | Lookup::Unknown(_) => None,
    });
    let orphans = if needed.is_some() { seen.flat_map(|seen| left(&seen)).collect() } else { vec![] };
    Ok((says, needed, orphans))
}
