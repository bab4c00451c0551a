//! One request, two answers: what the policy says and what the webhook says.

use anyhow::{Context, Result, bail};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION, HOOK_DOMAIN};
use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::client::Body;
use serde_json::{Value, json};

use crate::POLICY;

/// What is asked of the API server about a slice, as a dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// C1: delete it.
    Delete,
    /// C2: take Eno's finalizer off.
    DropFinalizer,
    /// C2: take its composition away.
    DropOwner,
    /// C2: put another uid in the place of its composition's.
    ReplaceOwner,
}

impl Ask {
    pub const ALL: [Ask; 4] = [Ask::Delete, Ask::DropFinalizer, Ask::DropOwner, Ask::ReplaceOwner];

    /// The request; `None` where the slice has not what it takes away.
    fn request(self, slice: &DynamicObject) -> Result<Option<http::Request<Body>>> {
        let metadata = &slice.metadata;
        let finalizers = metadata.finalizers.clone().unwrap_or_default();
        let owners = metadata.owner_references.clone().unwrap_or_default();
        let is_composition = |kind: &str, controller: Option<bool>| kind == "Composition" && controller == Some(true);
        let has_owner = owners.iter().any(|owner| is_composition(&owner.kind, owner.controller));
        let patch = match self {
            Ask::Delete => None,
            Ask::DropFinalizer if finalizers.iter().any(|finalizer| finalizer == CLEANUP_FINALIZER) => {
                let left: Vec<_> = finalizers.into_iter().filter(|finalizer| finalizer != CLEANUP_FINALIZER).collect();
                Some(json!({"metadata": {"finalizers": left}}))
            }
            Ask::DropOwner if has_owner => {
                let left: Vec<_> =
                    owners.into_iter().filter(|owner| !is_composition(&owner.kind, owner.controller)).collect();
                Some(json!({"metadata": {"ownerReferences": left}}))
            }
            Ask::ReplaceOwner if has_owner => {
                let mut owners = owners;
                for owner in owners.iter_mut().filter(|owner| is_composition(&owner.kind, owner.controller)) {
                    owner.uid = "00000000-0000-4000-8000-00000000aaaa".into();
                }
                Some(json!({"metadata": {"ownerReferences": owners}}))
            }
            Ask::DropFinalizer | Ask::DropOwner | Ask::ReplaceOwner => return Ok(None),
        };
        let namespace = slice.namespace().context("a slice has a namespace")?;
        let url =
            format!("/apis/{ENO_API_VERSION}/namespaces/{namespace}/resourceslices/{}?dryRun=All", slice.name_any());
        let request = match patch {
            None => http::Request::delete(url).body(Body::empty())?,
            Some(patch) => http::Request::patch(url)
                .header("content-type", "application/merge-patch+json")
                .body(Body::from(patch.to_string().into_bytes()))?,
        };
        Ok(Some(request))
    }

    /// Both answers; `None` where the slice has not what it takes away.
    ///
    /// # Errors
    /// The request ended in another way than by an answer of these two.
    pub async fn of(self, client: &kube::Client, slice: &DynamicObject) -> Result<Option<Answers>> {
        let Some(request) = self.request(slice)? else { return Ok(None) };
        let response = client.send(request).await?;
        let status = response.status();
        // The policy only warns.
        let before = format!("Validation failed for ValidatingAdmissionPolicy '{POLICY}' with binding '{POLICY}': ");
        let warnings = response.headers().get_all("warning").iter().filter_map(|warning| warning.to_str().ok());
        let policy: Vec<_> = warnings
            .filter_map(|warning| Some(warning.split_once(&before)?.1.trim_end_matches('"').to_owned()))
            .collect();
        let body: Value = serde_json::from_slice(&response.into_body().collect_bytes().await?)?;
        let said = body["message"].as_str().unwrap_or_default();
        let webhook = match status.as_u16() {
            200 => None,
            403 | 503 if said.contains(HOOK_DOMAIN) => {
                let (_, denial) = said.split_once("denied the request: ").context("a denial by the webhook")?;
                Some(denial.to_owned())
            }
            _ => bail!("{self:?} of {}: {status} {body}", slice.name_any()),
        };
        Ok(Some(Answers { policy, webhook }))
    }
}

/// What was said to one request.
#[derive(Debug)]
pub struct Answers {
    /// The policy's denials, one for each composition that needs the slice. Empty: it lets the request pass.
    pub policy: Vec<String>,
    /// The webhook's denial.
    pub webhook: Option<String>,
}

impl Answers {
    /// The word in the webhook's denial: `ReferencedByCurrent`.
    pub fn reason(&self) -> &str {
        let denial = self.webhook.as_deref().unwrap_or_default();
        denial.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(reason, _)| reason)
    }
}
