//! When to look again: one of the three objects has changed. Where that cannot be watched, the period has to do.

use std::fmt::Debug;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use k8s_openapi::api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use k8s_openapi::api::core::v1::Secret;
use kube::core::{PartialObjectMeta, Resource};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use serde::de::DeserializeOwned;

use super::Options;

/// One item for each change, and some for none.
pub(super) fn changes(client: &Client, options: &Options) -> BoxStream<'static, ()> {
    let Options { namespace, name, configuration, .. } = options;
    // The metadata is enough: what they hold is read when it is needed.
    let secret = Api::<PartialObjectMeta<Secret>>::namespaced(client.clone(), namespace);
    let validating = Api::<PartialObjectMeta<ValidatingWebhookConfiguration>>::all(client.clone());
    let mutating = Api::<PartialObjectMeta<MutatingWebhookConfiguration>>::all(client.clone());
    let watches = [named(secret, name), named(validating, configuration), named(mutating, configuration)];
    stream::select_all(watches).boxed()
}

/// Rights by name allow a watch that selects the name.
fn named<K>(api: Api<PartialObjectMeta<K>>, name: &str) -> BoxStream<'static, ()>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let selected = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let events = watcher::watcher(api, selected).default_backoff();
    events.filter_map(|event| std::future::ready(event.is_ok().then_some(()))).boxed()
}
