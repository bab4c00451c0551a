//! The flags of the pods that are followed.

use std::time::Duration;

use clap::Args as Flags;

use super::{duration, label};
use crate::pods::selection::{Selection, eno_labels};

/// Which pods, by label: the same for those who follow and for those who are asked.
#[derive(Debug, Flags)]
pub(super) struct PodLabels {
    /// Follow pods with this label (can be repeated; all must match), and not those of Eno's synthesizers; nothing is all
    /// pods.
    #[arg(long = "pod-selector", value_name = "KEY=VALUE", value_parser = selector)]
    labels: Vec<Option<(String, String)>>,
}

impl PodLabels {
    pub(super) fn labels(&self) -> std::collections::BTreeMap<String, String> {
        match self.labels.as_slice() {
            [] => eno_labels(),
            some => some.iter().flatten().cloned().collect(),
        }
    }
}

#[derive(Debug, Flags)]
#[command(next_help_heading = "Pods that are followed to their end")]
pub(super) struct Pods {
    #[command(flatten)]
    labels: PodLabels,
    /// Follow pods of this namespace only (can be repeated).
    #[arg(long = "pod-namespace", value_name = "NAMESPACE")]
    namespaces: Vec<String>,
    /// Report a pod that is still there so long after it should have ended.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration)]
    pod_overdue_warning: Duration,
}

impl Pods {
    pub(super) fn selection(&self) -> Selection {
        Selection { labels: self.labels.labels(), namespaces: self.namespaces.clone() }
    }

    pub(super) fn overdue(&self) -> Duration {
        self.pod_overdue_warning
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
        assert_eq!(named.namespaces, ["n", "m"]);
        assert!(Cli::try_parse_from(["x", "--pod-selector=a"]).is_err());
    }
}
