//! What the stand-in's controllers have in common: caches filled by watches, a queue, one worker, and backoff.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use eno_shared::names::{ENO_GROUP, ENO_VERSION};
use futures::StreamExt;
use futures::stream::BoxStream;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::runtime::controller::{Action, Config};
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{ObjectRef, Store, reflector};
use kube::runtime::{Controller, WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::Value;

use super::Errors;

/// First pause after an error; it doubles with each further one.
const BACKOFF: Duration = Duration::from_millis(5);
/// Longest pause.
const BACKOFF_LIMIT: Duration = Duration::from_secs(1000);

/// The objects that a controller is about. It also looks at those of the other kind that belong to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Main {
    /// A slice is looked at when a composition that refers to it, or did before, changes.
    Slices,
    /// A composition is looked at when a slice that it owns changes.
    Compositions,
}

/// What a controller sees and writes to: one namespace.
pub struct View {
    /// Reads and writes slices, live.
    pub slices: Api<DynamicObject>,
    /// Reads and writes compositions, live.
    pub compositions: Api<DynamicObject>,
    /// The client, for objects downstream.
    pub client: Client,
    slice_cache: Store<DynamicObject>,
    composition_cache: Store<DynamicObject>,
    namespace: String,
    failures: Mutex<HashMap<String, u32>>,
    errors: Errors,
}

impl View {
    /// A slice, as the cache has it.
    pub fn cached_slice(&self, name: &str) -> Option<Arc<DynamicObject>> {
        self.slice_cache.get(&reference(name, &self.namespace, &resource(SLICE)))
    }

    /// A composition, as the cache has it.
    pub fn cached_composition(&self, name: &str) -> Option<Arc<DynamicObject>> {
        self.composition_cache.get(&reference(name, &self.namespace, &resource(COMPOSITION)))
    }

    /// Success forgets earlier failures; a failure is written down and tried again, later each time.
    fn outcome(&self, object: &DynamicObject, result: Result<Action>) -> Action {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(action) => {
                failures.remove(&object.name_any());
                action
            }
            Err(error) => {
                let text = format!("{}: {error:#}", object.name_any());
                self.errors.lock().unwrap_or_else(PoisonError::into_inner).push(text);
                let failed = failures.entry(object.name_any()).or_default();
                let pause = BACKOFF.saturating_mul(2u32.saturating_pow(*failed)).min(BACKOFF_LIMIT);
                *failed += 1;
                Action::requeue(pause)
            }
        }
    }
}

const SLICE: &str = "ResourceSlice";
const COMPOSITION: &str = "Composition";

fn resource(kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(ENO_GROUP, ENO_VERSION, kind))
}

/// Eno's objects of a kind in a namespace.
pub fn api(client: &Client, namespace: &str, kind: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), namespace, &resource(kind))
}

fn reference(name: &str, namespace: &str, resource: &ApiResource) -> ObjectRef<DynamicObject> {
    ObjectRef::new_with(name, resource.clone()).within(namespace)
}

/// Runs a controller for ever.
pub async fn run<R, F>(client: Client, namespace: String, main: Main, errors: Errors, reconcile: R)
where
    R: Fn(Arc<View>, Arc<DynamicObject>) -> F + Send + 'static,
    F: Future<Output = Result<Action>> + Send + 'static,
{
    let slices = api(&client, &namespace, SLICE);
    let compositions = api(&client, &namespace, COMPOSITION);
    let (slice_cache, slice_stream) = watch(slices.clone(), SLICE);
    let (composition_cache, composition_stream) = watch(compositions.clone(), COMPOSITION);
    let controller = match main {
        Main::Slices => Controller::for_stream_with(slice_stream, slice_cache.clone(), resource(SLICE))
            .watches_stream_with(composition_stream, slices_of_composition(), resource(COMPOSITION)),
        Main::Compositions => {
            Controller::for_stream_with(composition_stream, composition_cache.clone(), resource(COMPOSITION))
                .watches_stream_with(slice_stream, composition_of_slice, resource(SLICE))
        }
    };
    let failures = Mutex::default();
    let view = View { slices, compositions, client, slice_cache, composition_cache, namespace, failures, errors };
    // One worker, as controller-runtime has by default.
    controller
        .with_config(Config::default().concurrency(1))
        .run(
            move |object, view: Arc<View>| {
                let reconciled = reconcile(view.clone(), object.clone());
                async move { Ok::<_, Infallible>(view.outcome(&object, reconciled.await)) }
            },
            |_, never: &Infallible, _| match *never {},
            Arc::new(view),
        )
        .for_each(|_| async {})
        .await;
}

type Stream = BoxStream<'static, Result<DynamicObject, watcher::Error>>;

/// A cache, and the stream that fills it: an object is in the cache before it comes out of the stream.
fn watch(api: Api<DynamicObject>, kind: &str) -> (Store<DynamicObject>, Stream) {
    let writer = Writer::new(resource(kind));
    let store = writer.as_reader();
    let stream = reflector(writer, watcher(api, watcher::Config::default())).default_backoff().touched_objects();
    (store, stream.boxed())
}

fn composition_of_slice(slice: DynamicObject) -> Option<ObjectRef<DynamicObject>> {
    let owner =
        slice.owner_references().iter().find(|owner| owner.controller == Some(true) && owner.kind == COMPOSITION)?;
    Some(reference(&owner.name, slice.metadata.namespace.as_deref()?, &resource(COMPOSITION)))
}

/// The slices that a composition refers to, or did when it was seen before: Eno's handler has both, a stream only the
/// newer.
fn slices_of_composition() -> impl Fn(DynamicObject) -> Vec<ObjectRef<DynamicObject>> + Send + Sync {
    let seen: Mutex<HashMap<String, HashSet<String>>> = Mutex::default();
    move |composition| {
        let namespace = composition.namespace().unwrap_or_default();
        let now: HashSet<String> = ["inFlightSynthesis", "currentSynthesis", "previousSynthesis"]
            .iter()
            .flat_map(|synthesis| slice_names(&composition.data["status"][synthesis]))
            .map(str::to_owned)
            .collect();
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = seen.insert(composition.name_any(), now.clone()).unwrap_or_default();
        now.union(&before).map(|name| reference(name, &namespace, &resource(SLICE))).collect()
    }
}

/// The names of the slices that a synthesis (of a composition's status) refers to.
pub fn slice_names(synthesis: &Value) -> impl Iterator<Item = &str> {
    synthesis["resourceSlices"].as_array().into_iter().flatten().filter_map(|slice| slice["name"].as_str())
}
