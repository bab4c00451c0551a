//! What the rules say of an object that is to be released, and what it holds.

use std::collections::BTreeMap;

use eno_shared::admission::Outcome;
use eno_shared::admission::composition::{Evidence, update, wanted};
use eno_shared::api::{Composition, ResourceRef, Symphony};
use eno_shared::client::{self, ReadError};
use eno_shared::usage::{done_with, reconciled_deletion};
use eno_shared::{Lookup, Verdict};
use futures::stream::{StreamExt, iter};

use super::super::target::Kind;
use crate::failure::Failure;
use crate::finding::Finding;
use crate::query::{Depth, Query};
use crate::resources::left;
use crate::snapshot::Seen;
use crate::whole::WholeSlice;
use crate::writer::Writer;

/// What the rules say, of Eno's own finalizer.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// The verdict, or what an answer would rest on, with the reason.
    pub says: String,
    /// Why it is still needed, or that nobody can say.
    pub needed: Option<String>,
    /// Resources that nobody would delete.
    pub orphans: Vec<ResourceRef>,
    /// Slices whose resources are not among them, and why.
    pub unread: Vec<String>,
}

pub(super) async fn slice(name: &str, writer: &Writer) -> Result<Judged, Failure> {
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
    let needed = match verdict {
        Verdict::Release => None,
        Verdict::Hold | Verdict::Unknown | Verdict::Keep | Verdict::Collect | Verdict::Wait => Some(finding.message()),
    };
    let orphans = if needed.is_some() { left(seen) } else { vec![] };
    let unread = match (&needed, &seen.manifests) {
        (Some(_), None) => vec![format!("{name} could not be read")],
        (Some(_), Some(_)) | (None, _) => vec![],
    };
    Ok(Judged { says: format!("{verdict}: {}", finding.message()), needed, orphans, unread })
}

pub(super) async fn composition(name: &str, writer: &Writer) -> Result<Judged, Failure> {
    let cluster = &writer.cluster;
    let (client, namespace, limit) = (&cluster.client, Some(writer.namespace.as_str()), cluster.timeout);
    let failed = |error: ReadError| Failure::read::<Composition>(&error, &cluster.host);
    let read = client::get::<Composition>(client, namespace, name, limit).await;
    let composition = read.map_err(failed)?.ok_or_else(|| Kind::Composition.not_found(name))?;
    let names = composition.status.current_synthesis.iter().flat_map(|synthesis| &synthesis.resource_slices);
    let reads =
        names.map(async |slice| (slice.name.to_string(), client::lookup(client, namespace, &slice.name, limit).await));
    let slices: BTreeMap<String, Lookup<WholeSlice>> = iter(reads).buffered(cluster.concurrency).collect().await;
    let wanted = wanted(&composition);
    let symphony = match &wanted.symphony {
        Some(symphony) => Some(client::lookup::<Symphony>(client, namespace, symphony, limit).await),
        None => None,
    };
    let of_rules = wanted.slices.iter().filter_map(|name| {
        let read = slices.get(name)?.as_ref().map(|whole| whole.slice.clone());
        Some((name.clone(), read))
    });
    let answer = update(&composition, &Evidence { symphony, slices: of_rules.collect() });
    // The answer is one to a request, with the object and the next command; here the reason is enough.
    let (says, needed) = match answer.outcome {
        Outcome::Allow => (answer.message, None),
        Outcome::Deny => (answer.ground.to_string(), Some(undone(&composition, &slices))),
        Outcome::Retry => (answer.ground.to_string(), Some("what decides could not be read".to_owned())),
    };
    if needed.is_none() {
        return Ok(Judged { says, ..Judged::default() });
    }
    let (mut orphans, mut unread) = (vec![], vec![]);
    for (name, slice) in slices {
        match slice {
            Lookup::Found(WholeSlice { slice, manifests }) => {
                orphans.extend(left(&Seen { slice, manifests: Some(manifests), ..Seen::default() }));
            }
            Lookup::Missing => unread.push(format!("{name} does not exist")),
            Lookup::Unknown(why) => unread.push(format!("{name} could not be read ({why})")),
        }
    }
    Ok(Judged { says, needed, orphans, unread })
}

/// What a composition has yet to do.
fn undone(composition: &Composition, slices: &BTreeMap<String, Lookup<WholeSlice>>) -> String {
    if !composition.metadata.is_deleting() {
        return "it is not being deleted".to_owned();
    }
    if let Err(undone) = reconciled_deletion(composition) {
        return undone.to_string();
    }
    let of_slice = |(name, slice): (&String, &Lookup<WholeSlice>)| {
        let undone = done_with(composition, &slice.found()?.slice).err()?;
        Some(format!("{undone} (slice {name})"))
    };
    slices.iter().find_map(of_slice).unwrap_or_else(|| "its resources are not all deleted".to_owned())
}
