//! One live read of all objects of a kind, page by page.

use std::borrow::Cow;
use std::time::Duration;

use kube::Client;
use kube::core::Request;
use kube::core::params::ListParams;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::read::{ReadError, within};
use crate::api::{Kind, Metadata, decode};
use crate::lookup::Lookup;

/// How many objects a page holds, unless the selection says otherwise: as kubectl asks for.
const PAGE: u32 = 500;

/// One object of a list.
#[derive(Debug, Clone)]
pub struct Listed<K> {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The object; `Unknown` where it does not decode, never left out.
    pub object: Lookup<K>,
}

/// Lists whole objects. `limit` is the time for one page.
///
/// # Errors
/// [`ReadError`]; the answer is all objects or none.
pub async fn list<K: Kind>(
    client: &Client,
    namespace: Option<&str>,
    selection: &ListParams,
    limit: Duration,
) -> Result<Vec<Listed<K>>, ReadError> {
    let request = Request::new(K::path(namespace));
    Ok(pages(client, |selection| request.list(selection), selection, limit, listed).await?.0)
}

/// Lists what is at a path as JSON, whole or metadata only, without `managedFields`; with the version that the list is of, at
/// which a watch goes on. `limit` is the time for one page.
///
/// # Errors
/// [`ReadError`]; the answer is all objects or none.
pub async fn list_json(
    client: &Client,
    path: &str,
    metadata_only: bool,
    selection: &ListParams,
    limit: Duration,
) -> Result<(Vec<serde_json::Value>, String), ReadError> {
    let request = Request::new(path);
    let build = |selection: &ListParams| {
        if metadata_only { request.list_metadata(selection) } else { request.list(selection) }
    };
    let item = |json: &str| {
        let mut object: serde_json::Value = serde_json::from_str(json)?;
        // They are most of it, and nobody reads them.
        object.get_mut("metadata").and_then(|metadata| metadata.as_object_mut()?.remove("managedFields"));
        Ok(object)
    };
    pages(client, build, selection, limit, item).await
}

/// Lists metadata only: the API server leaves out spec and status. `limit` is the time for one page.
///
/// # Errors
/// [`ReadError`]; the answer is all objects or none.
pub async fn list_metadata<K: Kind>(
    client: &Client,
    namespace: Option<&str>,
    selection: &ListParams,
    limit: Duration,
) -> Result<Vec<Metadata>, ReadError> {
    #[derive(Deserialize)]
    struct Partial {
        metadata: Metadata,
    }
    let request = Request::new(K::path(namespace));
    let item = |json: &str| serde_json::from_str(json).map(|Partial { metadata }| metadata);
    Ok(pages(client, |selection| request.list_metadata(selection), selection, limit, item).await?.0)
}

fn listed<K: Kind>(json: &str) -> serde_json::Result<Listed<K>> {
    #[derive(Deserialize)]
    struct Named {
        metadata: Identity,
    }
    #[derive(Deserialize)]
    struct Identity {
        name: String,
        #[serde(default)]
        namespace: String,
    }
    let Named { metadata: Identity { name, namespace } } = serde_json::from_str(json)?;
    let object = match decode(json.as_bytes()) {
        Ok(object) => Lookup::Found(object),
        Err(error) => Lookup::Unknown(format!("{} {name}: {error}", K::SINGULAR)),
    };
    Ok(Listed { namespace, name, object })
}

/// What lacks one of these is no list: an empty object would else be a whole list without items.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    metadata: PageMetadata,
    /// Go writes `null` for none.
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    items: Option<Vec<&'a RawValue>>,
}

impl<'a> Page<'a> {
    fn read(text: &'a str) -> serde_json::Result<Self> {
        let page: Self = serde_json::from_str(text)?;
        if page.kind.ends_with("List") {
            return Ok(page);
        }
        Err(serde::de::Error::custom(format_args!("a {} is no list", page.kind)))
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PageMetadata {
    r#continue: Option<String>,
    resource_version: String,
}

type BuiltRequest = Result<http::Request<Vec<u8>>, kube::core::request::Error>;

/// All items, and the version that they are of.
async fn pages<T>(
    client: &Client,
    build: impl Fn(&ListParams) -> BuiltRequest,
    selection: &ListParams,
    limit: Duration,
    item: impl Fn(&str) -> serde_json::Result<T>,
) -> Result<(Vec<T>, String), ReadError> {
    let mut selection = selection.clone();
    selection.limit.get_or_insert(PAGE);
    let mut items = vec![];
    loop {
        let request = build(&selection).map_err(kube::Error::BuildRequest)?;
        let text = match within(limit, client.request_text(request)).await {
            // The snapshot that the pages are of has expired: start again, in one piece.
            Err(ReadError::Api(status)) if status.code == 410 && selection.continue_token.is_some() => {
                items.clear();
                selection.continue_token = None;
                selection.limit = Some(0);
                continue;
            }
            answer => answer?,
        };
        let page = Page::read(&text).map_err(ReadError::Malformed)?;
        for raw in page.items.unwrap_or_default() {
            items.push(item(raw.get()).map_err(ReadError::Malformed)?);
        }
        selection.continue_token = page.metadata.r#continue.filter(|token| !token.is_empty());
        if selection.continue_token.is_none() {
            return Ok((items, page.metadata.resource_version));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_is_not_a_list_without_items() {
        for none in ["null", "[]"] {
            let page = format!(r#"{{"kind": "ResourceSliceList", "metadata": {{}}, "items": {none}}}"#);
            assert_eq!(Page::read(&page).unwrap().items.unwrap_or_default().len(), 0, "{page}");
        }
        for other in [
            "{}",
            r#"{"error": "login required"}"#,
            r#"{"kind": "Status", "metadata": {}, "items": []}"#,
            r#"{"kind": "ResourceSliceList", "metadata": {}}"#,
            r#"{"kind": "ResourceSliceList", "items": []}"#,
            r#"{"metadata": {}, "items": []}"#,
        ] {
            assert!(Page::read(other).is_err(), "{other}");
        }
    }
}
