//! The webhook configurations: written here and nowhere else, with every field that the API server would default.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use eno_shared::names::WEBHOOK_NAME;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MatchCondition, MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ServiceReference,
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};

use crate::hooks::{Hook, OnFailure, Rule};

/// Where the API server finds the webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// By URL, to which the hook's path is added.
    Url(String),
    /// By Service.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Its port.
        port: i32,
    },
}

/// What the configurations are written for.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name of both configurations.
    pub name: String,
    /// Where the webhook is.
    pub target: Target,
    /// Who signed its certificate, in PEM; without, the API server's own trust decides, or someone fills it in.
    pub ca: Option<Vec<u8>>,
    /// Labels of the namespaces whose objects are guarded; all namespaces where there are none.
    pub namespaces: BTreeMap<String, String>,
    /// Labels of the pods that are followed; all pods where there are none.
    pub pods: BTreeMap<String, String>,
    /// Labels of the namespaces whose pods are followed; where there are none, those of [`Config::namespaces`].
    pub pod_namespaces: BTreeMap<String, String>,
}

impl Config {
    /// The configuration that only looks.
    #[must_use]
    pub fn validating(&self) -> ValidatingWebhookConfiguration {
        let webhooks = Hook::ALL.into_iter().filter(|hook| !hook.mutates()).map(|hook| self.validate(hook));
        ValidatingWebhookConfiguration { metadata: self.metadata(), webhooks: Some(webhooks.collect()) }
    }

    /// The configuration that changes objects.
    #[must_use]
    pub fn mutating(&self) -> MutatingWebhookConfiguration {
        let webhooks = Hook::ALL.into_iter().filter(|hook| hook.mutates()).map(|hook| self.mutate(hook));
        MutatingWebhookConfiguration { metadata: self.metadata(), webhooks: Some(webhooks.collect()) }
    }

    /// Both, as YAML to apply.
    ///
    /// # Errors
    /// Never in practice: the objects can all be written.
    pub fn yaml(&self) -> Result<String> {
        let validating = serde_saphyr::to_string(&self.validating()).context("writing the configuration")?;
        let mutating = serde_saphyr::to_string(&self.mutating()).context("writing the configuration")?;
        Ok(format!("{}---\n{}", with_newline(validating), with_newline(mutating)))
    }

    fn metadata(&self) -> ObjectMeta {
        ObjectMeta { name: Some(self.name.clone()), labels: Some(labels()), ..ObjectMeta::default() }
    }

    fn validate(&self, hook: Hook) -> ValidatingWebhook {
        let rule = hook.rule();
        ValidatingWebhook {
            admission_review_versions: vec!["v1".into()],
            client_config: self.client(hook),
            failure_policy: Some(failure_policy(&rule)),
            match_conditions: conditions(&rule),
            match_policy: Some("Equivalent".into()),
            name: hook.full_name(),
            namespace_selector: Some(self.namespace_selector(hook, &rule)),
            object_selector: Some(self.object_selector(hook)),
            rules: Some(vec![rules(&rule)]),
            side_effects: side_effects(hook),
            timeout_seconds: Some(timeout(hook, &rule)),
        }
    }

    fn mutate(&self, hook: Hook) -> MutatingWebhook {
        let rule = hook.rule();
        MutatingWebhook {
            admission_review_versions: vec!["v1".into()],
            client_config: self.client(hook),
            failure_policy: Some(failure_policy(&rule)),
            match_conditions: conditions(&rule),
            match_policy: Some("Equivalent".into()),
            name: hook.full_name(),
            namespace_selector: Some(self.namespace_selector(hook, &rule)),
            object_selector: Some(self.object_selector(hook)),
            reinvocation_policy: Some("IfNeeded".into()),
            rules: Some(vec![rules(&rule)]),
            side_effects: side_effects(hook),
            timeout_seconds: Some(timeout(hook, &rule)),
        }
    }

    fn client(&self, hook: Hook) -> WebhookClientConfig {
        let ca_bundle = self.ca.clone().map(ByteString);
        match &self.target {
            Target::Url(url) => WebhookClientConfig {
                ca_bundle,
                url: Some(format!("{}{}", url.trim_end_matches('/'), hook.path())),
                service: None,
            },
            Target::Service { namespace, name, port } => WebhookClientConfig {
                ca_bundle,
                url: None,
                service: Some(ServiceReference {
                    namespace: namespace.clone(),
                    name: name.clone(),
                    path: Some(hook.path()),
                    port: Some(*port),
                }),
            },
        }
    }

    /// Other pods are not even asked about. An eviction has not the labels of its pod, so all are: they are few.
    fn object_selector(&self, hook: Hook) -> LabelSelector {
        let labels = Some(self.pods.clone()).filter(|labels| hook == Hook::PodsDelete && !labels.is_empty());
        LabelSelector { match_labels: labels, match_expressions: None }
    }

    fn namespace_selector(&self, hook: Hook, rule: &Rule) -> LabelSelector {
        let of_pods = hook.is_of_pods() && !self.pod_namespaces.is_empty();
        let labels = if of_pods { &self.pod_namespaces } else { &self.namespaces };
        let labels = Some(labels.clone()).filter(|labels| rule.namespaced && !labels.is_empty());
        LabelSelector { match_labels: labels, match_expressions: None }
    }
}

/// The labels of all that is ours.
pub(crate) fn labels() -> BTreeMap<String, String> {
    [("app.kubernetes.io/name", WEBHOOK_NAME), ("app.kubernetes.io/part-of", "kubectl-eno")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

fn failure_policy(rule: &Rule) -> String {
    match rule.on_failure {
        OnFailure::Fail => "Fail".into(),
        OnFailure::Ignore => "Ignore".into(),
    }
}

/// Seconds. What passes anyway should not wait long for a webhook that is away, and pods least of all.
fn timeout(hook: Hook, rule: &Rule) -> i32 {
    match rule.on_failure {
        OnFailure::Ignore if hook.is_of_pods() => 1,
        OnFailure::Fail => 5,
        OnFailure::Ignore => 3,
    }
}

fn side_effects(hook: Hook) -> String {
    if hook.has_side_effects() { "NoneOnDryRun".into() } else { "None".into() }
}

fn conditions(rule: &Rule) -> Option<Vec<MatchCondition>> {
    let (name, expression) = rule.condition.clone()?;
    Some(vec![MatchCondition { name: name.to_owned(), expression }])
}

fn rules(rule: &Rule) -> RuleWithOperations {
    RuleWithOperations {
        api_groups: Some(vec![rule.group.to_owned()]),
        api_versions: Some(vec![rule.version.to_owned()]),
        operations: Some(vec![rule.operation.as_str().to_owned()]),
        resources: Some(vec![rule.resources()]),
        scope: Some(if rule.namespaced { "Namespaced".into() } else { "Cluster".into() }),
    }
}

fn with_newline(text: String) -> String {
    if text.ends_with('\n') { text } else { text + "\n" }
}
