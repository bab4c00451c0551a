//! The control plane that the tests stand on: what it must do, and that nothing of it outlives its owner.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{ControlPlane, Options};
use eno_tests::eventually::eventually;
use eno_tests::netns::{self, Netns};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ListParams, PostParams};
use kube::config::Kubeconfig;
use kube::{Api, Client, Config};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

const LIMIT: Duration = Duration::from_secs(60);

/// A killed process is gone, or a zombie that nobody has waited for yet.
fn runs(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

async fn all_ended(pids: &[u32]) -> Result<()> {
    eventually("every component to end", LIMIT, async || {
        let running: Vec<_> = pids.iter().filter(|&&pid| runs(pid)).collect();
        ensure!(running.is_empty(), "{running:?} still run");
        Ok(())
    })
    .await
}

/// The processes whose command line mentions a folder.
fn processes_of(dir: &Path) -> Vec<u32> {
    let mentions = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&*dir.to_string_lossy()))
    };
    let processes = std::fs::read_dir("/proc").expect("this is Linux").flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).filter(mentions).collect()
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).expect("a ConfigMap")
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_the_controllers_that_deletions_need_under_accounts_of_their_own() -> Result<()> {
    let logs = TempDir::new()?;
    let audit = logs.path().join("audit.log");
    let controlplane = ControlPlane::start(Options { audit: Some(audit.clone()), ..Options::default() }).await?;
    let cluster = Cluster::of(&controlplane).await?;
    let maps = Api::<ConfigMap>::namespaced(cluster.client(), "default");

    let owner = maps.create(&PostParams::default(), &config_map("owner")).await?;
    let mut dependent = config_map("dependent");
    dependent.metadata.owner_references = Some(serde_json::from_value(json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid,
    }]))?);
    maps.create(&PostParams::default(), &dependent).await?;
    maps.delete("owner", &Default::default()).await?;
    eventually("the garbage collector to delete the dependent", LIMIT, async || {
        ensure!(maps.get_opt("dependent").await?.is_none(), "it is there");
        Ok(())
    })
    .await?;

    let in_namespace = Api::<ConfigMap>::namespaced(cluster.client(), "doomed");
    cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "doomed"}})).await?;
    in_namespace.create(&PostParams::default(), &config_map("inside")).await?;
    cluster.kubectl(&["delete", "namespace", "doomed", "--timeout=60s"]).await?.success()?;

    let log = std::fs::read_to_string(&audit)?;
    let requests: Vec<Value> = log.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let user = |verb: &str, namespace: &str| {
        let of = |r: &&Value| {
            r["verb"] == verb && r["objectRef"]["namespace"] == namespace && r["objectRef"]["resource"] == "configmaps"
        };
        requests.iter().filter(of).filter_map(|r| r["user"]["username"].as_str()).next_back()
    };
    assert_eq!(user("delete", "default"), Some("system:serviceaccount:kube-system:generic-garbage-collector"));
    assert_eq!(user("deletecollection", "doomed"), Some("system:serviceaccount:kube-system:namespace-controller"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_what_no_role_allows() -> Result<()> {
    let cluster = Cluster::connect().await;
    let token = cluster.kubectl(&["create", "token", "default", "--namespace=default"]).await?.success()?;
    let admin =
        Config::from_custom_kubeconfig(Kubeconfig::read_from(cluster.kubeconfig())?, &Default::default()).await?;
    let mut config = Config::new(admin.cluster_url);
    config.root_cert = admin.root_cert;
    config.auth_info.token = Some(token.trim().to_owned().into());
    let secrets = Api::<Secret>::namespaced(Client::try_from(config)?, "default");

    let refused = secrets.list(&ListParams::default()).await.expect_err("RBAC is on");
    let kube::Error::Api(status) = refused else { panic!("not an answer of the server: {refused}") };
    assert_eq!(status.code, 403);
    assert!(status.message.contains("system:serviceaccount:default:default"), "{}", status.message);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn leaves_nothing_when_it_is_dropped() -> Result<()> {
    let controlplane = ControlPlane::start(Options::default()).await?;
    let (pids, dir) = (controlplane.pids(), controlplane.dir().to_owned());
    assert_eq!(pids.len(), 3, "etcd, kube-apiserver and kube-controller-manager");
    assert!(pids.iter().all(|&pid| runs(pid)));
    drop(controlplane);
    assert!(!pids.iter().any(|&pid| runs(pid)), "some of {pids:?} still run");
    assert!(!dir.exists(), "{} is there", dir.display());
    Ok(())
}

/// An `xtask controlplane hold`, killed in the way a test is when it times out.
#[tokio::test(flavor = "multi_thread")]
async fn leaves_no_process_when_its_owner_is_killed() -> Result<()> {
    let parent = TempDir::new()?;
    let dir = parent.path().join("controlplane");
    let mut owner = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["controlplane", "hold", "--dir"])
        .arg(&dir)
        .stdout(Stdio::null())
        .spawn()?;
    let ready = eventually("it to be ready", LIMIT * 2, async || {
        ensure!(dir.join("kubeconfig").exists(), "no kubeconfig in {}", dir.display());
        Ok(())
    })
    .await;
    let pids = processes_of(&dir);
    owner.kill()?;
    owner.wait()?;
    ready?;
    assert_eq!(pids.len(), 4, "the owner and its three components");
    all_ended(&pids).await
}

#[tokio::test(flavor = "multi_thread")]
async fn stays_until_it_is_told_to_go() -> Result<()> {
    let parent = TempDir::new()?;
    let dir = parent.path().join("controlplane");
    let xtask = |command: &str, rest: &[&str]| -> Result<String> {
        let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
        let output = xtask.args(["controlplane", command, "--dir"]).arg(&dir).args(rest).output()?;
        ensure!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    };
    let printed = xtask("up", &[])?;
    assert_eq!(printed.trim(), format!("export KUBECONFIG={}", dir.join("kubeconfig").display()));
    let pids = processes_of(&dir);
    assert_eq!(xtask("kubectl", &["get", "namespace", "default", "-o", "name"])?.trim(), "namespace/default");
    xtask("up", &[]).context("a second `up` finds it running")?;
    assert_eq!(processes_of(&dir).len(), pids.len(), "a second `up` starts nothing");
    xtask("down", &[])?;
    assert!(!dir.exists(), "{} is there", dir.display());
    all_ended(&pids).await
}

#[tokio::test(flavor = "multi_thread")]
async fn says_which_component_ended_and_shows_its_log() -> Result<()> {
    let mut controlplane = ControlPlane::start(Options::default()).await?;
    let [_, apiserver, _] = controlplane.pids()[..] else { panic!("three components") };
    kill(Pid::from_raw(apiserver.cast_signed()), Signal::SIGKILL)?;
    let error = tokio::time::timeout(LIMIT, controlplane.died()).await?.to_string();
    assert!(error.starts_with("kube-apiserver ended"), "{error}");
    assert!(error.contains("kube-apiserver.log") && error.lines().count() > 2, "{error}");
    Ok(())
}

#[tokio::test]
async fn refuses_a_folder_that_holds_other_things() -> Result<()> {
    let dir = TempDir::new()?;
    let other = dir.path().join("thesis.tex");
    std::fs::write(&other, "…")?;
    let options = Options { dir: Some(dir.path().to_owned()), ..Options::default() };
    let error = ControlPlane::start(options).await.expect_err("it would be removed at the end");
    assert!(error.to_string().ends_with("is not empty: name a new folder"), "{error}");
    assert!(other.exists());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn reaches_a_webhook_behind_a_service_in_a_network_of_its_own() -> Result<()> {
    let network = Netns::new()?;
    let options = Options { netns: Some(network.name().to_owned()), ..Options::default() };
    let controlplane = ControlPlane::start(options).await?;
    let kubeconfig: PathBuf = controlplane.kubeconfig();
    let outside = Cluster::at(&kubeconfig).await;
    assert!(outside.is_err(), "it is reached from outside");
    let reached = netns::within(Some(network.name()), || async move {
        let cluster = Cluster::at(&kubeconfig).await?;
        let webhook = TcpListener::bind((netns::ADDRESS, 0)).await?;
        for object in behind_a_service(webhook.local_addr()?.port()) {
            cluster.apply(&object).await?;
        }
        // It speaks no TLS, so the request fails; that it is called at all is what counts.
        let maps = Api::<ConfigMap>::namespaced(cluster.client(), "default");
        let create = async || maps.create(&PostParams::default(), &config_map("checked")).await;
        eventually("the API server to call the webhook", LIMIT, async || {
            // The API server may not know the webhook yet; the next try calls it, though the ConfigMap exists by then.
            tokio::select! {
                connection = webhook.accept() => Ok(connection?.1.ip()),
                created = create() => Err(anyhow!("{created:?}")),
            }
        })
        .await
    })
    .await?;
    assert_eq!(reached.to_string(), netns::ADDRESS, "the API server's address, as the webhook sees it");
    Ok(())
}

/// A webhook on the creation of ConfigMaps, by a Service whose only endpoint is the address of a test's network.
fn behind_a_service(port: u16) -> [Value; 3] {
    let metadata =
        json!({"name": "webhook", "namespace": "default", "labels": {"kubernetes.io/service-name": "webhook"}});
    [
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {"ports": [{"port": 443, "targetPort": port}]},
        }),
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata, "addressType": "IPv4",
            "endpoints": [{"addresses": [netns::ADDRESS], "conditions": {"ready": true}}],
            "ports": [{"port": port, "protocol": "TCP", "name": ""}],
        }),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "webhook"},
            "webhooks": [{
                "name": "configmaps.test.kubectl-eno.dev", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "webhook", "namespace": "default"}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
            }],
        }),
    ]
}
