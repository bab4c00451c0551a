//! Which pods are followed.

use std::collections::BTreeMap;

use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use eno_shared::pods::tracker::Scope;
use kube::core::Selector;

/// Which pods are followed: those that have all these labels, in these namespaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Labels; without any, all pods.
    pub labels: BTreeMap<String, String>,
    /// Namespaces.
    pub namespaces: Namespaces,
}

/// In which namespaces pods are followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Namespaces {
    /// In all.
    #[default]
    All,
    /// In those of these names.
    Named(Vec<String>),
    /// In those that have all these labels at the time.
    Labelled(BTreeMap<String, String>),
}

impl Default for Selection {
    /// The pods of Eno's synthesizers.
    fn default() -> Self {
        Selection { labels: eno_labels(), namespaces: Namespaces::All }
    }
}

/// The labels of the pods of Eno's synthesizers.
#[must_use]
pub fn eno_labels() -> BTreeMap<String, String> {
    [(MANAGED_BY_LABEL.to_owned(), MANAGED_BY_ENO.to_owned())].into()
}

impl Selection {
    /// What is watched from the beginning: one watch each.
    #[must_use]
    pub fn scopes(&self) -> Vec<Scope> {
        match &self.namespaces {
            Namespaces::All => vec![None],
            Namespaces::Named(names) => names.iter().map(|name| Some(name.as_str().into())).collect(),
            Namespaces::Labelled(_) => vec![],
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
    use super::*;

    #[test]
    fn there_is_one_watch_for_all_namespaces_or_one_for_each() {
        let scopes = |namespaces| Selection { namespaces, ..Selection::default() }.scopes();
        assert_eq!(scopes(Namespaces::All), [None]);
        assert_eq!(scopes(Namespaces::Named(vec!["b".into(), "c".into()])), [Some("b".into()), Some("c".into())]);
        assert!(scopes(Namespaces::Labelled(BTreeMap::new())).is_empty(), "they come with the namespaces");
    }

    #[test]
    fn labels_are_asked_for_all_together() {
        assert_eq!(Selection::default().selector().to_string(), "app.kubernetes.io/managed-by=eno");
        assert!(Selection { labels: BTreeMap::new(), ..Selection::default() }.selector().selects_all());
    }
}
