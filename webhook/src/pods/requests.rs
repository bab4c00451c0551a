//! What people ask of the outbox: ConfigMaps that `kubectl eno pods redeliver` makes. They are removed once carried out.

use std::collections::BTreeMap;
use std::time::Duration;

use eno_shared::api::{Kind, Metadata};
use eno_shared::client::{Effect, delete};
use eno_shared::names::{OUTBOX_LABEL, OUTBOX_REQUEST};
use eno_shared::pods::outbox::Request;
use futures::StreamExt;
use futures::stream::BoxStream;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::watcher::{self, watcher};
use kube::runtime::{WatchStreamExt, watcher::Event};
use kube::{Api, Client, ResourceExt};
use serde::Deserialize;
use tracing::{debug, warn};

/// How long the removal of one may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Somebody's request.
pub(super) struct Asked {
    pub(super) request: Request,
    object: RequestObject,
}

/// The ConfigMap of a request, as far as its removal needs it.
#[derive(Debug, Default, Deserialize)]
struct RequestObject {
    #[serde(default)]
    metadata: Metadata,
}

impl Kind for RequestObject {
    const KIND: &'static str = "ConfigMap";
    const PLURAL: &'static str = "configmaps";
    const SINGULAR: &'static str = "configmap";
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
    fn path(namespace: Option<&str>) -> String {
        format!("/api/v1/namespaces/{}/configmaps", namespace.unwrap_or("default"))
    }
}

/// The requests in the namespace, as they come.
pub(super) fn requests(client: &Client, namespace: &str) -> BoxStream<'static, Asked> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let config = watcher::Config::default().labels(&format!("{OUTBOX_LABEL}={OUTBOX_REQUEST}"));
    let asked = watcher(api, config).default_backoff().filter_map(async |event| match event {
        Ok(Event::InitApply(object) | Event::Apply(object)) => Some(asked(object)),
        Ok(Event::Init | Event::InitDone | Event::Delete(_)) => None,
        Err(error) => {
            debug!(%error, "the watch of requests failed; it begins again");
            None
        }
    });
    asked.boxed()
}

fn asked(object: ConfigMap) -> Asked {
    let metadata = Metadata {
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
        uid: object.uid().unwrap_or_default(),
        resource_version: object.resource_version().unwrap_or_default(),
        ..Metadata::default()
    };
    let data: BTreeMap<String, String> = object.data.unwrap_or_default();
    Asked { request: Request::of(&data), object: RequestObject { metadata } }
}

impl Asked {
    /// The uid of its ConfigMap.
    pub(super) fn uid(&self) -> &str {
        &self.object.metadata.uid
    }

    /// It was carried out, and that was noted.
    pub(super) async fn done(self, client: Client) {
        let metadata = &self.object.metadata;
        if let Err(error) = delete::<RequestObject>(&client, metadata, Effect::Real, LIMIT).await {
            warn!(name = metadata.name, %error, "cannot remove a request that was carried out");
        }
    }
}
