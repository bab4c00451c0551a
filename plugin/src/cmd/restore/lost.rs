//! Is a saved slice lost, and does its composition wait for it?

use eno_shared::api::{Composition, Kind, ResourceSlice};
use eno_shared::client::{self, ReadError};
use eno_shared::usage::{is_finished, lists};
use kube::core::Request;
use kube::core::params::{GetParams, ListParams};
use serde_json::Value;

use super::saved::Saved;
use crate::cluster::{Cluster, goes_into_url};
use crate::failure::Failure;

/// What a saved slice is in the cluster.
pub(super) enum Found {
    /// It is lost, and may be made again.
    Lost(Lost),
    /// It exists.
    Present,
    /// It must not be made again, for this reason.
    Refused(String),
}

/// A slice to be made again.
pub(super) struct Lost {
    pub namespace: String,
    pub name: String,
    pub object: Value,
    composition: String,
    which: &'static str,
    resources: usize,
}

impl Lost {
    /// What will be done.
    pub fn says(&self) -> String {
        let Lost { namespace, name, composition, which, resources, .. } = self;
        format!(
            "This makes slice {namespace}/{name} again, with {resources} resources: the {which} synthesis of composition \
             {composition} lists it, and it does not exist"
        )
    }
}

/// Looks it up.
///
/// # Errors
/// Something that decides cannot be read.
pub(super) async fn of(saved: &Saved, cluster: &Cluster) -> Result<Found, Failure> {
    let Cluster { client, timeout, host, .. } = cluster;
    let (namespace, name) = (saved.namespace.as_str(), saved.name.as_str());
    goes_into_url("namespace", namespace)?;
    goes_into_url("resource name", name)?;
    if saved.is_cut {
        return Ok(Found::Refused(
            "its manifests were cut: Eno could not tell what to delete (see snapshot --full)".into(),
        ));
    }
    let slice = client::get::<ResourceSlice>(client, Some(namespace), name, *timeout).await;
    if slice.map_err(|error| Failure::read::<ResourceSlice>(&error, host))?.is_some() {
        return Ok(Found::Present);
    }
    if terminating(namespace, cluster).await? {
        return Ok(Found::Refused(format!("namespace {namespace} is being deleted, and nothing can be made there")));
    }
    let failed = |error: ReadError| Failure::read::<Composition>(&error, host);
    let composition = match &saved.owner {
        Some(owner) => client::get::<Composition>(client, Some(namespace), owner, *timeout).await.map_err(failed)?,
        // A slice that had lost its owner: whoever lists it.
        None => {
            let all = client::list::<Composition>(client, Some(namespace), &ListParams::default(), *timeout).await;
            let mut found = all.map_err(failed)?.into_iter().filter_map(|listed| listed.object.found().cloned());
            found.find(|composition| which(composition, name).is_some())
        }
    };
    let Some(composition) = composition else {
        return Ok(Found::Refused(match &saved.owner {
            Some(owner) => format!("its composition {owner} does not exist"),
            None => "no composition lists it".to_owned(),
        }));
    };
    let shown = composition.resource_name();
    if is_finished(&composition) {
        return Ok(Found::Refused(format!("Eno has finished deleting {shown}, and nobody would let the slice go")));
    }
    let Some(which) = which(&composition, name) else {
        return Ok(Found::Refused(format!("no synthesis of {shown} lists it")));
    };
    Ok(Found::Lost(Lost {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        object: saved.object(&composition),
        composition: composition.metadata.name.clone(),
        which,
        resources: saved.resources(),
    }))
}

/// Which synthesis lists the slice.
fn which(composition: &Composition, slice: &str) -> Option<&'static str> {
    let status = &composition.status;
    let listed = [("current", &status.current_synthesis), ("previous", &status.previous_synthesis)];
    let found = listed.into_iter().find(|(_, synthesis)| synthesis.as_ref().is_some_and(|it| lists(it, slice)));
    found.map(|(which, _)| which)
}

/// Is the namespace being deleted? Who may not read it is told by the server, which makes nothing there.
async fn terminating(namespace: &str, cluster: &Cluster) -> Result<bool, Failure> {
    let Cluster { client, timeout, host, .. } = cluster;
    let request = Request::new("/api/v1/namespaces").get(namespace, &GetParams::default()).map_err(Failure::local)?;
    let read = tokio::time::timeout(*timeout, client.request::<Value>(request)).await;
    match read.map_err(|_| ReadError::TimedOut(*timeout)).and_then(|read| Ok(read?)) {
        Ok(namespace) => Ok(namespace["metadata"]["deletionTimestamp"].is_string()),
        Err(ReadError::Api(status)) if status.code == 403 => Ok(false),
        Err(ReadError::Api(status)) if status.code == 404 => {
            Err(Failure::verbatim(format!("Error from server (NotFound): namespaces \"{namespace}\" not found")))
        }
        Err(error) => Err(Failure::read::<ResourceSlice>(&error, host)),
    }
}
