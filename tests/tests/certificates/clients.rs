//! The API server shows a certificate of its own, where it is told to.

use std::fs;

use anyhow::{Result, ensure};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane::{Authority, ControlPlane, Options};
use eno_tests::eventually::eventually;
use eno_webhook::tls::clients;
use serde_json::json;

use crate::ground::{Ground, LIMIT, Replica};

#[tokio::test(flavor = "multi_thread")]
async fn lets_in_an_api_server_that_says_who_it_is_and_no_other() -> Result<()> {
    let (ours, other) = (Authority::new()?, Authority::new()?);
    let dir = tempfile::tempdir()?;
    let file = |name: &str| dir.path().join(name);
    let pair = ours.client("kube-apiserver", None)?;
    let contents =
        [("api.crt", pair.cert), ("api.key", pair.key), ("ours.crt", ours.cert()), ("other.crt", other.cert())];
    for (name, content) in contents {
        fs::write(file(name), content)?;
    }
    // As docs/security.md says it.
    let user = json!({"client-certificate": file("api.crt"), "client-key": file("api.key")});
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "users": [{"name": "*", "user": user}]});
    fs::write(file("kubeconfig"), kubeconfig.to_string())?;
    let plugin = |name: &str| {
        let configuration = json!({
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration",
            "kubeConfigFile": file("kubeconfig"),
        });
        json!({"name": name, "configuration": configuration})
    };
    let admission = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
        "plugins": [plugin("ValidatingAdmissionWebhook"), plugin("MutatingAdmissionWebhook")],
    });
    fs::write(file("admission.json"), admission.to_string())?;
    let options = Options { admission: Some(file("admission.json")), ..Options::default() };
    let controlplane = ControlPlane::start(options).await?;
    let ground = Ground::on(Cluster::of(&controlplane).await?, "clients").await?;

    let asking = async |authorities: &str, name: &str| {
        let clients = clients::Options { authorities: file(authorities), names: vec![name.to_owned()] };
        let options = eno_webhook::Options { clients: Some(clients), ..ground.options(|_| {}) };
        Replica::start(ground.cluster().client(), options).await
    };
    let replica = asking("ours.crt", "kube-apiserver").await?;
    ground.configure(&replica).await?;
    ground.told().await?;
    ground.answered(&replica).await?;
    for (authorities, name) in [("ours.crt", "front-proxy"), ("other.crt", "kube-apiserver")] {
        let replica = asking(authorities, name).await?;
        ground.configure(&replica).await?;
        eventually("the API server to be refused", LIMIT, async || {
            let refused = ground.ask().await.err().map(|error| error.to_string()).unwrap_or_default();
            ensure!(refused.contains("failed calling webhook"), "{refused:?}");
            ensure!(replica.metric("eno_webhook_tls_handshakes_failed_total").await? > 0.0, "it was not called");
            Ok(())
        })
        .await?;
        assert_eq!(replica.metric("eno_webhook_reviews_total").await?, 0.0, "{authorities}, {name}");
        replica.ready().await?;
    }
    Ok(())
}
