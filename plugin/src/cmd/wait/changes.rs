//! When to look again: watches of the object and of what decides about it tell that something has changed.

use std::time::Duration;

use eno_shared::api::{Composition, Kind, ResourceSlice};
use eno_shared::client::Watched;
use futures::stream::{BoxStream, StreamExt, select_all};
use kube::Api;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watcher};
use tokio::time::sleep;

use super::Awaited;

/// A watch may be forbidden, or its connection dead without a word: then this is how often to look.
const AT_LEAST: Duration = Duration::from_secs(10);

/// Changes of an object and of its neighbours.
pub(super) struct Changes {
    streams: BoxStream<'static, ()>,
}

impl Changes {
    /// Of the compositions and slices of the namespace: any composition may refer to a slice, and a composition waits for
    /// slices of any name. Metadata tells of a change, and is small.
    pub(super) fn of(awaited: &Awaited<'_>) -> Self {
        let own = watcher::Config::default().fields(&format!("metadata.name={}", awaited.name));
        let all = watcher::Config::default();
        let slices = watch::<ResourceSlice>(awaited, if awaited.slice { own } else { all.clone() });
        Changes { streams: select_all([slices, watch::<Composition>(awaited, all)]).boxed() }
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            Some(()) = self.streams.next() => {}
            () = sleep(AT_LEAST) => {}
        }
    }

    /// Drops those that came already: one look answers them all.
    pub(super) fn forget(&mut self) {
        while let Some(Some(())) = futures::FutureExt::now_or_never(self.streams.next()) {}
    }
}

/// Errors are tried again, ever more slowly: the next look says whether they matter.
fn watch<K: Kind + Send + Sync + std::fmt::Debug + Clone + 'static>(
    awaited: &Awaited<'_>,
    config: watcher::Config,
) -> BoxStream<'static, ()> {
    let api = Api::<PartialObjectMeta<Watched<K>>>::namespaced(awaited.cluster.client.clone(), &awaited.namespace);
    let events = watcher(api, config).default_backoff();
    events.filter_map(|event| std::future::ready(event.is_ok().then_some(()))).boxed()
}
