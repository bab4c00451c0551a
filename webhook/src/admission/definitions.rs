//! Requests on CustomResourceDefinitions: C6.

use eno_shared::Lookup;
use eno_shared::admission::definition::{delete as judge, is_enos};
use eno_shared::admission::{Answer, Ground, Outcome};
use eno_shared::api::{DecodeError, Metadata};
use serde::Deserialize;

use super::{Evidence, Judged, Subject};
use crate::deadline::Deadline;
use crate::facts::Facts;
use crate::review::{Request, Undecodable};

/// The fields of a CustomResourceDefinition that say where its objects are; the schemas are skipped.
#[derive(Debug, Deserialize)]
pub(crate) struct Definition {
    pub(crate) metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Deserialize)]
struct Spec {
    group: String,
    names: Names,
    versions: Vec<Version>,
}

#[derive(Debug, Deserialize)]
struct Names {
    plural: String,
}

#[derive(Debug, Deserialize)]
struct Version {
    name: String,
    served: bool,
}

impl Definition {
    /// The path of all its objects, in a version that is served. Objects are the same in each.
    pub(crate) fn path(&self) -> Option<String> {
        let Spec { group, names, versions } = &self.spec;
        let version = versions.iter().find(|version| version.served)?;
        Some(format!("/apis/{group}/{}/{}", version.name, names.plural))
    }

    fn subject(&self) -> Subject {
        Subject::of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", &self.metadata)
    }
}

/// C6.
pub(super) async fn delete(request: &Request<'_>, facts: &Facts, deadline: Deadline) -> Result<Judged, Undecodable> {
    let definition: Definition = serde_json::from_str(request.old_text()?).map_err(DecodeError::Malformed)?;
    let name = &definition.metadata.name;
    if definition.metadata.is_deleting() {
        let answer = Answer {
            outcome: Outcome::Allow,
            ground: Ground::AlreadyDeleting,
            composition: None,
            message: format!("customresourcedefinition {name} is being deleted already"),
            warnings: vec![],
        };
        return Ok(Judged::new(definition.subject(), answer, Evidence::Review));
    }
    if !is_enos(name) {
        return Ok(Judged::new(definition.subject(), judge(name, &Lookup::Missing), Evidence::Review));
    }
    let instance = facts.instance_of(&definition, deadline).await;
    Ok(Judged::new(definition.subject(), judge(name, &instance), Evidence::Live))
}
