//! What a rule wants to know, read live within the time that the call has.

mod flights;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::admission::composition::{Evidence, Wanted, wanted};
use eno_shared::api::{Composition, Kind, ResourceSlice, Symphony};
use eno_shared::client::{Listed, ReadError, list, lookup};
use eno_shared::owner::composition_owner;
use eno_shared::{Compositions, Lookup};
use futures::{StreamExt, stream};
use kube::Client;
use kube::core::Request;
use kube::core::params::ListParams;
use serde::Deserialize;

use crate::admission::definitions::Definition;
use crate::candidates::Candidates;
use crate::deadline::Deadline;
use crate::metrics::Metrics;
use flights::Flights;

/// How many objects are read at once for one answer.
const PARALLEL: usize = 16;
/// How long a read may take that calls share. They wait for it as long as they have time.
const LONGEST: Duration = Duration::from_secs(10);

/// Reads facts.
#[derive(Clone)]
pub struct Facts {
    client: Client,
    candidates: Candidates,
    metrics: Metrics,
    /// By namespace and name. When a composition is deleted, all its slices are asked about at once.
    compositions: Flights<(String, String), Lookup<Arc<Composition>>>,
}

impl Facts {
    /// Reads by this client, finding whom to read by these candidates.
    #[must_use]
    pub fn new(client: Client, candidates: Candidates, metrics: Metrics) -> Self {
        Facts { client, candidates, metrics, compositions: Flights::default() }
    }

    /// The compositions that decide about a slice: its owner and those that may refer to it.
    pub async fn compositions_of(&self, slice: &ResourceSlice, deadline: Deadline) -> Compositions {
        let (namespace, owner) = (&slice.metadata.namespace, composition_owner(&slice.metadata));
        let Some(mut names) = self.candidates.referrers(namespace, &slice.metadata.name) else {
            return self.all_compositions(namespace, owner.map(|owner| owner.name.as_str()), deadline).await;
        };
        names.extend(owner.map(|owner| owner.name.clone()));
        names.sort();
        names.dedup();
        Compositions::whole(self.compositions(namespace, names, deadline).await)
    }

    /// All compositions of a namespace; the owner alone where they cannot be listed.
    async fn all_compositions(&self, namespace: &str, owner: Option<&str>, deadline: Deadline) -> Compositions {
        let everything = ListParams::default();
        let all = list::<Composition>(&self.client, Some(namespace), &everything, deadline.remaining());
        // At once: a list that hangs must not use up the owner's time.
        let owner = self.compositions(namespace, owner.map(str::to_owned), deadline);
        let (all, owner) = tokio::join!(in_time(deadline, all), owner);
        self.metrics.read(Composition::PLURAL, if all.is_ok() { "found" } else { "unknown" });
        match all {
            Ok(all) => {
                Compositions::whole(all.into_iter().map(|Listed { name, object, .. }| (name, object.map(Arc::new))))
            }
            Err(error) => Compositions::partial(owner, format!("the compositions of namespace {namespace}: {error}")),
        }
    }

    async fn compositions(
        &self,
        namespace: &str,
        names: impl IntoIterator<Item = String>,
        deadline: Deadline,
    ) -> Vec<(String, Lookup<Arc<Composition>>)> {
        let reads = names.into_iter().map(|name| async move {
            let lookup = self.composition(namespace, &name, deadline).await;
            (name, lookup)
        });
        at_once(reads).await
    }

    /// A read that calls share. It has a time of its own: none of them may cut it short for the others.
    async fn composition(&self, namespace: &str, name: &str, deadline: Deadline) -> Lookup<Arc<Composition>> {
        let key = (namespace.to_owned(), name.to_owned());
        let (facts, (namespace, of)) = (self.clone(), key.clone());
        let read = self.compositions.read(key, move || async move {
            facts.one(&namespace, &of, Deadline::within(LONGEST)).await.map(Arc::new)
        });
        let left = deadline.remaining();
        let late = |_| Lookup::Unknown(format!("{} {name}: {}", Composition::SINGULAR, ReadError::TimedOut(left)));
        tokio::time::timeout(left, read).await.unwrap_or_else(late)
    }

    /// What decides whether a composition may lose its finalizer.
    pub async fn evidence_of(&self, composition: &Composition, deadline: Deadline) -> Evidence {
        let namespace = &composition.metadata.namespace;
        let Wanted { symphony, slices } = wanted(composition);
        let symphony = async {
            match symphony {
                Some(name) => Some(self.one::<Symphony>(namespace, &name, deadline).await),
                None => None,
            }
        };
        let slices = at_once(slices.into_iter().map(|name| async move {
            let lookup = self.one::<ResourceSlice>(namespace, &name, deadline).await;
            (name, lookup)
        }));
        let (symphony, slices) = tokio::join!(symphony, slices);
        Evidence { symphony, slices }
    }

    /// Compositions that depend on this one, as far as is known.
    #[must_use]
    pub fn dependents_of(&self, composition: &Composition) -> Vec<String> {
        self.candidates.dependents(&composition.metadata.namespace, &composition.metadata.name)
    }

    /// One object of a definition's kind, as `NAMESPACE/NAME`.
    pub(crate) async fn instance_of(&self, definition: &Definition, deadline: Deadline) -> Lookup<String> {
        let Some(path) = definition.path() else {
            return Lookup::Unknown(format!(
                "{} serves no version, so its objects cannot be listed",
                definition.metadata.name
            ));
        };
        let found = match Request::new(path).list(&ListParams::default().limit(1)) {
            Ok(request) => in_time(deadline, self.client.request::<Instances>(request)).await,
            Err(error) => Err(kube::Error::BuildRequest(error).into()),
        };
        let lookup = match found {
            Ok(Instances { items }) => items.into_iter().next().map_or(Lookup::Missing, |Instance { metadata }| {
                let at = if metadata.namespace.is_empty() { String::new() } else { format!("{}/", metadata.namespace) };
                Lookup::Found(format!("{at}{}", metadata.name))
            }),
            Err(error) => Lookup::Unknown(format!("the objects of {}: {error}", definition.metadata.name)),
        };
        self.metrics.read("instances", result(&lookup));
        lookup
    }

    async fn one<K: Kind>(&self, namespace: &str, name: &str, deadline: Deadline) -> Lookup<K> {
        let lookup = lookup::<K>(&self.client, Some(namespace), name, deadline.remaining()).await;
        self.metrics.read(K::PLURAL, result(&lookup));
        lookup
    }
}

/// What the reads say, a few at once.
async fn at_once<T>(reads: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    stream::iter(reads.collect::<Vec<_>>()).buffered(PARALLEL).collect().await
}

#[derive(Clone, Deserialize)]
struct Instances {
    items: Vec<Instance>,
}

#[derive(Clone, Deserialize)]
struct Instance {
    metadata: Identity,
}

#[derive(Clone, Deserialize)]
struct Identity {
    name: String,
    #[serde(default)]
    namespace: String,
}

/// The answer, or why there is none in time.
pub(crate) async fn in_time<T, E: Into<ReadError>>(
    deadline: Deadline,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, ReadError> {
    let left = deadline.remaining();
    match tokio::time::timeout(left, answer).await {
        Ok(answer) => answer.map_err(Into::into),
        Err(_) => Err(ReadError::TimedOut(left)),
    }
}

fn result<T>(lookup: &Lookup<T>) -> &'static str {
    match lookup {
        Lookup::Found(_) => "found",
        Lookup::Missing => "missing",
        Lookup::Unknown(_) => "unknown",
    }
}
