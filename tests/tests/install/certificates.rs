//! A certificate from elsewhere ends in a webhook that the API server believes, as one of its own does.

use anyhow::Result;
use eno_shared::names::{WEBHOOK_NAME, WEBHOOK_NAMESPACE};
use eno_tests::controlplane::{Authority, Pair};
use eno_tests::manifests::ground::{Ground, on_a_new_cluster};
use eno_tests::manifests::{list, overlay, text};
use eno_tests::modules::Module;
use k8s_openapi::ByteString;
use serde_json::{Value, json};

use crate::apply::with_external_authority;
use crate::live::{bundles, inject};

/// Makes a Secret of the type of certificates.
async fn make_secret(ground: &Ground, name: &str, pair: &Pair) -> Result<()> {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": name, "namespace": WEBHOOK_NAMESPACE},
        "stringData": {"tls.crt": pair.cert, "tls.key": pair.key},
    });
    ground.cluster().apply(&secret).await?;
    Ok(())
}

fn base64(text: &str) -> Result<String> {
    // As JSON has it.
    Ok(serde_json::to_value(ByteString(text.as_bytes().to_vec()))?.as_str().unwrap_or_default().to_owned())
}

/// What cert-manager does is done by hand: it issues what the Certificate says, and cainjector copies the authority.
#[tokio::test(flavor = "multi_thread")]
async fn from_cert_manager() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        Module::CertManager.install(ground.cluster()).await?;
        let manifests = ground.apply(&overlay("cert-manager"), &[]).await?;
        let named = |name: &str| manifests.of("Certificate").find(|found| found["metadata"]["name"] == name).cloned();
        let certificate = named(WEBHOOK_NAME).unwrap_or_default();
        let names: Vec<&str> = list(&certificate, "/spec/dnsNames").iter().filter_map(Value::as_str).collect();
        let authority = Authority::new()?;
        make_secret(&ground, text(&certificate, "/spec/secretName")?, &authority.server(&names)?).await?;
        let injected_from = format!("{WEBHOOK_NAMESPACE}/{}", text(&certificate, "/metadata/name")?);
        for kind in ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] {
            let annotations = &manifests.only(kind)?["metadata"]["annotations"];
            assert_eq!(annotations["cert-manager.io/inject-ca-from"], json!(injected_from));
        }
        inject(&ground, &manifests, &base64(&authority.cert())?, "cert-manager-cainjector").await?;

        let _replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await?;
        // Git knows nothing of it, and leaves it.
        ground.apply(&overlay("cert-manager"), &[]).await?;
        ground.guarded("team-a", "web-0").await?;
        assert_eq!(ground.diff(&overlay("cert-manager"), &[]).await?, "");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn from_an_external_authority() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let authority = Authority::new()?;
        let bundle = base64(&authority.cert())?;
        let (_copy, dir) = with_external_authority(&bundle)?;
        let manifests = ground.apply(&dir, &[]).await?;
        let service = format!("{WEBHOOK_NAME}.{WEBHOOK_NAMESPACE}.svc");
        make_secret(&ground, "eno-webhook-tls", &authority.server(&[&service])?).await?;
        assert!(bundles(&ground, &manifests).await?.iter().all(|found| *found == bundle));

        let _replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await
    })
    .await
}
