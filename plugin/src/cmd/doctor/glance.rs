//! The webhook at a glance, for those who look again and again: what its configurations say, and no probes.

use jiff::SignedDuration;

use super::check::{Check, Outcome};
use super::id::Id;
use super::{Doctor, named, text, webhook};
use crate::cluster::Cluster;
use crate::output;

/// What is seen.
#[derive(Debug)]
pub(in crate::cmd) struct Glance {
    /// In a word.
    pub word: &'static str,
    /// Is nothing protected, or does nobody know?
    pub alarming: bool,
    /// All of it.
    pub lines: Vec<String>,
}

/// Looks at the hooks of a namespace, or of all.
pub(in crate::cmd) async fn glance(cluster: &Cluster, namespace: Option<&str>) -> Glance {
    let doctor = Doctor { cluster, namespace: namespace.map(str::to_owned), cert_warn: SignedDuration::ZERO };
    let labels = match namespace {
        Some(name) => Some(doctor.labels().await.remove(name).unwrap_or_else(|| named(name))),
        None => None,
    };
    let (word, checks) = match webhook::hooks(cluster, labels.as_ref()).await {
        Err(why) => ("unknown", vec![Check::skipped(Id::WebhookConfig, why)]),
        Ok(hooks) => {
            let mut checks = vec![webhook::configuration(&hooks, namespace)];
            if let Some(first) = hooks.first() {
                let (endpoint, _) = webhook::endpoint(cluster, first).await;
                checks.extend([webhook::policy(&hooks), endpoint]);
            }
            let is = |outcome| checks.iter().any(|check| check.outcome == outcome);
            let word = match () {
                () if hooks.is_empty() => "missing",
                () if is(Outcome::Failed) => "failing",
                () if is(Outcome::Warning) => "weakened",
                () => "ok",
            };
            (word, checks)
        }
    };
    let mut lines = text::lines(&checks, !output::speaks_unicode(), false);
    lines.extend([String::new(), "To see whether it works: kubectl eno doctor".to_owned()]);
    Glance { word, alarming: word != "ok", lines }
}
