//! Merging as kubectl does it.

use clap::Parser;

use super::*;
use crate::cli::Cli;

fn flags(args: &[&str]) -> Connection {
    let command = ["kubectl-eno"].iter().chain(args).chain(&["slices"]);
    Cli::try_parse_from(command).expect("valid flags").connection
}

fn kubeconfig(yaml: &str) -> Kubeconfig {
    Kubeconfig::from_yaml(yaml).expect("a valid kubeconfig")
}

const TWO_CONTEXTS: &str = "
current-context: dev
contexts:
- {name: dev, context: {cluster: dev, user: alice, namespace: team-a}}
- {name: prod, context: {cluster: prod, user: bob}}
clusters:
- {name: dev, cluster: {server: 'https://dev:6443', certificate-authority-data: eA==, tls-server-name: dev.local}}
- {name: prod, cluster: {server: 'https://prod:6443'}}
users:
- {name: alice, user: {exec: {command: login, apiVersion: client.authentication.k8s.io/v1}}}
- {name: bob, user: {token: secret}}
";

fn resolved(args: &[&str]) -> Result<(Cluster, AuthInfo, String), String> {
    match choose(kubeconfig(TWO_CONTEXTS), &flags(args)) {
        Ok(Resolved::Kubeconfig { cluster, user, namespace, .. }) => Ok((*cluster, *user, namespace)),
        Ok(Resolved::InCluster(_)) => Err("in cluster".to_owned()),
        Err(failure) => Err(failure.to_string()),
    }
}

#[test]
fn flags_override_the_context() {
    let (cluster, user, namespace) = resolved(&[]).unwrap();
    assert_eq!((cluster.server.as_deref(), namespace.as_str()), (Some("https://dev:6443"), "team-a"));
    assert!(user.exec.is_some());

    let (cluster, user, namespace) = resolved(&["--context", "prod"]).unwrap();
    assert_eq!((cluster.server.as_deref(), namespace.as_str()), (Some("https://prod:6443"), "default"));
    assert!(user.token.is_some());

    let (cluster, user, _) = resolved(&["--cluster=prod", "--user=bob"]).unwrap();
    assert_eq!(cluster.server.as_deref(), Some("https://prod:6443"));
    assert!(user.token.is_some() && user.exec.is_none());
}

#[test]
fn another_server_loses_the_name_meant_for_the_first() {
    let (cluster, ..) = resolved(&["-s", "https://other"]).unwrap();
    assert_eq!((cluster.server.as_deref(), cluster.tls_server_name), (Some("https://other"), None));
    let (cluster, ..) = resolved(&["-s", "https://other", "--tls-server-name", "x"]).unwrap();
    assert_eq!(cluster.tls_server_name.as_deref(), Some("x"));
}

#[test]
fn insecure_drops_the_authority_and_an_authority_ends_insecure() {
    let (cluster, ..) = resolved(&["--insecure-skip-tls-verify"]).unwrap();
    assert_eq!((cluster.insecure_skip_tls_verify, cluster.certificate_authority_data), (Some(true), None));
    let (cluster, ..) = resolved(&["--certificate-authority", "ca.crt"]).unwrap();
    assert_eq!((cluster.certificate_authority.as_deref(), cluster.certificate_authority_data), (Some("ca.crt"), None));
}

#[test]
fn a_token_replaces_all_other_credentials() {
    let (_, user, _) = resolved(&["--token", "t"]).unwrap();
    assert!(user.token.is_some() && user.exec.is_none());
}

#[test]
fn impersonation_reaches_the_user() {
    let args = [
        "--as=eve",
        "--as-uid=7",
        "--as-group=a",
        "--as-group=b",
        "--as-user-extra=scope=x",
        "--as-user-extra=scope=y",
    ];
    let (_, user, _) = resolved(&args).unwrap();
    assert_eq!((user.impersonate.as_deref(), user.impersonate_uid.as_deref()), (Some("eve"), Some("7")));
    assert_eq!(user.impersonate_groups.unwrap(), ["a", "b"]);
    assert_eq!(user.impersonate_user_extra.unwrap()["scope"], ["x", "y"]);
}

#[test]
fn what_does_not_exist_is_named() {
    for (args, error) in [
        (["--context", "x"], "error: context \"x\" does not exist"),
        (["--cluster", "x"], "error: cluster \"x\" does not exist"),
        (["--user", "x"], "error: auth info \"x\" does not exist"),
    ] {
        assert_eq!(resolved(&args).unwrap_err(), error);
    }
}

#[test]
fn an_empty_current_context_is_none() {
    let resolved = choose(kubeconfig("current-context: ''"), &flags(&[])).unwrap();
    let Resolved::Kubeconfig { cluster, namespace, .. } = resolved else { panic!("in cluster") };
    assert_eq!((cluster.server.as_deref(), namespace.as_str()), (Some("http://localhost:8080"), "default"));
}

#[test]
fn missing_files_of_the_list_are_skipped_and_the_first_wins() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let first = write("first", "current-context: a\nclusters:\n- {name: c, cluster: {server: 'https://1'}}\n");
    let second = write("second", "current-context: b\nclusters:\n- {name: c, cluster: {server: 'https://2'}}\n");
    let missing = folder.path().join("missing");
    let list = std::env::join_paths([&missing, &first, &second]).unwrap();
    let merged = read(&flags(&[]), Some(list), None, &Warnings::default()).unwrap();
    assert_eq!(merged.current_context.as_deref(), Some("a"));
    assert_eq!(merged.clusters[0].cluster.as_ref().unwrap().server.as_deref(), Some("https://1"));

    let none = read(&flags(&[]), Some(missing.clone().into()), None, &Warnings::default()).unwrap();
    assert!(none.clusters.is_empty());
    let named = flags(&["--kubeconfig", missing.to_str().unwrap()]);
    let error = read(&named, None, None, &Warnings::default()).unwrap_err().to_string();
    assert!(error.ends_with("no such file or directory"), "{error}");
}
