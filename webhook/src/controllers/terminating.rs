//! The namespaces that are being deleted, for the reporter: no Event can be made there.

use futures::StreamExt;
use k8s_openapi::api::core::v1::Namespace;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tracing::warn;

use super::report::Reporter;

/// Tells the reporter of them, for ever.
pub(crate) async fn tell(client: Client, reporter: Reporter) {
    let namespaces: Api<PartialObjectMeta<Namespace>> = Api::all(client);
    let mut events = watcher(namespaces, watcher::Config::default()).default_backoff().boxed();
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => reporter.forget_namespaces(),
            Ok(Event::InitDone) => {}
            Ok(Event::InitApply(namespace) | Event::Apply(namespace)) => {
                let terminating = namespace.metadata.deletion_timestamp.is_some();
                reporter.namespace(&namespace.name_any(), terminating);
            }
            Ok(Event::Delete(namespace)) => reporter.namespace(&namespace.name_any(), false),
            Err(error) => {
                reporter.watch_restarted("namespaces");
                warn!(what = "namespaces", %error, "a watch failed; it begins again");
            }
        }
    }
}
