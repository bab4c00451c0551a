//! Live reads: of a pod, before anything is said of its end; of its node; of its CiliumEndpoint, where there is Cilium.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eno_shared::Lookup;
use eno_shared::client::{ReadError, get_text};
use eno_shared::pods::node::Node;
use eno_shared::pods::pod::Pod;
use eno_shared::pods::sandbox::Evidence;
use eno_shared::pods::tracker::{LOOK_LIMIT, Look, Place, Seen};
use futures::future::{BoxFuture, FutureExt, Shared, join_all};
use kube::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tracing::debug;

/// For how long what is known of a node may be used: the pods of a node often end together.
const NODE_FRESH: Duration = Duration::from_secs(5);
/// How long a CiliumEndpoint may take.
const CILIUM_LIMIT: Duration = Duration::from_secs(5);
/// After how long it is asked again whether there is Cilium.
const NO_CILIUM: Duration = Duration::from_secs(600);

/// Reads live.
#[derive(Clone)]
pub(super) struct Live(Arc<Inner>);

/// A read of a node, under way or ended, that several looks wait for.
type NodeRead = Shared<BoxFuture<'static, Arc<Lookup<Node>>>>;

struct Inner {
    client: Client,
    nodes: Mutex<HashMap<Box<str>, (Instant, NodeRead)>>,
    no_cilium_until: Mutex<Option<Instant>>,
}

/// What was read for a look.
pub(super) struct Looked {
    pub(super) look: Look,
    /// The pod that has the name now.
    pub(super) pod: Lookup<Seen>,
    /// The nodes of those it decides about.
    pub(super) nodes: HashMap<Box<str>, Arc<Lookup<Node>>>,
}

/// A CiliumEndpoint, as far as it is read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CiliumEndpoint {
    status: CiliumStatus,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct CiliumStatus {
    external_identifiers: CiliumIds,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct CiliumIds {
    container_id: String,
}

impl Live {
    pub(super) fn new(client: Client) -> Self {
        Live(Arc::new(Inner { client, nodes: Mutex::default(), no_cilium_until: Mutex::default() }))
    }

    /// Reads all that a look needs. It ends within [`LOOK_LIMIT`] and a little, whatever the API server does.
    pub(super) async fn look(self, look: Look) -> Looked {
        let nodes = look.nodes.iter().map(|name| self.node(name).map(|node| (name.clone(), node)));
        let (pod, nodes) = tokio::join!(self.pod(&look.place), join_all(nodes));
        let nodes: HashMap<_, _> = nodes.into_iter().collect();
        let pod = match pod {
            Lookup::Found(pod) => {
                let node = pod.spec.node_name.as_deref().and_then(|name| nodes.get(name)?.found());
                let cilium = self.cilium(&look.place).await;
                let boot_id = node.and_then(Node::boot_id);
                Lookup::Found(Seen::by(&Evidence { pod: &pod, boot_id, cilium: cilium.as_deref() }))
            }
            Lookup::Missing => Lookup::Missing,
            Lookup::Unknown(why) => Lookup::Unknown(why),
        };
        Looked { look, pod, nodes }
    }

    /// Reads the pod from the store itself (no resourceVersion: a cache of the API server's may be behind).
    async fn pod(&self, place: &Place) -> Lookup<Pod> {
        let path = format!("/api/v1/namespaces/{}/pods", place.namespace);
        lookup(&self.0.client, "pod", &path, &place.name).await
    }

    fn node(&self, name: &str) -> NodeRead {
        let mut nodes = self.0.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.retain(|_, (read, _)| read.elapsed() < NODE_FRESH);
        let read = || {
            let (client, name) = (self.0.client.clone(), name.to_owned());
            let read = async move { Arc::new(lookup::<Node>(&client, "node", "/api/v1/nodes", &name).await) };
            (Instant::now(), read.boxed().shared())
        };
        nodes.entry(name.into()).or_insert_with(read).1.clone()
    }

    /// The id of the pod's sandbox, by Cilium. It is no more than a help: whatever fails, the chain goes on without it.
    async fn cilium(&self, place: &Place) -> Option<String> {
        let is_absent = |until: &Option<Instant>| until.is_some_and(|until| Instant::now() < until);
        if is_absent(&self.0.no_cilium_until.lock().unwrap_or_else(PoisonError::into_inner)) {
            return None;
        }
        let path = format!("/apis/cilium.io/v2/namespaces/{}/ciliumendpoints", place.namespace);
        match read::<CiliumEndpoint>(&self.0.client, &path, &place.name, CILIUM_LIMIT).await {
            Ok(endpoint) => endpoint.map(|endpoint| endpoint.status.external_identifiers.container_id),
            Err(error) => {
                // Not served, or not ours to read: neither changes soon.
                if matches!(&error, ReadError::Api(status) if matches!(status.code, 403 | 404)) {
                    let mut until = self.0.no_cilium_until.lock().unwrap_or_else(PoisonError::into_inner);
                    *until = Some(Instant::now() + NO_CILIUM);
                }
                debug!(%error, "no CiliumEndpoint to tell sandboxes by");
                None
            }
        }
    }
}

async fn lookup<T: DeserializeOwned>(client: &Client, what: &str, path: &str, name: &str) -> Lookup<T> {
    match read(client, path, name, LOOK_LIMIT).await {
        Ok(Some(object)) => Lookup::Found(object),
        Ok(None) => Lookup::Missing,
        Err(error) => Lookup::Unknown(format!("{what} {name}: {error}")),
    }
}

async fn read<T: DeserializeOwned>(
    client: &Client,
    path: &str,
    name: &str,
    limit: Duration,
) -> Result<Option<T>, ReadError> {
    let text = get_text(client, path, name, limit).await?;
    text.map(|text| serde_json::from_str(&text).map_err(ReadError::Malformed)).transpose()
}
