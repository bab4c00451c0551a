//! One write of a shard, guarded by the version that it changes.

use std::collections::BTreeMap;
use std::time::Duration;

use eno_shared::names::{OUTBOX_LABEL, OUTBOX_SHARD, WEBHOOK_NAME};
use eno_shared::pods::outbox;
use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::ObjectMeta;
use kube::{Api, ResourceExt};
use serde_json::json;
use tokio::time::timeout;

use super::plan::Batch;

/// How long a write may take.
const REQUEST: Duration = Duration::from_secs(10);

/// What is expected of a shard as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Version {
    uid: String,
    resource_version: String,
}

impl Version {
    pub(super) fn of(shard: &ConfigMap) -> Self {
        Version { uid: shard.uid().unwrap_or_default(), resource_version: shard.resource_version().unwrap_or_default() }
    }
}

/// What became of a write.
pub(in crate::pods) struct Written {
    pub(super) batch: Batch,
    /// The shard after it; none where there was nothing to write.
    pub(super) result: Result<Option<Version>, WriteError>,
}

/// Why a write was not made.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    #[error("somebody else has changed or removed the shard")]
    NotAsWritten(Option<Version>),
    #[error(transparent)]
    Refused(#[from] kube::Error),
    /// It was made or not: the next one finds out.
    #[error("no answer from the API server in {} s", REQUEST.as_secs())]
    NoAnswer,
}

impl WriteError {
    /// The shard as it is now, where it is not as it was written.
    pub(super) fn found(&self) -> Option<Option<Version>> {
        match self {
            WriteError::NotAsWritten(found) => Some(found.clone()),
            WriteError::Refused(_) | WriteError::NoAnswer => None,
        }
    }
}

/// Writes the shards of one cluster.
pub(super) struct Writer {
    api: Api<ConfigMap>,
    /// What all names begin with. It differs between clusters and formats: what was copied here, or is written by another
    /// version, is not overwritten.
    prefix: String,
    annotations: BTreeMap<String, String>,
}

impl Writer {
    pub(super) fn new(api: Api<ConfigMap>, cluster: &str) -> Self {
        let short: String = cluster.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let prefix = format!("eno-pods-v{}-{}-", outbox::FORMAT, short.to_ascii_lowercase());
        Writer { api, prefix, annotations: outbox::annotations(cluster) }
    }

    /// The number of the shard of that name, if it is one of ours.
    pub(super) fn number(&self, name: &str) -> Option<u16> {
        name.strip_prefix(&self.prefix)?.parse().ok()
    }

    pub(super) fn write(&self, batch: Batch, version: Option<Version>) -> BoxFuture<'static, Written> {
        let (api, name) = (self.api.clone(), format!("{}{}", self.prefix, batch.shard));
        let annotations = self.annotations.clone();
        let write = async move {
            let written = async {
                match version {
                    Some(version) => change(&api, &name, &version, &batch).await.map(Some),
                    None => create(&api, &name, annotations, &batch).await,
                }
            };
            let result = timeout(REQUEST, written).await.unwrap_or_else(|_| Err(WriteError::NoAnswer));
            Written { batch, result }
        };
        write.boxed()
    }
}

async fn change(api: &Api<ConfigMap>, name: &str, version: &Version, batch: &Batch) -> Result<Version, WriteError> {
    let change = json!({
        "metadata": {"uid": version.uid, "resourceVersion": version.resource_version},
        "data": batch.entries,
    });
    match api.patch_metadata(name, &PatchParams::default(), &Patch::Merge(change)).await {
        Ok(after) => Ok(Version {
            uid: after.uid().unwrap_or_default(),
            resource_version: after.resource_version().unwrap_or_default(),
        }),
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => Err(look(api, name).await?),
        Err(error) => Err(error.into()),
    }
}

async fn create(
    api: &Api<ConfigMap>,
    name: &str,
    annotations: BTreeMap<String, String>,
    batch: &Batch,
) -> Result<Option<Version>, WriteError> {
    let data: BTreeMap<String, String> =
        batch.entries.iter().filter_map(|(uid, entry)| Some((uid.to_string(), entry.clone()?))).collect();
    if data.is_empty() {
        return Ok(None);
    }
    let labels = [(OUTBOX_LABEL, OUTBOX_SHARD), ("app.kubernetes.io/managed-by", WEBHOOK_NAME)];
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
        annotations: Some(annotations),
        ..ObjectMeta::default()
    };
    let shard = ConfigMap { metadata, data: Some(data), ..ConfigMap::default() };
    match api.create(&PostParams::default(), &shard).await {
        Ok(after) => Ok(Some(Version::of(&after))),
        Err(kube::Error::Api(status)) if status.code == 409 => Err(look(api, name).await?),
        Err(error) => Err(error.into()),
    }
}

/// The shard as it is, after a write that found another.
async fn look(api: &Api<ConfigMap>, name: &str) -> Result<WriteError, WriteError> {
    let found = api.get_metadata_opt(name).await?.map(|shard| Version {
        uid: shard.uid().unwrap_or_default(),
        resource_version: shard.resource_version().unwrap_or_default(),
    });
    Ok(WriteError::NotAsWritten(found))
}
