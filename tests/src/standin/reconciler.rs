//! Eno's reconciler: creates and deletes what the slices of the current synthesis name
//! (`reconciliation/reconstitution.go`, `reconciliation/controller.go`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use eno_shared::names::{DELETION_STRATEGY, DELETION_STRATEGY_ORPHAN, SYMPHONY_DELETING};
use jiff::Timestamp;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::runtime::controller::Action;
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};

use super::aggregation::is_true;
use super::controller::{View, slice_names};

/// The resources of each synthesis, by its uuid. The real one forgets syntheses that are over; a test is short.
pub type Memory = Arc<Mutex<HashMap<String, Arc<Filled>>>>;

/// What was read of a synthesis once, and is not read again.
#[derive(Debug)]
pub struct Filled {
    /// Whether the composition was being deleted then.
    deleting: bool,
    /// Name of a slice, and its resources.
    slices: Vec<(String, Vec<Resource>)>,
}

#[derive(Debug)]
struct Resource {
    manifest: DynamicObject,
    deleted: bool,
}

/// Brings the resources of the current synthesis about, and writes their states.
///
/// # Errors
/// A request failed, or a manifest is not one.
pub async fn reconcile(view: Arc<View>, composition: Arc<DynamicObject>, memory: Memory) -> Result<Action> {
    let current = &composition.data["status"]["currentSynthesis"];
    let Some(uuid) = current["uuid"].as_str().filter(|_| !current["synthesized"].is_null()) else {
        return Ok(Action::await_change());
    };
    let known = memory.lock().unwrap_or_else(PoisonError::into_inner).get(uuid).cloned();
    let filled = match known {
        Some(filled) => filled,
        None => {
            let Some(filled) = fill(&view, &composition, current).await? else {
                return Ok(Action::await_change()); // one slice is missing, so nothing is done at all (S1)
            };
            let filled = Arc::new(filled);
            memory.lock().unwrap_or_else(PoisonError::into_inner).insert(uuid.to_owned(), filled.clone());
            filled
        }
    };

    let strategy = composition.annotations().get(DELETION_STRATEGY).map(String::as_str);
    let orphan = filled.deleting
        && (strategy == Some(DELETION_STRATEGY_ORPHAN) || is_true(composition.labels().get(SYMPHONY_DELETING)));
    for (name, resources) in &filled.slices {
        let Some(slice) = view.cached_slice(name) else {
            continue; // its resources were read, so they would still be handled; there is no status to write
        };
        let before = &slice.data["status"]["resources"];
        let mut states = vec![];
        for (index, resource) in resources.iter().enumerate() {
            let delete = (filled.deleting || resource.deleted) && !orphan;
            states.push(match &before[index] {
                state if is_settled(state, delete) => state.clone(),
                _ => settle(&view.client, &resource.manifest, delete, orphan).await?,
            });
        }
        if *before != json!(states) && !(before.is_null() && states.is_empty()) {
            let patch = Patch::Merge(json!({"status": {"resources": states}}));
            match view.slices.patch_status(name, &PatchParams::default(), &patch).await {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                patched => drop(patched?),
            }
        }
    }
    Ok(Action::await_change())
}

/// All slices or none; from the cache first, then live, since the real cache does not hold manifests.
async fn fill(view: &View, composition: &DynamicObject, current: &Value) -> Result<Option<Filled>> {
    if slice_names(current).any(|name| view.cached_slice(name).is_none()) {
        return Ok(None);
    }
    let mut slices = vec![];
    for name in slice_names(current) {
        let Some(slice) = view.slices.get_opt(name).await? else {
            return Ok(None);
        };
        let items = slice.data["spec"]["resources"].as_array().into_iter().flatten();
        let resources = items.map(|item| {
            let manifest = item["manifest"].as_str().context("a resource has no manifest")?;
            let manifest = serde_json::from_str(manifest).context("a manifest is not an object")?;
            Ok(Resource { manifest, deleted: item["deleted"].as_bool() == Some(true) })
        });
        slices.push((name.to_owned(), resources.collect::<Result<_>>()?));
    }
    Ok(Some(Filled { deleting: composition.metadata.deletion_timestamp.is_some(), slices }))
}

fn is_settled(state: &Value, delete: bool) -> bool {
    state["reconciled"].as_bool() == Some(true) && (!delete || state["deleted"].as_bool() == Some(true))
}

/// Creates, updates, deletes or leaves one resource, and returns its state.
async fn settle(client: &Client, manifest: &DynamicObject, delete: bool, orphan: bool) -> Result<Value> {
    let name = manifest.name_any();
    let kind = manifest.types.as_ref().context("a manifest has no kind")?;
    let resource = ApiResource::from_gvk(&GroupVersionKind::try_from(kind)?);
    let api: Api<DynamicObject> = match &manifest.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    if delete {
        match api.delete(&name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            deleted => drop(deleted.with_context(|| format!("deleting {name}"))?),
        }
    } else if !orphan {
        let params = PatchParams::apply("eno").force();
        api.patch(&name, &params, &Patch::Apply(manifest)).await.with_context(|| format!("applying {name}"))?;
    }
    let now = Timestamp::now().strftime("%FT%TZ").to_string();
    Ok(json!({"reconciled": true, "ready": now, "deleted": delete}))
}
