//! The compositions that decide, read live and shared by the slices of a namespace.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::Compositions;
use eno_shared::api::Composition;
use eno_shared::client::{self, ReadError};
use kube::core::params::ListParams;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::cluster::Cluster;

/// For how long what was read may be acted on: as long as the webhook's controllers do.
const FRESH: Duration = Duration::from_secs(2);

type Last = Mutex<Option<(Instant, Arc<Compositions>)>>;

/// What was read last of each namespace.
pub(super) struct Live<'a> {
    cluster: &'a Cluster,
    namespaces: BTreeMap<String, Last>,
}

impl<'a> Live<'a> {
    /// Of these namespaces.
    pub fn new<'n>(cluster: &'a Cluster, namespaces: impl Iterator<Item = &'n str>) -> Self {
        Live { cluster, namespaces: namespaces.map(|name| (name.to_owned(), Last::default())).collect() }
    }

    /// The compositions of a namespace, all of them, as of a moment ago.
    ///
    /// # Errors
    /// They cannot be listed. Then nothing may be written.
    pub async fn compositions(&self, namespace: &str) -> Result<Arc<Compositions>, ReadError> {
        let last = self.namespaces.get(namespace);
        let Some(last) = last else { return self.read(namespace).await };
        let mut last = last.lock().await;
        match &*last {
            Some((read, compositions)) if read.elapsed() <= FRESH => Ok(Arc::clone(compositions)),
            Some(_) | None => {
                let before = Instant::now();
                let compositions = self.read(namespace).await?;
                *last = Some((before, Arc::clone(&compositions)));
                Ok(compositions)
            }
        }
    }

    async fn read(&self, namespace: &str) -> Result<Arc<Compositions>, ReadError> {
        let Cluster { client, timeout, .. } = self.cluster;
        let all = client::list::<Composition>(client, Some(namespace), &ListParams::default(), *timeout).await?;
        let found = all.into_iter().map(|listed| (listed.name, listed.object.map(Arc::new)));
        Ok(Arc::new(Compositions::whole(found)))
    }
}
