//! What eno-webhook knows of pods: its outbox, read from the ConfigMaps that it keeps it in.

use std::collections::BTreeMap;
use std::time::Duration;

use eno_shared::api::Metadata;
use eno_shared::client::ReadError;
use eno_shared::names::{OUTBOX_LABEL, OUTBOX_REQUEST, OUTBOX_SHARD};
use eno_shared::pods::outbox::{Entry, decode};
use kube::core::Request;
use kube::core::params::{ListParams, PostParams};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cluster::{Cluster, goes_into_url};
use crate::failure::Failure;
use crate::live::Home;
use crate::warnings::Warnings;

/// How many ConfigMaps a page holds: each may have a megabyte.
const PAGE: u32 = 10;

/// What is known of pods.
#[derive(Debug, Default)]
pub struct Outbox {
    /// By the name of the shard, and by the uid of the pod.
    shards: BTreeMap<String, BTreeMap<String, Entry>>,
}

impl Outbox {
    /// Does no webhook keep one?
    pub fn is_missing(&self) -> bool {
        self.shards.is_empty()
    }

    /// By the uid of the pod. An entry may be in several shards while it moves; what says more counts.
    pub fn entries(&self) -> BTreeMap<&str, &Entry> {
        let mut entries: BTreeMap<&str, &Entry> = BTreeMap::new();
        for (uid, entry) in self.shards.values().flatten() {
            match entries.get(uid.as_str()) {
                Some(known) if known.undelivered.len() >= entry.undelivered.len() => {}
                Some(_) | None => drop(entries.insert(uid, entry)),
            }
        }
        entries
    }

    /// What is kept of a pod.
    pub fn get(&self, uid: &str) -> Option<&Entry> {
        let entries = self.shards.values().filter_map(|shard| shard.get(uid));
        // Of equals the first, as among all.
        entries.reduce(|known, entry| if known.undelivered.len() >= entry.undelivered.len() { known } else { entry })
    }

    /// Takes a shard in, in place of what it was before. What cannot be understood is a warning.
    pub fn put(&mut self, shard: Value, cluster_uid: &str, warnings: &Warnings) {
        match serde_json::from_value(shard) {
            Ok(shard) => self.take(shard, cluster_uid, warnings),
            Err(error) => warnings.warn(format!("a configmap of the outbox of pods is unreadable: {error}")),
        }
    }

    fn take(&mut self, shard: ConfigMap, cluster_uid: &str, warnings: &Warnings) {
        let ConfigMap { metadata: Metadata { name, namespace, annotations, .. }, data } = shard;
        let warn = |why: &str| warnings.warn(format!("configmap {name} in {namespace}: {why}"));
        match decode(&annotations, &data, cluster_uid) {
            Err(refused) => {
                warn(&refused.to_string());
                self.shards.remove(&name);
            }
            Ok(read) => {
                read.aside
                    .iter()
                    .for_each(|(key, why)| warn(&format!("what it holds of pod {key} is unreadable: {why}")));
                self.shards.insert(name, read.entries.into_iter().collect());
            }
        }
    }

    /// Forgets a shard.
    pub fn remove(&mut self, shard: &str) {
        self.shards.remove(shard);
    }
}

/// Selects the ConfigMaps that hold it.
pub fn selector() -> String {
    format!("{OUTBOX_LABEL}={OUTBOX_SHARD}")
}

/// Where the outbox is.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The webhook's namespace.
    pub namespace: &'a str,
}

#[derive(Deserialize)]
struct ConfigMap {
    metadata: Metadata,
    #[serde(default)]
    data: BTreeMap<String, String>,
}

impl<'a> Place<'a> {
    /// In that namespace.
    ///
    /// # Errors
    /// No namespace can be called so.
    pub fn new(cluster: &'a Cluster, namespace: &'a str) -> Result<Self, Failure> {
        goes_into_url("namespace", namespace)?;
        Ok(Place { cluster, namespace })
    }

    /// Reads all of it. What cannot be understood is a warning.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn read(&self) -> Result<Outbox, Failure> {
        let uid = self.cluster_uid().await?;
        let mut outbox = Outbox::default();
        let selection = ListParams::default().labels(&selector()).limit(PAGE);
        let shards = self.cluster.core_list(&self.path(), &selection).await;
        let shards: Vec<ConfigMap> = shards.map_err(|error| Failure::core(&error, "configmaps", &self.cluster.host))?;
        shards.into_iter().for_each(|shard| outbox.take(shard, &uid, &self.cluster.warnings));
        Ok(outbox)
    }

    /// Asks the leader for something; returns the name of the request.
    ///
    /// # Errors
    /// The API server refuses.
    pub async fn ask(&self, data: &[(&str, String)], dry_run: bool) -> Result<String, Failure> {
        let data: BTreeMap<_, _> = data.iter().cloned().collect();
        let body = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {"generateName": "pod-outbox-request-", "labels": {OUTBOX_LABEL: OUTBOX_REQUEST}},
        });
        let params = PostParams { dry_run, field_manager: Some("kubectl-eno".to_owned()) };
        let body = serde_json::to_vec(&body).map_err(Failure::local)?;
        let request = Request::new(self.path()).create(&params, body).map_err(Failure::local)?;
        let created: ConfigMap = self.get(request, "configmaps").await?;
        Ok(created.metadata.name)
    }

    /// Has the leader carried it out?
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn is_done(&self, name: &str) -> Result<bool, Failure> {
        let request = Request::new(self.path()).get(name, &Default::default()).map_err(Failure::local)?;
        match within(self.cluster.timeout, self.cluster.client.request::<Value>(request)).await {
            Ok(_) => Ok(false),
            Err(ReadError::Api(status))
                if status.code == 404 && status.details.as_ref().is_some_and(|details| details.name == name) =>
            {
                Ok(true)
            }
            Err(error) => Err(Failure::core(&error, "configmaps", &self.cluster.host)),
        }
    }

    fn path(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.namespace)
    }

    /// Where to watch it.
    ///
    /// # Errors
    /// The cluster's uid cannot be read.
    pub async fn home(&self) -> Result<Home, Failure> {
        Ok(Home { path: self.path(), cluster_uid: self.cluster_uid().await? })
    }

    /// What tells this cluster from others.
    async fn cluster_uid(&self) -> Result<String, Failure> {
        #[derive(Deserialize)]
        struct Namespace {
            metadata: Metadata,
        }
        let request =
            Request::new("/api/v1/namespaces").get("kube-system", &Default::default()).map_err(Failure::local)?;
        let namespace: Namespace = self.get(request, "namespaces").await?;
        Ok(namespace.metadata.uid)
    }

    async fn get<T: DeserializeOwned>(&self, request: http::Request<Vec<u8>>, what: &str) -> Result<T, Failure> {
        within(self.cluster.timeout, self.cluster.client.request(request))
            .await
            .map_err(|error| Failure::core(&error, what, &self.cluster.host))
    }
}

async fn within<T>(limit: Duration, answer: impl Future<Output = kube::Result<T>>) -> Result<T, ReadError> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answer) => answer.map_err(ReadError::from),
        Err(_) => Err(ReadError::TimedOut(limit)),
    }
}
