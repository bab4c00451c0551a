//! What a service account may do, by the manifests, and what it did, by the audit log: the two should be the same.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Manifests, list, text};

/// One thing that may be done: a verb on a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// The role that grants it.
    pub role: String,
    /// In this namespace alone; in all without.
    pub namespace: Option<String>,
    /// API group.
    pub group: String,
    /// Plural.
    pub resource: String,
    /// To the object of this name alone; to all without.
    pub name: Option<String>,
    /// The verb.
    pub verb: String,
}

/// One request of the service account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    namespace: String,
    group: String,
    resource: String,
    name: String,
    verb: String,
    /// Did the authorizer let it pass?
    pub authorized: bool,
}

impl Right {
    /// Does the request make use of it?
    pub fn allows(&self, request: &Request) -> bool {
        self.namespace.as_ref().is_none_or(|namespace| *namespace == request.namespace)
            && self.name.as_ref().is_none_or(|name| *name == request.name)
            && (&self.group, &self.resource, &self.verb) == (&request.group, &request.resource, &request.verb)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}.{}", self.verb, self.resource, self.group)?;
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, " in {namespace}")?;
        }
        write!(f, " (role {})", self.role)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { namespace, group, resource, name, verb, .. } = self;
        write!(f, "{verb} {resource}.{group} {name:?} in {namespace:?}")
    }
}

/// What the roles grant to the service account of the Deployment.
///
/// # Errors
/// A binding names a role that is not there, or another account.
pub fn granted(manifests: &Manifests) -> Result<BTreeSet<Right>> {
    let account = manifests.only("ServiceAccount")?;
    let mut rights = BTreeSet::new();
    for (binding_kind, role_kinds) in
        [("ClusterRoleBinding", &["ClusterRole"][..]), ("RoleBinding", &["Role", "ClusterRole"])]
    {
        for binding in manifests.of(binding_kind) {
            let [subject] = list(binding, "/subjects") else { bail!("not one subject: {binding}") };
            let is_ours = subject["kind"] == "ServiceAccount"
                && subject["name"] == account["metadata"]["name"]
                && subject["namespace"] == account["metadata"]["namespace"];
            if !is_ours {
                bail!("a right for another: {binding}");
            }
            let (kind, name) = (text(binding, "/roleRef/kind")?, text(binding, "/roleRef/name")?);
            let role = role_kinds
                .iter()
                .filter(|role_kind| **role_kind == kind)
                .flat_map(|kind| manifests.of(kind))
                .find(|role| {
                    role["metadata"]["name"] == name
                        && role["metadata"]["namespace"] == binding["metadata"]["namespace"]
                })
                .with_context(|| format!("{binding_kind} {name} binds no role of the manifests"))?;
            rights.extend(rules(role)?);
        }
    }
    Ok(rights)
}

fn rules(role: &Value) -> Result<Vec<Right>> {
    let words = |rule: &Value, field: &str| -> Result<Vec<String>> {
        let words = list(rule, field).iter().map(|word| word.as_str().map(str::to_owned).context("a text"));
        words.collect()
    };
    let mut rights = vec![];
    for rule in list(role, "/rules") {
        let names = words(rule, "/resourceNames")?;
        let names = if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
        for group in words(rule, "/apiGroups")? {
            for resource in words(rule, "/resources")? {
                for verb in words(rule, "/verbs")? {
                    for name in &names {
                        rights.push(Right {
                            role: text(role, "/metadata/name")?.to_owned(),
                            namespace: role["metadata"]["namespace"].as_str().map(str::to_owned),
                            group: group.clone(),
                            resource: resource.clone(),
                            name: name.clone(),
                            verb: verb.clone(),
                        });
                    }
                }
            }
        }
    }
    Ok(rights)
}

/// What the service account of the Deployment has asked the API server so far.
///
/// # Errors
/// There is no audit log.
pub fn used(audit_log: &Path, manifests: &Manifests) -> Result<BTreeSet<Request>> {
    let account = manifests.only("ServiceAccount")?;
    let (namespace, name) = (text(account, "/metadata/namespace")?, text(account, "/metadata/name")?);
    let user = format!("system:serviceaccount:{namespace}:{name}");
    let log = fs::read_to_string(audit_log).with_context(|| format!("reading {}", audit_log.display()))?;
    // The last line may be half written.
    let all = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(all.filter(|event| event["user"]["username"] == user).map(|event| request(&event)).collect())
}

fn request(event: &Value) -> Request {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let object = &event["objectRef"];
    let resource = match object["subresource"].as_str() {
        Some(subresource) => format!("{}/{subresource}", text(&object["resource"])),
        None => text(&object["resource"]),
    };
    Request {
        namespace: text(&object["namespace"]),
        group: text(&object["apiGroup"]),
        resource,
        name: text(&object["name"]),
        verb: text(&event["verb"]),
        authorized: event["annotations"]["authorization.k8s.io/decision"] != "forbid",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifests() -> Manifests {
        let metadata = json!({"name": "reads", "namespace": "ours"});
        let objects = vec![
            json!({"kind": "ServiceAccount", "metadata": {"name": "webhook", "namespace": "ours"}}),
            json!({"kind": "Role", "metadata": metadata, "rules": [
                {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"], "verbs": ["get", "update"]},
            ]}),
            json!({
                "kind": "RoleBinding", "metadata": metadata, "roleRef": {"kind": "Role", "name": "reads"},
                "subjects": [{"kind": "ServiceAccount", "name": "webhook", "namespace": "ours"}],
            }),
        ];
        Manifests { dir: "".into(), objects }
    }

    fn asked(verb: &str, namespace: &str, name: &str, decision: &str) -> Value {
        json!({
            "verb": verb, "user": {"username": "system:serviceaccount:ours:webhook"},
            "objectRef": {"resource": "secrets", "namespace": namespace, "name": name},
            "annotations": {"authorization.k8s.io/decision": decision},
        })
    }

    #[test]
    fn a_right_is_used_by_the_same_verb_on_the_same_object_alone() {
        let granted = granted(&manifests()).unwrap();
        let shown: Vec<_> = granted.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["get secrets. one in ours (role reads)", "update secrets. one in ours (role reads)"]);
        let [get, _] = &granted.iter().collect::<Vec<_>>()[..] else { panic!("{granted:?}") };
        assert!(get.allows(&request(&asked("get", "ours", "one", "allow"))));
        for other in [("update", "ours", "one"), ("get", "theirs", "one"), ("get", "ours", "two"), ("get", "ours", "")]
        {
            assert!(!get.allows(&request(&asked(other.0, other.1, other.2, "allow"))), "{other:?}");
        }
    }

    #[test]
    fn the_log_is_read_for_this_account_and_shows_what_was_refused() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("audit.log");
        let mut other = asked("get", "ours", "two", "allow");
        other["user"]["username"] = json!("admin");
        let lines = [asked("get", "ours", "one", "allow"), asked("list", "ours", "", "forbid"), other];
        std::fs::write(&log, lines.map(|line| line.to_string()).join("\n") + "\n{\"half\":").unwrap();
        let used = used(&log, &manifests()).unwrap();
        let refused: Vec<_> = used.iter().filter(|request| !request.authorized).map(ToString::to_string).collect();
        assert_eq!((used.len(), refused), (2, vec!["list secrets. \"\" in \"ours\"".to_owned()]));
    }
}
