//! The watches that feed the store.

use eno_shared::Lookup;
use eno_shared::api::{Composition, Kind, Metadata, OwnerReference, ResourceSlice};
use eno_shared::client::Watched;
use futures::stream::{BoxStream, SelectAll, select_all};
use futures::{Stream, StreamExt};
use kube::core::{NamespaceResourceScope, ObjectMeta, PartialObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use std::sync::Arc;

use crate::candidates::PAGE;
use crate::store::{Scope, scopes};

/// What a watch says.
pub enum Seen {
    /// Of slices.
    Slice(Change<Metadata>),
    /// Of compositions: name and object.
    Composition(Change<Named<Lookup<Arc<Composition>>>>),
    /// A watch failed, and begins again after a while.
    Failed {
        /// The plural of what it watches.
        what: &'static str,
        /// Why.
        error: watcher::Error,
    },
}

/// One event of a watch.
pub enum Change<T> {
    /// A list begins, of this scope.
    Relist(Scope),
    /// The list has ended, of this scope.
    Listed(Scope),
    /// An object exists: it was listed, made or changed.
    Exists(T),
    /// An object is gone.
    Gone(T),
}

/// Something of a name.
pub struct Named<T> {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The thing.
    pub what: T,
}

/// Watches slices (metadata only) and compositions, everywhere or in these namespaces.
pub fn watches(client: &Client, namespaces: &[String]) -> SelectAll<BoxStream<'static, Seen>> {
    let config = || watcher::Config::default().page_size(PAGE);
    let mut streams: Vec<BoxStream<'static, Seen>> = vec![];
    for scope in scopes(namespaces) {
        let within = scope.as_deref();
        let slices = watcher(api::<PartialObjectMeta<Watched<ResourceSlice>>>(client, within), config());
        streams.push(events(slices.default_backoff(), ResourceSlice::PLURAL, &scope, |slice| {
            Seen::Slice(slice.map(|slice| metadata_of(slice.metadata)))
        }));
        let compositions = watcher(api::<Watched<Composition>>(client, within), config());
        streams.push(events(compositions.default_backoff(), Composition::PLURAL, &scope, |composition| {
            Seen::Composition(composition.map(|watched| Named {
                namespace: watched.namespace().unwrap_or_default(),
                name: watched.name_any(),
                what: watched.object,
            }))
        }));
    }
    select_all(streams)
}

fn api<K>(client: &Client, namespace: Option<&str>) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

fn events<K: 'static>(
    stream: impl Stream<Item = watcher::Result<watcher::Event<K>>> + Send + 'static,
    what: &'static str,
    scope: &Scope,
    seen: impl Fn(Change<K>) -> Seen + Send + 'static,
) -> BoxStream<'static, Seen> {
    let scope = scope.clone();
    let events = stream.map(move |event| match event {
        Ok(watcher::Event::Init) => seen(Change::Relist(scope.clone())),
        Ok(watcher::Event::InitDone) => seen(Change::Listed(scope.clone())),
        Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object)) => seen(Change::Exists(object)),
        Ok(watcher::Event::Delete(object)) => seen(Change::Gone(object)),
        Err(error) => Seen::Failed { what, error },
    });
    events.boxed()
}

impl<T> Change<T> {
    fn map<U>(self, view: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Change::Relist(scope) => Change::Relist(scope),
            Change::Listed(scope) => Change::Listed(scope),
            Change::Exists(object) => Change::Exists(view(object)),
            Change::Gone(object) => Change::Gone(view(object)),
        }
    }
}

fn metadata_of(metadata: ObjectMeta) -> Metadata {
    let owner = |owner: k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference| OwnerReference {
        api_version: owner.api_version,
        kind: owner.kind,
        name: owner.name,
        uid: owner.uid,
        controller: owner.controller.unwrap_or_default(),
    };
    Metadata {
        namespace: metadata.namespace.unwrap_or_default(),
        name: metadata.name.unwrap_or_default(),
        uid: metadata.uid.unwrap_or_default(),
        resource_version: metadata.resource_version.unwrap_or_default(),
        generation: metadata.generation.unwrap_or_default(),
        creation_timestamp: metadata.creation_timestamp.map(|time| time.0),
        deletion_timestamp: metadata.deletion_timestamp.map(|time| time.0),
        finalizers: metadata.finalizers.unwrap_or_default(),
        owner_references: metadata.owner_references.unwrap_or_default().into_iter().map(owner).collect(),
        ..Metadata::default()
    }
}
