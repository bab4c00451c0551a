//! The Secret: read, and written as it was read.

use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};

use super::stored::Stored;
use crate::config::labels;

/// Field manager of the Secret and of the bundles.
pub(super) const MANAGER: &str = "eno-webhook-certificates";

/// The one Secret.
pub(super) struct Secrets {
    api: Api<Secret>,
    name: String,
}

/// What was found.
pub(super) enum Found {
    Missing,
    /// It does not hold what it should; and why not.
    Spoilt(Box<Secret>, String),
    Good(Box<Secret>, Box<Stored>),
}

impl Secrets {
    pub(super) fn new(client: Client, namespace: &str, name: &str) -> Self {
        Secrets { api: Api::namespaced(client, namespace), name: name.to_owned() }
    }

    pub(super) async fn read(&self) -> kube::Result<Found> {
        let Some(secret) = self.api.get_opt(&self.name).await? else { return Ok(Found::Missing) };
        Ok(match Stored::from_data(secret.data.as_ref().unwrap_or(&Default::default())) {
            Ok(stored) => Found::Good(Box::new(secret), Box::new(stored)),
            Err(why) => Found::Spoilt(Box::new(secret), format!("{why:#}")),
        })
    }

    /// Creates it, or replaces what it holds where it is still what was read. Returns whether it was: another may have been
    /// faster.
    pub(super) async fn write(&self, read: Option<Secret>, stored: &Stored) -> kube::Result<bool> {
        let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        let data = Some(stored.to_data());
        let written = match read {
            None => {
                let metadata =
                    ObjectMeta { name: Some(self.name.clone()), labels: Some(labels()), ..ObjectMeta::default() };
                let type_ = Some("kubernetes.io/tls".to_owned());
                self.api.create(&params, &Secret { metadata, data, type_, ..Secret::default() }).await
            }
            // Version, labels and type stay those that were read.
            Some(read) => self.api.replace(&self.name, &params, &Secret { data, ..read }).await,
        };
        match written {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
