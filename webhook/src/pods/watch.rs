//! The watches of the pods that are followed. Of a pod no more is built than is read of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::pods::pod::Pod;
use eno_shared::pods::tracker::{Scope, Seen};
use futures::stream::{BoxStream, SelectAll};
use futures::{FutureExt, Stream, StreamExt};
use kube::core::{NamespaceResourceScope, ObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use serde::{Deserialize, Deserializer};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::selection::Selection;

/// What a watch says, and of which scope.
pub(super) struct Said {
    pub(super) scope: Scope,
    pub(super) what: What,
}

pub(super) enum What {
    /// A list begins.
    Relist,
    /// The list has ended.
    Listed,
    /// A pod exists.
    Seen(Seen),
    /// A pod is gone, or not one of those that are followed any more.
    Gone(Seen),
    /// The watch failed, and begins again.
    Failed(watcher::Error),
}

/// A pod of a watch.
#[derive(Debug, Clone)]
struct Watched {
    /// What the watch itself needs.
    metadata: ObjectMeta,
    pod: Arc<Pod>,
}

impl<'de> Deserialize<'de> for Watched {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pod = Pod::deserialize(deserializer)?;
        let metadata =
            ObjectMeta { resource_version: Some(pod.metadata.resource_version.clone()), ..ObjectMeta::default() };
        Ok(Watched { metadata, pod: Arc::new(pod) })
    }
}

impl Resource for Watched {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Pod".into()
    }
    fn group((): &()) -> Cow<'_, str> {
        "".into()
    }
    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }
    fn plural((): &()) -> Cow<'_, str> {
        "pods".into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The watches of a selection. Lists are read from the store itself, not from a cache that may be behind.
pub(super) struct Watches {
    client: Client,
    config: watcher::Config,
    streams: SelectAll<BoxStream<'static, Said>>,
    stops: HashMap<Scope, CancellationToken>,
}

impl Watches {
    pub(super) fn new(client: Client, selection: &Selection) -> Self {
        let config = watcher::Config::default().labels_from(&selection.selector());
        let mut watches = Watches { client, config, streams: SelectAll::new(), stops: HashMap::new() };
        selection.scopes().into_iter().for_each(|scope| watches.begin(scope, Duration::ZERO));
        watches
    }

    /// What one of them says next.
    pub(super) async fn next(&mut self) -> Said {
        match self.streams.next().await {
            Some(said) => said,
            // Each goes on for ever, or is replaced by another at once.
            None => std::future::pending().await,
        }
    }

    /// Is there a watch that tells of that namespace?
    pub(super) fn covers(&self, namespace: &str) -> bool {
        self.stops.contains_key(&None) || self.stops.contains_key(&Some(namespace.into()))
    }

    /// The namespaces that are watched each by itself.
    pub(super) fn namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.stops.keys().flatten()
    }

    /// Ends the watch of a namespace.
    pub(super) fn end(&mut self, namespace: &Arc<str>) {
        if let Some(watch) = self.stops.remove(&Some(Arc::clone(namespace))) {
            watch.cancel();
        }
    }

    /// Begins anew with a list, after a pause.
    pub(super) fn begin(&mut self, scope: Scope, pause: Duration) {
        let pods: Api<Watched> = match &scope {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        };
        let events = watcher(pods, self.config.clone()).default_backoff();
        let stop = CancellationToken::new();
        if let Some(before) = self.stops.insert(scope.clone(), stop.clone()) {
            before.cancel();
        }
        let later = sleep(pause).map(|()| said(events, scope)).flatten_stream();
        self.streams.push(later.take_until(stop.cancelled_owned()).boxed());
    }
}

fn said(
    events: impl Stream<Item = watcher::Result<Event<Watched>>> + Send + 'static,
    scope: Scope,
) -> impl Stream<Item = Said> + Send {
    events.map(move |event| {
        let what = match event {
            Ok(Event::Init) => What::Relist,
            Ok(Event::InitDone) => What::Listed,
            Ok(Event::InitApply(watched) | Event::Apply(watched)) => What::Seen(Seen::of(&watched.pod)),
            Ok(Event::Delete(watched)) => What::Gone(Seen::of(&watched.pod)),
            Err(error) => What::Failed(error),
        };
        Said { scope: scope.clone(), what }
    })
}
