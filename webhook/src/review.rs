//! The question: an AdmissionReview, parsed loosely. The objects in it stay text until a rule decodes them, strictly.
//!
//! A slice may be a megabyte and an update carries two, so nothing of an object is built that no rule reads. The types of
//! `kube::core::admission` build all of it.

use std::collections::BTreeMap;

use eno_shared::admission::composition::Propagation;
use eno_shared::api::{DecodeError, Kind, Metadata, decode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::hooks::Hook;

/// `apiVersion` of the reviews that are understood.
pub const API_VERSION: &str = "admission.k8s.io/v1";
/// `kind` of the reviews that are understood.
pub const KIND: &str = "AdmissionReview";

/// Why a body is not a question that can be answered.
#[derive(Debug, thiserror::Error)]
pub enum BadReview {
    /// There is no body.
    #[error("the body is empty; an {API_VERSION} {KIND} was expected")]
    Empty,
    /// It is cut short, or no JSON, or a field has the wrong type.
    #[error("the body is not an {API_VERSION} {KIND}: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is another kind, or another version.
    #[error("the body is {found}; an {API_VERSION} {KIND} was expected (admissionReviewVersions must be [\"v1\"])")]
    WrongKind {
        /// What it says it is.
        found: String,
    },
    /// It holds no request, or one without a uid.
    #[error("the {KIND} has no request with a uid")]
    NoRequest,
    /// The request belongs to another hook.
    #[error(
        "hook {hook} answers {expected}, and was asked about {found}: check the rules of the webhook configuration against `eno-webhook print-config`"
    )]
    WrongHook {
        /// The hook that was asked.
        hook: Hook,
        /// What it answers.
        expected: String,
        /// What it was asked.
        found: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(borrow, default)]
    request: Option<Request<'a>>,
}

/// The request under review.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request<'a> {
    /// Uid of this review; the answer echoes it.
    #[serde(default)]
    pub uid: String,
    /// The resource.
    #[serde(default)]
    pub resource: Resource,
    /// The subresource; empty for the object itself.
    #[serde(default)]
    pub sub_resource: Option<String>,
    /// The object's name; empty for `generateName`, and for each item of a deletecollection.
    #[serde(default)]
    pub name: String,
    /// The object's namespace.
    #[serde(default)]
    pub namespace: String,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    #[serde(default)]
    pub operation: String,
    /// Who asks.
    #[serde(default)]
    pub user_info: UserInfo,
    /// The object as it would be; `null` on DELETE.
    #[serde(borrow, default)]
    pub object: Option<&'a RawValue>,
    /// The object as it is; `null` on CREATE.
    #[serde(borrow, default)]
    pub old_object: Option<&'a RawValue>,
    /// Will nothing be stored?
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// Options of the operation.
    #[serde(default)]
    pub options: Option<Options>,
}

/// Group, version and plural.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Resource {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub resource: String,
}

/// The requester, as the API server knows them.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// The name.
    pub username: String,
    /// The uid, where the authenticator gives one.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
    /// What else the authenticator says.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The options of a deletion that are read; other operations have none of them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
}

/// Why the object of a review cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum Undecodable {
    /// The API server sent none.
    #[error("the review carries no {0}")]
    Absent(&'static str),
    /// It is not what its resource says.
    #[error("the object in the review does not decode: {0}")]
    Decode(#[from] DecodeError),
    /// It is not the one that the request is about: its namespace says where to read what decides.
    #[error("the object in the review is {namespace}/{name}, and not the one that the request names")]
    Another {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

/// Parses the body of a call to a hook.
///
/// # Errors
/// [`BadReview`]: nobody can answer that.
pub fn parse(hook: Hook, body: &[u8]) -> Result<Request<'_>, BadReview> {
    if body.is_empty() {
        return Err(BadReview::Empty);
    }
    let review: Review<'_> = serde_json::from_slice(body)?;
    if review.api_version != API_VERSION || review.kind != KIND {
        let found = match (review.api_version.as_str(), review.kind.as_str()) {
            ("", "") => "an object of no kind".to_owned(),
            (api_version, kind) => format!("of kind {api_version} {kind}"),
        };
        return Err(BadReview::WrongKind { found });
    }
    let request = review.request.filter(|request| !request.uid.is_empty()).ok_or(BadReview::NoRequest)?;
    request.belongs_to(hook)?;
    Ok(request)
}

impl Request<'_> {
    fn belongs_to(&self, hook: Hook) -> Result<(), BadReview> {
        let rule = hook.rule();
        let Resource { group, version, resource } = &self.resource;
        let subresource = self.sub_resource.as_deref().filter(|name| !name.is_empty());
        if (group.as_str(), version.as_str(), resource.as_str()) == (rule.group, rule.version, rule.resource)
            && subresource == rule.subresource
            && self.operation == rule.operation.as_str()
        {
            return Ok(());
        }
        let subresource = subresource.map_or(String::new(), |name| format!("/{name}"));
        Err(BadReview::WrongHook {
            hook,
            expected: format!("{} {}/{} {}", rule.operation.as_str(), rule.group, rule.version, rule.resources()),
            found: format!("{} {group}/{version} {resource}{subresource}", self.operation),
        })
    }

    /// Will nothing be stored?
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.dry_run.unwrap_or_default()
    }

    /// How the dependents of a deleted object are treated.
    #[must_use]
    pub fn propagation(&self) -> Propagation {
        let Some(options) = &self.options else { return Propagation::Background };
        match (options.propagation_policy.as_deref(), options.orphan_dependents) {
            (Some("Foreground"), _) => Propagation::Foreground,
            (Some("Orphan"), _) | (None, Some(true)) => Propagation::Orphan,
            (Some(_) | None, _) => Propagation::Background,
        }
    }

    /// The object as it is.
    ///
    /// # Errors
    /// [`Undecodable`].
    pub fn decode_old<K: Kind>(&self) -> Result<K, Undecodable> {
        let object: K = decode(self.old_text()?.as_bytes())?;
        let Metadata { namespace, name, .. } = object.metadata();
        // A deletecollection names none, and asks about each object.
        if *namespace == self.namespace && (self.name.is_empty() || *name == self.name) {
            return Ok(object);
        }
        Err(Undecodable::Another { namespace: namespace.clone(), name: name.clone() })
    }

    /// The object as it is, as text.
    ///
    /// # Errors
    /// [`Undecodable::Absent`].
    pub fn old_text(&self) -> Result<&str, Undecodable> {
        Ok(self.old_object.ok_or(Undecodable::Absent("oldObject"))?.get())
    }

    /// The object as it would be.
    ///
    /// # Errors
    /// [`Undecodable`].
    pub fn decode_new<K: Kind>(&self) -> Result<K, Undecodable> {
        Ok(decode(self.object.ok_or(Undecodable::Absent("object"))?.get().as_bytes())?)
    }
}
