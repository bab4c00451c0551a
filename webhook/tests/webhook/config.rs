//! What `print-config` prints.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use eno_webhook::config::{Config, Target};
use eno_webhook::hooks::{Hook, OnFailure};
use eno_webhook::pods::selection::eno_labels;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhook;

fn config(target: Target) -> Config {
    Config {
        name: "eno-webhook".into(),
        target,
        ca: Some(b"CA".to_vec()),
        namespaces: BTreeMap::new(),
        pods: eno_labels(),
        pod_namespaces: BTreeMap::new(),
    }
}

fn by_service() -> Config {
    config(Target::Service { namespace: "eno-webhook-system".into(), name: "eno-webhook".into(), port: 443 })
}

fn validating(config: &Config) -> Vec<ValidatingWebhook> {
    config.validating().webhooks.unwrap()
}

/// To accept a change: `cargo xtask manifests`.
#[test]
fn is_what_the_manifests_have() {
    let manifests = include_str!("../../../manifests/base/webhooks.yaml");
    let printed = Config { ca: None, ..by_service() }.yaml().unwrap();
    assert_eq!(printed, manifests, "hint: `cargo xtask manifests` writes them anew");
}

#[test]
fn an_authority_goes_into_each_webhook() {
    let printed = by_service().yaml().unwrap();
    assert_eq!(printed.matches("\n    caBundle: Q0E=\n").count(), Hook::ALL.len());
}

#[test]
fn has_each_hook_once() {
    let config = by_service();
    let mutating = config.mutating().webhooks.unwrap().into_iter().map(|webhook| webhook.name);
    let names: Vec<_> = validating(&config).into_iter().map(|webhook| webhook.name).chain(mutating).collect();
    assert_eq!(names.len(), Hook::ALL.len());
    assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), Hook::ALL.map(Hook::full_name).into());
}

#[test]
fn only_requests_on_eno_can_be_stopped_by_a_webhook_that_is_away() {
    for hook in Hook::ALL {
        let rule = hook.rule();
        if rule.on_failure == OnFailure::Fail && rule.group != "eno.azure.io" {
            let (_, condition) = rule.condition.expect("a condition that narrows it down to Eno");
            assert!(condition.contains(".eno.azure.io'"), "{hook}: {condition}");
        }
    }
}

#[test]
fn pods_are_chosen_by_their_labels_and_never_wait_long() {
    let labels = BTreeMap::from([("some".to_owned(), "label".to_owned())]);
    let config = Config { pods: labels.clone(), ..by_service() };
    let of_pods: Vec<_> = validating(&config).into_iter().filter(|webhook| webhook.name.starts_with("pods-")).collect();
    assert_eq!(of_pods.len(), 2);
    for webhook in of_pods {
        assert_eq!(webhook.failure_policy.as_deref(), Some("Ignore"));
        assert_eq!(webhook.timeout_seconds, Some(1));
        assert_eq!(webhook.side_effects, "NoneOnDryRun");
        // What is asked about of an eviction is the eviction, which has no labels.
        let is_delete = webhook.name.starts_with("pods-delete");
        assert_eq!(webhook.object_selector.unwrap().match_labels, is_delete.then(|| labels.clone()));
    }
    let others = validating(&config).into_iter().filter(|webhook| !webhook.name.starts_with("pods-"));
    others.for_each(|webhook| assert_eq!(webhook.object_selector.unwrap().match_labels, None, "{}", webhook.name));
}

#[test]
fn a_url_gets_the_path_of_the_hook() {
    for url in ["https://127.0.0.1:9443", "https://127.0.0.1:9443/"] {
        let first = validating(&config(Target::Url(url.into()))).remove(0);
        assert_eq!(first.client_config.url.as_deref(), Some("https://127.0.0.1:9443/slices-delete"));
        assert!(first.client_config.service.is_none());
    }
}

#[test]
fn a_namespace_selector_narrows_all_that_is_in_a_namespace() {
    let labels = BTreeMap::from([("kubernetes.io/metadata.name".to_owned(), "t1".to_owned())]);
    let config = Config { namespaces: labels.clone(), ..by_service() };
    for webhook in validating(&config) {
        let selected = webhook.namespace_selector.unwrap().match_labels;
        let is_cluster_wide = webhook.name.starts_with("definitions");
        assert_eq!(selected, (!is_cluster_wide).then(|| labels.clone()), "{}", webhook.name);
    }
}

#[test]
fn pods_can_be_chosen_in_other_namespaces_than_those_that_are_guarded() {
    let [guarded, followed] = ["guarded", "followed"].map(|value| BTreeMap::from([("k".to_owned(), value.to_owned())]));
    let config = Config { namespaces: guarded.clone(), pod_namespaces: followed.clone(), ..by_service() };
    for webhook in validating(&config).into_iter().filter(|webhook| !webhook.name.starts_with("definitions")) {
        let expected = if webhook.name.starts_with("pods-") { &followed } else { &guarded };
        assert_eq!(webhook.namespace_selector.unwrap().match_labels.as_ref(), Some(expected), "{}", webhook.name);
    }
}

fn print_config(args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_eno-webhook")).arg("print-config").args(args).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.success(), text)
}

#[test]
fn the_command_prints_both_configurations() {
    let (ok, text) = print_config(&["--url", "https://127.0.0.1:1", "--name", "mine", "--namespace-selector", "a=b"]);
    assert!(ok, "{text}");
    assert_eq!(text.matches("\n  name: mine\n").count(), 2);
    assert_eq!(text.matches("a: b\n").count(), Hook::ALL.len() - 1);
}

#[test]
fn the_command_says_what_is_wrong_with_its_flags() {
    for (args, said) in [
        (&[][..], "--url"),
        (&["--url", "http://127.0.0.1:1"], "https:// only"),
        (&["--service", "no-namespace"], "NAMESPACE/NAME"),
        (&["--service", "a/b:http"], "port"),
        (&["--url", "https://a", "--service", "a/b"], "cannot be used with"),
        (&["--url", "https://a", "--ca-file", "/does/not/exist"], "--ca-file /does/not/exist"),
        (&["--url", "https://a", "--namespace-selector", "a"], "KEY=VALUE"),
    ] {
        let (ok, text) = print_config(args);
        assert!(!ok && text.contains(said), "{args:?}: {text}");
    }
}
