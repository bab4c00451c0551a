//! Looks for resources of any kind, by what the API server says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eno_shared::api::ResourceRef;
use futures::stream::{StreamExt, iter};
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::discovery::{self, Scope};
use kube::error::DiscoveryError;
use kube::{Client, ResourceExt};

use super::{Presence, Resource};

/// A cluster to look in.
pub struct Cluster {
    client: Client,
    timeout: Duration,
    concurrency: usize,
}

/// How a kind is asked for, or why it cannot be.
type Served = Result<(ApiResource, Scope), String>;

impl Cluster {
    /// `timeout` is the time for one request, `concurrency` how many run at once.
    pub fn new(client: Client, timeout: Duration, concurrency: usize) -> Self {
        Cluster { client, timeout, concurrency }
    }

    /// Looks for resources. The answers are in the order of the questions.
    pub async fn look(&self, resources: Vec<ResourceRef>) -> Vec<Resource> {
        let kinds: BTreeSet<(String, String)> =
            resources.iter().map(|resource| (resource.api_version.clone(), resource.kind.clone())).collect();
        let discoveries = kinds.into_iter().map(|kind| async move {
            let served = self.served(&kind.0, &kind.1).await;
            (kind, served)
        });
        let served: BTreeMap<(String, String), Served> =
            iter(discoveries).buffer_unordered(self.concurrency).collect().await;
        let looks = resources.into_iter().map(|of| {
            let served = served.get(&(of.api_version.clone(), of.kind.clone()));
            async move {
                let presence = match served {
                    Some(Ok((kind, scope))) => self.presence(&of, kind, scope).await,
                    Some(Err(why)) => Presence::Unknown(why.clone()),
                    None => Presence::NotLookedAt,
                };
                Resource { of, presence }
            }
        });
        iter(looks).buffered(self.concurrency).collect().await
    }

    async fn served(&self, api_version: &str, kind: &str) -> Served {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let asked = GroupVersionKind::gvk(group, version, kind);
        match tokio::time::timeout(self.timeout, discovery::pinned_kind(&self.client, &asked)).await {
            Err(_) => Err("no answer in time".to_owned()),
            Ok(Ok((resource, capabilities))) => Ok((resource, capabilities.scope)),
            // Eno takes that for a resource that does not exist (L14). It may, in another version.
            Ok(Err(kube::Error::Discovery(DiscoveryError::MissingKind(_)))) => {
                Err(format!("the cluster does not serve {api_version} {kind}"))
            }
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => {
                Err(format!("the cluster does not serve {api_version}"))
            }
            Ok(Err(error)) => Err(said(&error)),
        }
    }

    async fn presence(&self, resource: &ResourceRef, kind: &ApiResource, scope: &Scope) -> Presence {
        let api: Api<DynamicObject> = match scope {
            Scope::Cluster => Api::all_with(self.client.clone(), kind),
            Scope::Namespaced if resource.namespace.is_empty() => {
                return Presence::Unknown("its manifest names no namespace".to_owned());
            }
            Scope::Namespaced => Api::namespaced_with(self.client.clone(), &resource.namespace, kind),
        };
        match tokio::time::timeout(self.timeout, api.get_metadata(&resource.name)).await {
            Err(_) => Presence::Unknown("no answer in time".to_owned()),
            Ok(Ok(found)) if found.metadata.deletion_timestamp.is_some() => {
                Presence::Terminating { finalizers: found.finalizers().to_vec() }
            }
            Ok(Ok(_)) => Presence::Exists,
            // A 404 that does not name the object says nothing of it.
            Ok(Err(kube::Error::Api(status)))
                if status.code == 404
                    && status.details.as_ref().is_some_and(|details| details.name == resource.name) =>
            {
                Presence::Gone
            }
            Ok(Err(error)) => Presence::Unknown(said(&error)),
        }
    }
}

fn said(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if !status.reason.is_empty() => status.reason.clone(),
        error => {
            let mut cause: &dyn std::error::Error = error;
            while let Some(inner) = cause.source() {
                cause = inner;
            }
            cause.to_string()
        }
    }
}
