//! Row C6: the deletion of a CustomResourceDefinition of Eno's.

use super::{Answer, Ground};
use crate::lookup::Lookup;
use crate::names::ENO_GROUP;

/// C6: may the CRD `name` be deleted? Its instances would be removed without any admission.
///
/// `instance` is one object of the kind, `namespace/name`, from a live list.
#[must_use]
pub fn delete(name: &str, instance: &Lookup<String>) -> Answer {
    let object = format!("customresourcedefinition {name}");
    if !is_enos(name) {
        return Answer::allow(Ground::NotGuarded, format!("{object} is not of {ENO_GROUP}"));
    }
    match instance {
        Lookup::Found(instance) => {
            let message = format!(
                "{object} must stay (ObjectsExist): {instance} exists, and would be removed with no check. Next: kubectl get {name} -A"
            );
            Answer::deny(Ground::ObjectsExist, message)
        }
        Lookup::Missing => Answer::allow(Ground::NoObjects, format!("{object} has no objects")),
        Lookup::Unknown(why) => Answer::retry(Ground::EvidenceUnknown, &object, why),
    }
}

/// Is it a CRD of Eno's group? A CRD is named `PLURAL.GROUP`.
#[must_use]
pub fn is_enos(name: &str) -> bool {
    name.split_once('.').is_some_and(|(_, group)| group == ENO_GROUP)
}
