//! A dump on the real API server, which sets uids, times and generations by itself: what the dump says of them is carried
//! over as it stands to each other.

pub mod ask;
pub mod dump;
pub mod space;

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, PostParams};
use serde_json::{Map, Value, json};

use crate::cluster::Cluster;
use dump::Dump;

/// Dumps at a time.
const AT_ONCE: usize = 16;
/// Keeps what is deleted, and decides nothing.
const KEPT: &str = "example.com/replayed";
/// The uid of an owner that does not exist.
const NOBODY: &str = "00000000-0000-4000-8000-000000000000";
/// The times of a synthesis.
const TIMES: [&str; 5] = ["initialized", "synthesized", "reconciled", "ready", "canceled"];

/// Makes the objects of each dump in a namespace of its own, whose name begins with `hint`. Returns the slices, `None` where the
/// server refuses what a dump may hold.
///
/// # Errors
/// The server fails on one.
pub async fn replay_all(cluster: &Cluster, hint: &str, dumps: &[Dump]) -> Result<Vec<Option<DynamicObject>>> {
    let slices = stream::iter(dumps.iter().enumerate()).map(async |(index, dump)| {
        let namespace = format!("{hint}-{index}");
        cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await?;
        match replay(cluster, &namespace, dump).await {
            Ok(slice) => Ok(Some(slice)),
            Err(error) if is_invalid(&error) => Ok(None),
            Err(error) => Err(error.context(dump.title.clone())),
        }
    });
    slices.buffered(AT_ONCE).try_collect().await
}

fn is_invalid(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(kube::Error::Api(status)) if status.code == 422)
}

/// Makes the objects of a dump in a namespace. Returns the slice.
///
/// # Errors
/// The server refuses one.
pub async fn replay(cluster: &Cluster, namespace: &str, dump: &Dump) -> Result<DynamicObject> {
    let place = Place { cluster, namespace };
    let mut compositions = vec![];
    for composition in &dump.compositions {
        compositions.push((composition, place.create(composition, composition_metadata).await?));
    }
    let real_uid = |uid: &Value| {
        let of = |(composition, real): &(&Value, DynamicObject)| {
            (composition["metadata"]["uid"] == *uid).then(|| real.metadata.uid.clone())
        };
        compositions.iter().find_map(of).flatten().unwrap_or_else(|| NOBODY.into())
    };
    let slice = place.create(&dump.slice, |slice| slice_metadata(slice, real_uid)).await?;
    if let Some(status) = dump.slice.get("status").filter(|status| !status.is_null()) {
        place.set_status("ResourceSlice", &slice.name_any(), status).await?;
    }
    // While nothing refers to it yet, since the webhook looks on.
    place.delete_if_deleting(&dump.slice, "ResourceSlice", &slice.name_any()).await?;
    let now = slice.creation_timestamp().context("a slice has a creationTimestamp")?.0;
    let was = dump.slice["metadata"]["creationTimestamp"].as_str().map(str::parse::<Timestamp>).transpose()?;
    let later = was.map_or(SignedDuration::ZERO, |was| now.duration_since(was));
    for (composition, real) in &compositions {
        let real =
            place.delete_if_deleting(composition, "Composition", &real.name_any()).await?.unwrap_or(real.clone());
        let generation = real.metadata.generation.context("a composition has a generation")?;
        let status = status(composition, generation, later)?;
        place.set_status("Composition", &real.name_any(), &status).await?;
    }
    Ok(cluster.eno("ResourceSlice", namespace).get(&slice.name_any()).await?)
}

struct Place<'a> {
    cluster: &'a Cluster,
    namespace: &'a str,
}

impl Place<'_> {
    async fn create(&self, object: &Value, metadata: impl FnOnce(&Value) -> Value) -> Result<DynamicObject> {
        let mut new = json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": metadata(object)});
        new["metadata"]["name"] = object["metadata"]["name"].clone();
        new["metadata"]["namespace"] = json!(self.namespace);
        if let Some(spec) = object.get("spec").filter(|spec| !spec.is_null()) {
            new["spec"] = spec.clone();
        }
        let api = self.cluster.eno(object["kind"].as_str().unwrap_or_default(), self.namespace);
        let new = serde_json::from_value(new)?;
        api.create(&PostParams::default(), &new).await.with_context(|| format!("creating {new:?}"))
    }

    async fn delete_if_deleting(&self, object: &Value, kind: &str, name: &str) -> Result<Option<DynamicObject>> {
        if object["metadata"]["deletionTimestamp"].is_null() {
            return Ok(None);
        }
        let api = self.cluster.eno(kind, self.namespace);
        api.delete(name, &DeleteParams::background()).await?;
        Ok(Some(api.get(name).await?))
    }

    async fn set_status(&self, kind: &str, name: &str, status: &Value) -> Result<()> {
        let metadata = json!({"name": name, "namespace": self.namespace});
        let api_version = eno_shared::names::ENO_API_VERSION;
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
        self.cluster.set_status(&object, status).await?;
        Ok(())
    }
}

/// The status of a composition, for its real generation, with all times so much later.
fn status(composition: &Value, generation: i64, later: SignedDuration) -> Result<Value> {
    let mut status = composition.get("status").cloned().unwrap_or_else(|| json!({}));
    let behind = composition["metadata"]["generation"].as_i64().unwrap_or_default();
    for synthesis in ["currentSynthesis", "previousSynthesis", "inFlightSynthesis"] {
        let Some(synthesis) = status.get_mut(synthesis).and_then(Value::as_object_mut) else { continue };
        let observed = synthesis.get("observedCompositionGeneration").and_then(Value::as_i64).unwrap_or_default();
        synthesis.insert("observedCompositionGeneration".into(), json!(generation + observed - behind));
        for time in TIMES {
            shift(synthesis, time, later)?;
        }
    }
    Ok(status)
}

fn shift(synthesis: &mut Map<String, Value>, field: &str, later: SignedDuration) -> Result<()> {
    let Some(time) = synthesis.get(field).and_then(Value::as_str) else { return Ok(()) };
    let shifted = time.parse::<Timestamp>().with_context(|| format!("{field} is {time}"))? + later;
    synthesis.insert(field.into(), json!(shifted.to_string()));
    Ok(())
}

fn composition_metadata(composition: &Value) -> Value {
    let metadata = &composition["metadata"];
    json!({
        "labels": metadata["labels"], "annotations": metadata["annotations"], "finalizers": finalizers(metadata),
    })
}

fn slice_metadata(slice: &Value, real_uid: impl Fn(&Value) -> String) -> Value {
    let metadata = &slice["metadata"];
    let mut owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
    for owner in &mut owners {
        owner["uid"] = json!(real_uid(&owner["uid"]));
    }
    json!({
        "labels": metadata["labels"], "annotations": metadata["annotations"], "finalizers": finalizers(metadata),
        "ownerReferences": owners,
    })
}

fn finalizers(metadata: &Value) -> Vec<Value> {
    let mut finalizers = metadata["finalizers"].as_array().cloned().unwrap_or_default();
    finalizers.push(json!(KEPT));
    finalizers
}
