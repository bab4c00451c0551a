//! Live reads: metadata first, whole objects only where a rule needs them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use eno_shared::Lookup;
use eno_shared::api::{Composition, Kind, Metadata, ResourceSlice};
use eno_shared::client::{self, ReadError};
use eno_shared::names::ENO_GROUP;
use futures::stream::{StreamExt, iter};
use jiff::Timestamp;
use kube::Client;
use kube::core::Request;
use kube::core::params::{GetParams, ListParams};
use serde::Deserialize;

use crate::failure::Failure;
use crate::outbox::Outbox;
use crate::query::Query;
use crate::snapshot::{Namespaces, Read, Seen, Snapshot};
use crate::warnings::Warnings;
use crate::whole::WholeSlice;

/// A cluster to read from.
#[derive(Clone)]
pub struct Cluster {
    /// The client.
    pub client: Client,
    /// `HOST:PORT` of the API server.
    pub host: String,
    /// The time for one request.
    pub timeout: Duration,
    /// How many requests run at once.
    pub concurrency: usize,
    /// Where it says what could not be read.
    pub warnings: Warnings,
}

impl Cluster {
    /// Reads what is asked for.
    ///
    /// # Errors
    /// Where the slices cannot be read. What else cannot be read is a warning, and Unknown.
    pub async fn snapshot(&self, query: &Query) -> Result<Snapshot, Failure> {
        query.namespace.iter().try_for_each(|namespace| goes_into_url("namespace", namespace))?;
        query.names.iter().try_for_each(|name| goes_into_url("resource name", name))?;
        let (slices, compositions) = futures::join!(self.slices(query), self.compositions(query.namespace.as_deref()));
        let (mut slices, missing, slices_incomplete) = match slices {
            Ok((slices, missing)) => (slices, missing, None),
            // Where neither can be read, there is nothing to tell.
            Err(error) if query.slices_may_fail && compositions.is_ok() => {
                let why = self.cannot_list::<ResourceSlice>(query.namespace.as_deref(), &error);
                (vec![], vec![], Some(why))
            }
            Err(error) => return Err(Failure::read::<ResourceSlice>(&error, &self.host)),
        };
        let read = match compositions {
            Ok(read) => read,
            Err(error) => self.compositions_apart(query.namespace.as_deref(), &slices, &error).await,
        };
        let mut namespaces = Namespaces::new(read, BTreeMap::new());
        slices.retain(|seen| query.wants(seen.metadata(), namespaces.compositions(&seen.metadata().namespace)));
        let now = Timestamp::now();
        slices = self.filled(slices, &namespaces, query, now).await;
        slices.sort_by(|a, b| a.place().cmp(&b.place()));
        for (namespace, terminating) in self.terminating(&slices, &namespaces).await {
            namespaces.set_terminating(namespace, terminating);
        }
        Ok(Snapshot {
            now,
            slices,
            slices_incomplete,
            missing,
            namespaces,
            pods: BTreeMap::new(),
            outbox: Outbox::default(),
        })
    }

    /// The slices that are named, whole; or all, as metadata.
    async fn slices(&self, query: &Query) -> Result<(Vec<Seen>, Vec<String>), ReadError> {
        let namespace = query.namespace.as_deref();
        if query.names.is_empty() {
            let selection = ListParams {
                label_selector: query.labels.clone(),
                field_selector: query.fields.clone(),
                ..ListParams::default()
            };
            let listed = client::list_metadata::<ResourceSlice>(&self.client, namespace, &selection, self.timeout);
            return Ok((listed.await?.into_iter().map(Seen::of_metadata).collect(), vec![]));
        }
        let (mut slices, mut missing) = (vec![], vec![]);
        let reads = query.names.iter().map(|name| async move { (name, self.whole(namespace, name).await) });
        let reads: Vec<_> = iter(reads).buffered(self.concurrency).collect().await;
        for (name, read) in reads {
            match read {
                Ok(Some(seen)) => slices.push(seen),
                Ok(None) => missing.push(name.clone()),
                Err(ReadError::Decode(error)) => slices.push(self.unreadable(namespace, name, &error)),
                Err(error) => return Err(error),
            }
        }
        Ok((slices, missing))
    }

    fn unreadable(&self, namespace: Option<&str>, name: &str, error: &dyn std::fmt::Display) -> Seen {
        let why = format!("resourceslice {name}: {error}");
        self.warnings.warn(&why);
        let namespace = namespace.unwrap_or_default().to_owned();
        let metadata = Metadata { namespace, name: name.to_owned(), ..Metadata::default() };
        Seen { unreadable: Some(why), ..Seen::of_metadata(metadata) }
    }

    /// Reads a slice whole; `None` where it does not exist.
    pub async fn whole(&self, namespace: Option<&str>, name: &str) -> Result<Option<Seen>, ReadError> {
        let read = client::get::<WholeSlice>(&self.client, namespace, name, self.timeout).await?;
        Ok(read.map(|WholeSlice { slice, manifests }| Seen { slice, manifests: Some(manifests), unreadable: None }))
    }

    /// Reads whole what the rules, the blockers or the query need whole. What is gone by now is left out.
    async fn filled(&self, slices: Vec<Seen>, namespaces: &Namespaces, query: &Query, now: Timestamp) -> Vec<Seen> {
        let fill = |seen: Seen| async move {
            let compositions = namespaces.compositions(&seen.metadata().namespace);
            let known = seen.unreadable.is_some() || seen.manifests.is_some();
            if known || !query.needs_whole(&seen.slice, compositions, now) {
                return Some(seen);
            }
            let metadata = seen.metadata();
            match self.whole(Some(&metadata.namespace), &metadata.name).await {
                Ok(Some(whole)) => Some(whole.kept(query.depth)),
                Ok(None) => None,
                Err(ReadError::Decode(error)) => {
                    let unreadable = self.unreadable(Some(&metadata.namespace), &metadata.name, &error);
                    Some(Seen { unreadable: unreadable.unreadable, ..seen })
                }
                Err(error) => {
                    self.warnings.warn(format!(
                        "cannot get resourceslice {} in namespace \"{}\": {error}",
                        metadata.name, metadata.namespace
                    ));
                    Some(seen)
                }
            }
        };
        iter(slices.into_iter().map(fill))
            .buffer_unordered(self.concurrency)
            .filter_map(std::future::ready)
            .collect()
            .await
    }

    /// Compositions whole, in one list.
    async fn compositions(&self, namespace: Option<&str>) -> Result<Read, ReadError> {
        let listed = client::list::<Composition>(&self.client, namespace, &ListParams::default(), self.timeout).await?;
        let compositions = listed.into_iter().map(|listed| {
            if let Lookup::Unknown(why) = &listed.object {
                self.warnings.warn(why);
            }
            (listed.namespace, listed.name, listed.object.map(Arc::new))
        });
        Ok(Read { compositions: compositions.collect(), ..Read::default() })
    }

    /// Where a list of all is refused, one for each namespace that has slices: rights are often given so.
    async fn compositions_apart(&self, namespace: Option<&str>, slices: &[Seen], error: &ReadError) -> Read {
        let forbidden = matches!(error, ReadError::Api(status) if status.code == 403);
        if namespace.is_some() || !forbidden {
            return Read { otherwise: Some(self.cannot_list::<Composition>(namespace, error)), ..Read::default() };
        }
        let names: BTreeSet<&str> = slices.iter().map(|seen| seen.metadata().namespace.as_str()).collect();
        let reads = names.into_iter().map(|name| async move { (name, self.compositions(Some(name)).await) });
        let reads: Vec<_> = iter(reads).buffered(self.concurrency).collect().await;
        let mut all = Read { otherwise: Some(place::<Composition>(namespace)), ..Read::default() };
        for (name, read) in reads {
            let incomplete = match read {
                Ok(read) => {
                    all.compositions.extend(read.compositions);
                    None
                }
                Err(error) => Some(self.cannot_list::<Composition>(Some(name), &error)),
            };
            all.incomplete.insert(name.to_owned(), incomplete);
        }
        all
    }

    /// Warns, and says why what would have been listed is unknown.
    pub fn cannot_list<K: Kind>(&self, namespace: Option<&str>, error: &ReadError) -> String {
        let place = place::<K>(namespace);
        self.warnings.warn(format!("cannot list {place}: {error}"));
        match error {
            ReadError::Api(status) if !status.reason.is_empty() => format!("cannot list {place} ({})", status.reason),
            error => format!("cannot list {place}: {error}"),
        }
    }

    /// Which of the namespaces are being deleted, asked only where a blocker may rest on it: a slice or a composition is
    /// terminating there.
    async fn terminating(&self, slices: &[Seen], namespaces: &Namespaces) -> Vec<(String, bool)> {
        let terminating = slices.iter().map(Seen::metadata).filter(|metadata| metadata.is_deleting());
        let mut names: BTreeSet<&str> = terminating.map(|metadata| metadata.namespace.as_str()).collect();
        names.extend(namespaces.names().filter(|name| {
            namespaces.compositions(name).found().any(|composition| composition.metadata.is_deleting())
        }));
        let read = |name: &str| {
            let (name, request) =
                (name.to_owned(), Request::new("/api/v1/namespaces").get(name, &GetParams::default()));
            async move {
                let answer = tokio::time::timeout(self.timeout, self.client.request_text(request.ok()?)).await.ok()?;
                let Partial { metadata } = serde_json::from_str(&answer.ok()?).ok()?;
                Some((name, metadata.is_deleting()))
            }
        };
        // Not every user may read namespaces. What is not known is not shown.
        iter(names.into_iter().map(read)).buffered(self.concurrency).filter_map(std::future::ready).collect().await
    }
}

#[derive(Deserialize)]
struct Partial {
    metadata: Metadata,
}

/// Names go into the path of a URL as they are: `a?b` would ask for `a`.
pub fn goes_into_url(what: &str, name: &str) -> Result<(), Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if name.is_empty() || name == "." || name == ".." || !name.chars().all(plain) {
        return Err(Failure::local(format_args!("invalid {what} {name:?}")));
    }
    Ok(())
}

fn place<K: Kind>(namespace: Option<&str>) -> String {
    match namespace {
        Some(namespace) => format!("{}.{ENO_GROUP} in namespace \"{namespace}\"", K::PLURAL),
        None => format!("{}.{ENO_GROUP} in all namespaces", K::PLURAL),
    }
}
