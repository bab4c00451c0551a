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

/// How many ConfigMaps a page holds: each may have a megabyte.
const PAGE: u32 = 10;

/// What is known of pods.
#[derive(Debug, Default)]
pub struct Outbox {
    /// By the uid of the pod. An entry may be in several shards while it moves; what says more counts.
    pub entries: BTreeMap<String, Entry>,
    /// How many shards there are.
    pub shards: usize,
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
struct List {
    metadata: ListMetadata,
    #[serde(default)]
    items: Vec<ConfigMap>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ListMetadata {
    r#continue: Option<String>,
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
        let mut selection = ListParams::default().labels(&format!("{OUTBOX_LABEL}={OUTBOX_SHARD}")).limit(PAGE);
        loop {
            let request = Request::new(self.path()).list(&selection).map_err(Failure::local)?;
            let List { metadata, items } = self.get(request, "configmaps").await?;
            items.into_iter().for_each(|shard| self.take(shard, &uid, &mut outbox));
            selection.continue_token = metadata.r#continue.filter(|token| !token.is_empty());
            if selection.continue_token.is_none() {
                return Ok(outbox);
            }
        }
    }

    fn take(&self, shard: ConfigMap, uid: &str, outbox: &mut Outbox) {
        let name = &shard.metadata.name;
        let warn = |why: &str| self.cluster.warnings.warn(format!("configmap {name} in {}: {why}", self.namespace));
        match decode(&shard.metadata.annotations, &shard.data, uid) {
            Err(refused) => warn(&refused.to_string()),
            Ok(read) => {
                outbox.shards += 1;
                read.aside
                    .iter()
                    .for_each(|(key, why)| warn(&format!("what it holds of pod {key} is unreadable: {why}")));
                for (uid, entry) in read.entries {
                    match outbox.entries.get(&uid) {
                        Some(known) if known.undelivered.len() >= entry.undelivered.len() => {}
                        Some(_) | None => drop(outbox.entries.insert(uid, entry)),
                    }
                }
            }
        }
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
