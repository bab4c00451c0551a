//! The flags of the pods that are followed.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Args as Flags, value_parser};

use super::control::positive;
use super::{duration, label};
use crate::pods::outbox::Limits;
use crate::pods::selection::{Namespaces, Selection, eno_labels};

/// Which pods, by labels: the same for those who follow and for those who are asked.
#[derive(Debug, Flags)]
pub(super) struct PodLabels {
    /// Follow pods with this label (can be repeated; all must match), and not those of Eno's synthesizers; nothing is all
    /// pods.
    #[arg(long = "pod-selector", value_name = "KEY=VALUE", value_parser = selector)]
    labels: Vec<Option<(String, String)>>,
    /// Follow pods of namespaces with this label only, while they have it (can be repeated; all must match).
    #[arg(long = "pod-namespace-selector", value_name = "KEY=VALUE", value_parser = label)]
    namespace_labels: Vec<(String, String)>,
}

impl PodLabels {
    pub(super) fn labels(&self) -> BTreeMap<String, String> {
        match self.labels.as_slice() {
            [] => eno_labels(),
            some => some.iter().flatten().cloned().collect(),
        }
    }

    pub(super) fn namespace_labels(&self) -> BTreeMap<String, String> {
        self.namespace_labels.iter().cloned().collect()
    }
}

#[derive(Debug, Flags)]
#[command(next_help_heading = "Pods that are followed to their end")]
pub(super) struct Pods {
    #[command(flatten)]
    labels: PodLabels,
    /// Follow pods of this namespace only (can be repeated).
    #[arg(long = "pod-namespace", value_name = "NAMESPACE", conflicts_with = "namespace_labels")]
    namespaces: Vec<String>,
    /// Report a pod that is still there so long after it should have ended.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration)]
    pod_overdue_warning: Duration,
    /// Keep what must outlive the process in so many ConfigMaps of 256 KiB at most.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().shards, value_parser = value_parser!(u16).range(1..))]
    pod_outbox_shards: u16,
    /// Look for no further ends while so many are undelivered.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().undelivered, value_parser = positive)]
    pod_undelivered_limit: usize,
}

impl Pods {
    pub(super) fn selection(&self) -> Selection {
        let namespaces = match (self.namespaces.as_slice(), self.labels.namespace_labels()) {
            ([], labels) if labels.is_empty() => Namespaces::All,
            ([], labels) => Namespaces::Labelled(labels),
            (names, _) => Namespaces::Named(names.to_vec()),
        };
        Selection { labels: self.labels.labels(), namespaces }
    }

    pub(super) fn overdue(&self) -> Duration {
        self.pod_overdue_warning
    }

    pub(super) fn limits(&self) -> Limits {
        Limits { shards: self.pod_outbox_shards, undelivered: self.pod_undelivered_limit }
    }
}

fn selector(text: &str) -> Result<Option<(String, String)>, String> {
    if text.is_empty() { Ok(None) } else { label(text).map(Some) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        pods: Pods,
    }

    fn selection(flags: &[&str]) -> Selection {
        Cli::try_parse_from(["x"].iter().chain(flags)).map_err(|error| error.to_string()).unwrap().pods.selection()
    }

    #[test]
    fn pods_of_synthesizers_are_followed_unless_others_are_named() {
        assert_eq!(selection(&[]), Selection::default());
        assert_eq!(selection(&["--pod-selector="]).labels.len(), 0);
        let named = selection(&["--pod-selector=a=b", "--pod-selector=c=", "--pod-namespace=n", "--pod-namespace=m"]);
        assert_eq!(named.selector().to_string(), "a=b,c=");
        assert_eq!(named.namespaces, Namespaces::Named(vec!["n".into(), "m".into()]));
        assert!(Cli::try_parse_from(["x", "--pod-selector=a"]).is_err());
    }

    #[test]
    fn namespaces_are_chosen_by_name_or_by_label_and_not_by_both() {
        let labelled = selection(&["--pod-namespace-selector=team=a", "--pod-namespace-selector=b="]).namespaces;
        let labels = [("team", "a"), ("b", "")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(labelled, Namespaces::Labelled(labels.into()));
        let both = ["x", "--pod-namespace=n", "--pod-namespace-selector=a=b"];
        let refused = Cli::try_parse_from(both).map(drop).unwrap_err().to_string();
        assert!(refused.contains("cannot be used with"), "{refused}");
        assert!(Cli::try_parse_from(["x", "--pod-namespace-selector="]).is_err(), "that would be all: leave it out");
    }
}
