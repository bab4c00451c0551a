//! What surrounds slices and compositions: symphonies, namespaces, and the pods of synthesizers.

mod kubernetes;

use std::collections::BTreeMap;

use eno_shared::api::{Composition, Kind, Metadata, Symphony};
use eno_shared::client;
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL, POD_COMPOSITION_NAMESPACE};
use eno_shared::owner::symphony_owner;
use eno_shared::{Compositions, Lookup};
use kube::core::params::ListParams;
use serde::de::DeserializeOwned;

use crate::cluster::Cluster;
use crate::dump::Dump;
use crate::failure::Failure;
use crate::query::{Depth, Query};
use crate::snapshot::Snapshot;
use crate::source::Source;
pub use kubernetes::{Namespace, Pod};

/// What a list brought.
#[derive(Debug)]
pub struct Listing<T> {
    /// The objects.
    pub items: Vec<T>,
    /// Why there may be others.
    pub incomplete: Option<String>,
}

/// Annotation that makes eno-reconciler delete the namespace, and all of Eno's objects in it (L16).
pub const RECREATION_REASON: &str = "eno.azure.io/recreation-reason";

/// The compositions that a symphony owns. Eno goes by its name.
pub fn owned_by<'c>(symphony: &str, compositions: &'c Compositions) -> impl Iterator<Item = &'c Composition> {
    compositions
        .found()
        .filter(move |composition| symphony_owner(&composition.metadata).is_some_and(|owner| owner.name == symphony))
}

/// The state of a symphony, in a word and in a sentence.
pub fn symphony_state(symphony: &Symphony) -> (&'static str, &'static str) {
    let (metadata, status) = (&symphony.metadata, &symphony.status);
    if metadata.is_deleting() {
        return match metadata.has_cleanup_finalizer() {
            false => ("Finished", "Eno has finished deleting it"),
            true => ("Deleting", "Eno deletes its compositions, and leaves their resources behind, by design"),
        };
    }
    match (status.observed_generation < metadata.generation, status.reconciled, status.ready) {
        (true, _, _) => ("Pending", "Eno has not seen its latest change"),
        (false, None, _) => ("Reconciling", "its compositions are being made"),
        (false, Some(_), None) => ("NotReady", "its compositions are made, and not all ready"),
        (false, Some(_), Some(_)) => ("Ready", "its compositions are made and ready"),
    }
}

impl Source {
    /// Slices and compositions of a namespace, as far as they can be read.
    ///
    /// # Errors
    /// Where neither can be read.
    pub async fn all_of(&self, namespace: &str, depth: Depth) -> Result<Snapshot, Failure> {
        let query = Query { namespace: Some(namespace.to_owned()), depth, slices_may_fail: true, ..Query::default() };
        self.snapshot(&query).await
    }

    /// The symphony of a name; offline, where no namespace is named, of any.
    ///
    /// # Errors
    /// Where there is none, where there are several, or where they cannot be read.
    pub async fn symphony(&self, namespace: Option<&str>, name: &str) -> Result<Symphony, Failure> {
        let Listing { items, incomplete } = self.symphonies(namespace).await;
        let mut found: Vec<Symphony> = items.into_iter().filter(|symphony| symphony.metadata.name == name).collect();
        let offline = matches!(self, Source::Dump(_));
        match (found.pop(), incomplete) {
            (Some(symphony), _) if found.is_empty() => Ok(symphony),
            (Some(last), _) => {
                found.push(last);
                let homes: Vec<&str> = found.iter().map(|symphony| symphony.metadata.namespace.as_str()).collect();
                Err(Failure::local(format_args!(
                    "symphony/{name} is in several namespaces: {}; choose one with -n",
                    homes.join(", ")
                )))
            }
            (None, Some(why)) if !offline => Err(Failure::local(why)),
            (None, _) => Err(Failure::not_found::<Symphony>(name, offline)),
        }
    }

    /// The symphonies of a namespace, or of all.
    pub async fn symphonies(&self, namespace: Option<&str>) -> Listing<Symphony> {
        match self {
            Source::Dump(dump) => dump.symphonies(namespace),
            Source::Cluster(cluster) => cluster.symphonies(namespace).await,
        }
    }

    /// A namespace.
    pub async fn namespace(&self, name: &str) -> Lookup<Namespace> {
        match self {
            Source::Dump(dump) => {
                let found = dump.objects("", "Namespace").find(|(_, found, _)| found == name);
                found.map_or_else(|| dump.absent(), |(_, _, json)| decoded(json))
            }
            Source::Cluster(cluster) => cluster.core("/api/v1/namespaces", name).await,
        }
    }

    /// A pod of a namespace; offline, where none is named, of any.
    pub async fn pod(&self, namespace: Option<&str>, name: &str) -> Lookup<Pod> {
        match self {
            Source::Dump(dump) => {
                let mut pods = dump.objects("", "Pod");
                let is_asked = |home: &str| namespace.is_none_or(|asked| asked == home);
                let found = pods.find(|(home, found, _)| found == name && is_asked(home));
                found.map_or_else(
                    || dump.absent(),
                    |(home, _, json)| {
                        decoded(json)
                            .map(|pod: Pod| Pod { metadata: Metadata { namespace: home, ..pod.metadata }, ..pod })
                    },
                )
            }
            Source::Cluster(cluster) => {
                cluster.core(&format!("/api/v1/namespaces/{}/pods", namespace.unwrap_or("default")), name).await
            }
        }
    }
}

impl Dump {
    /// The pods of synthesizers that work for compositions of a namespace, by namespace and name.
    pub fn pods(&self, namespace: Option<&str>) -> BTreeMap<(String, String), Pod> {
        let decoded = self.objects("", "Pod").filter_map(|(home, name, json)| {
            let pod: Pod = serde_json::from_str(json).ok()?;
            let metadata = Metadata { namespace: home.clone(), ..pod.metadata };
            let managed = metadata.label(MANAGED_BY_LABEL) == Some(MANAGED_BY_ENO);
            let wanted = namespace.is_none_or(|asked| metadata.label(POD_COMPOSITION_NAMESPACE) == Some(asked));
            (managed && wanted).then_some(((home, name.to_owned()), Pod { metadata, ..pod }))
        });
        decoded.collect()
    }

    fn symphonies(&self, namespace: Option<&str>) -> Listing<Symphony> {
        let mut incomplete = self.incomplete();
        let mut items = vec![];
        for (home, name, json) in self.objects(eno_shared::names::ENO_GROUP, Symphony::KIND) {
            if namespace.is_some_and(|namespace| namespace != home) {
                continue;
            }
            match eno_shared::api::decode::<Symphony>(json.as_bytes()) {
                Ok(mut symphony) => {
                    symphony.metadata.namespace = home;
                    items.push(symphony);
                }
                Err(error) => incomplete = Some(format!("symphony {name}: {error}")),
            }
        }
        Listing { items, incomplete }
    }
}

impl Cluster {
    async fn symphonies(&self, namespace: Option<&str>) -> Listing<Symphony> {
        let listed = client::list::<Symphony>(&self.client, namespace, &ListParams::default(), self.timeout).await;
        let mut listing = Listing { items: vec![], incomplete: None };
        match listed {
            Err(error) => listing.incomplete = Some(self.cannot_list::<Symphony>(namespace, &error)),
            Ok(listed) => {
                for client::Listed { object, .. } in listed {
                    match object {
                        Lookup::Found(symphony) => listing.items.push(symphony),
                        Lookup::Missing => {}
                        Lookup::Unknown(why) => {
                            self.warnings.warn(&why);
                            listing.incomplete = Some(why);
                        }
                    }
                }
            }
        }
        listing
    }

    /// Objects of the core group.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn core_list<T: DeserializeOwned>(
        &self,
        path: &str,
        selection: &ListParams,
    ) -> Result<Vec<T>, client::ReadError> {
        let (objects, _) = client::list_json(&self.client, path, false, selection, self.timeout).await?;
        let decoded = objects.into_iter().map(serde_json::from_value).collect::<Result<_, _>>();
        decoded.map_err(client::ReadError::Malformed)
    }

    /// An object of the core group.
    pub async fn core<T: DeserializeOwned>(&self, path: &str, name: &str) -> Lookup<T> {
        match client::get_text(&self.client, path, name, self.timeout).await {
            Ok(Some(json)) => decoded(&json),
            Ok(None) => Lookup::Missing,
            Err(error) => Lookup::Unknown(error.to_string()),
        }
    }
}

fn decoded<T: DeserializeOwned>(json: &str) -> Lookup<T> {
    serde_json::from_str(json).map_or_else(|error| Lookup::Unknown(error.to_string()), Lookup::Found)
}
