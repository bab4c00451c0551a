//! One request, two answers: what the policy says and what the webhook says.

use anyhow::{Context, Result, bail};
use eno_shared::names::{ENO_API_VERSION, HOOK_DOMAIN};
use eno_tests::replay::ask::{Ask, Change};
use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::client::Body;
use serde_json::Value;

use crate::POLICY;

/// The request, as a dry run; `None` where the slice has not what it takes away.
fn request(ask: Ask, slice: &DynamicObject) -> Result<Option<http::Request<Body>>> {
    let Some(change) = ask.change(slice) else { return Ok(None) };
    let namespace = slice.namespace().context("a slice has a namespace")?;
    let url = format!("/apis/{ENO_API_VERSION}/namespaces/{namespace}/resourceslices/{}?dryRun=All", slice.name_any());
    let request = match change {
        Change::Deletion => http::Request::delete(url).body(Body::empty())?,
        Change::Patch(patch) => http::Request::patch(url)
            .header("content-type", "application/merge-patch+json")
            .body(Body::from(patch.to_string().into_bytes()))?,
    };
    Ok(Some(request))
}

/// Both answers; `None` where the slice has not what it takes away.
///
/// # Errors
/// The request ended in another way than by an answer of these two.
pub async fn ask_both(ask: Ask, client: &kube::Client, slice: &DynamicObject) -> Result<Option<Answers>> {
    let Some(request) = request(ask, slice)? else { return Ok(None) };
    let response = client.send(request).await?;
    let status = response.status();
    // The policy only warns.
    let before = format!("Validation failed for ValidatingAdmissionPolicy '{POLICY}' with binding '{POLICY}': ");
    let warnings = response.headers().get_all("warning").iter().filter_map(|warning| warning.to_str().ok());
    let policy: Vec<_> =
        warnings.filter_map(|warning| Some(warning.split_once(&before)?.1.trim_end_matches('"').to_owned())).collect();
    let body: Value = serde_json::from_slice(&response.into_body().collect_bytes().await?)?;
    let said = body["message"].as_str().unwrap_or_default();
    let webhook = match status.as_u16() {
        200 => None,
        403 | 503 if said.contains(HOOK_DOMAIN) => {
            let (_, denial) = said.split_once("denied the request: ").context("a denial by the webhook")?;
            Some(denial.to_owned())
        }
        _ => bail!("{ask:?} of {}: {status} {body}", slice.name_any()),
    };
    Ok(Some(Answers { policy, webhook }))
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
