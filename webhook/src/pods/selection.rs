//! Which pods are followed.

use std::collections::BTreeMap;

use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use eno_shared::pods::pod::Pod;
use eno_shared::pods::tracker::Scope;
use kube::core::Selector;

/// Which pods are followed: those that have all these labels, in these namespaces (all where none is named).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Labels; without any, all pods.
    pub labels: BTreeMap<String, String>,
    /// Namespaces.
    pub namespaces: Vec<String>,
}

impl Default for Selection {
    /// The pods of Eno's synthesizers.
    fn default() -> Self {
        Selection { labels: eno_labels(), namespaces: vec![] }
    }
}

/// The labels of the pods of Eno's synthesizers.
#[must_use]
pub fn eno_labels() -> BTreeMap<String, String> {
    [(MANAGED_BY_LABEL.to_owned(), MANAGED_BY_ENO.to_owned())].into()
}

impl Selection {
    /// Is it one of them?
    #[must_use]
    pub fn has(&self, pod: &Pod) -> bool {
        let labelled = self.labels.iter().all(|(key, value)| pod.metadata.label(key) == Some(value));
        labelled && self.covers(&pod.metadata.namespace)
    }

    /// Can one of them be in that namespace?
    #[must_use]
    pub fn covers(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.iter().any(|covered| covered == namespace)
    }

    /// What is watched: one watch each.
    #[must_use]
    pub fn scopes(&self) -> Vec<Scope> {
        match self.namespaces.as_slice() {
            [] => vec![None],
            some => some.iter().map(|namespace| Some(namespace.as_str().into())).collect(),
        }
    }

    /// The labels as the API server wants them.
    #[must_use]
    pub fn selector(&self) -> Selector {
        self.labels.clone().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_labels_and_one_namespace_must_match() {
        let pod = |labels: serde_json::Value, namespace: &str| -> Pod {
            serde_json::from_value(json!({"metadata": {"labels": labels, "namespace": namespace}})).unwrap()
        };
        let eno = || pod(json!({MANAGED_BY_LABEL: MANAGED_BY_ENO, "more": "x"}), "a");
        assert!(Selection::default().has(&eno()));
        assert!(!Selection::default().has(&pod(json!({}), "a")));
        assert!(!Selection::default().has(&pod(json!({MANAGED_BY_LABEL: "helm"}), "a")));
        let elsewhere = Selection { namespaces: vec!["b".into(), "c".into()], ..Selection::default() };
        assert!(!elsewhere.has(&eno()));
        assert_eq!(elsewhere.scopes().len(), 2);
        let all = Selection { labels: BTreeMap::new(), namespaces: vec![] };
        assert!(all.has(&pod(json!({}), "a")) && all.selector().selects_all());
        assert_eq!(Selection::default().selector().to_string(), "app.kubernetes.io/managed-by=eno");
    }
}
