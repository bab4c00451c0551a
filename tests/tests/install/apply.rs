//! Each overlay is what it says, also for those who apply it again and again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use eno_tests::controlplane::Component;
use eno_tests::manifests::ground::{Ground, on_a_new_cluster};
use eno_tests::manifests::{Manifests, OVERLAYS, list, overlay, text};
use eno_tests::modules::Module;
use eno_tests::workspace;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::live::{bundles, inject, is_as_manifests_say};

const SERVER_SIDE: &[&str] = &["--server-side"];
/// What the API server takes for a bundle: it looks no deeper than this.
const BUNDLE: &str = "Q0E=";

/// A copy of the manifests with the authority beside the overlay that wants one, as a user makes it.
pub fn with_external_authority(bundle: &str) -> Result<(TempDir, PathBuf)> {
    let copy = tempfile::tempdir()?;
    copy_dir(&workspace::root().join("manifests"), copy.path())?;
    let dir = copy.path().join("overlays/external-ca");
    fs::write(dir.join("ca.env"), format!("caBundle={bundle}\n"))?;
    Ok((copy, dir))
}

fn copy_dir(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy_dir(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Applies with these flags; a diff with them is empty then.
async fn converges(ground: &Ground, dir: &Path, flags: &[&str]) -> Result<Manifests> {
    let manifests = ground.apply(dir, flags).await.with_context(|| format!("{} {flags:?}", dir.display()))?;
    let diff = ground.diff(dir, flags).await?;
    ensure!(diff.is_empty(), "{} {flags:?}:\n{diff}", dir.display());
    is_as_manifests_say(ground, &manifests).await?;
    Ok(manifests)
}

/// A field that the API server fills in is one that Git and cluster differ in for ever.
#[tokio::test(flavor = "multi_thread")]
async fn each_overlay_applies_and_a_diff_after_it_is_empty() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        Module::CertManager.install(ground.cluster()).await?;
        let (_copy, external) = with_external_authority(BUNDLE)?;
        for dir in OVERLAYS.map(overlay).iter().chain([&external]) {
            let manifests = converges(&ground, dir, &[]).await?;
            let in_git = manifests.webhooks()?[0]["clientConfig"].get("caBundle").is_some();
            if !in_git {
                // Somebody else owns it: whoever applies again does not take it away, and sees no difference.
                inject(&ground, &manifests, BUNDLE, "somebody").await?;
            }
            for flags in [SERVER_SIDE, &[]] {
                converges(&ground, dir, flags).await?;
                let bundles = bundles(&ground, &manifests).await?;
                ensure!(in_git || bundles.iter().all(|bundle| bundle == BUNDLE), "{flags:?}: {bundles:?}");
            }
        }
        Ok(())
    })
    .await
}

/// What AKS writes into each webhook, as its admissions enforcer does it.
#[tokio::test(flavor = "multi_thread")]
async fn the_admissions_enforcer_of_aks_has_nothing_to_change() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let enforce = async |manifests: &Manifests| -> Result<()> {
            let expressions = json!([
                {"key": "control-plane", "operator": "NotIn", "values": ["true"]},
                {"key": "kubernetes.azure.com/managedby", "operator": "NotIn", "values": ["aks"]},
            ]);
            for kind in ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] {
                let count = list(manifests.only(kind)?, "/webhooks").len();
                let path = |index| format!("/webhooks/{index}/namespaceSelector/matchExpressions");
                let patch: Vec<Value> =
                    (0..count).map(|index| json!({"op": "add", "path": path(index), "value": expressions})).collect();
                let patch = Value::from(patch).to_string();
                let args =
                    ["patch", kind, "eno-webhook", "--type=json", "--field-manager=admissionsenforcer", "--patch"];
                ground.kubectl(&[&args[..], &[&patch]].concat()).await?.success()?;
            }
            Ok(())
        };
        let plain = ground.apply(&overlay("self-managed"), &[]).await?;
        enforce(&plain).await?;
        let path = overlay("self-managed").display().to_string();
        let fight = ground.kubectl(&["apply", "--server-side", "-k", &path]).await?;
        assert!(fight.stderr.contains("conflict with \"admissionsenforcer\""), "{}", fight.stderr);

        let aks = ground.apply(&overlay("aks"), &["--server-side", "--force-conflicts"]).await?;
        enforce(&aks).await?;
        let diff = ground.diff(&overlay("aks"), SERVER_SIDE).await?;
        assert!(diff.is_empty(), "{diff}");
        converges(&ground, &overlay("aks"), SERVER_SIDE).await?;
        is_as_manifests_say(&ground, &aks).await
    })
    .await
}

/// An overlay, for which no cluster is needed.
pub fn rendered(name: &str) -> Result<Manifests> {
    let kubectl = Component::Kubectl.find()?.context("no kubectl: run `cargo xtask controlplane build`")?;
    Manifests::render(&kubectl, &overlay(name))
}

#[test]
fn only_eno_can_be_stopped_by_a_webhook_that_is_away() -> Result<()> {
    for name in OVERLAYS {
        for webhook in rendered(name)?.webhooks()? {
            let fails = webhook["failurePolicy"] == "Fail";
            let groups: Vec<_> = list(webhook, "/rules").iter().flat_map(|rule| list(rule, "/apiGroups")).collect();
            let condition = webhook["matchConditions"][0]["expression"].as_str().unwrap_or_default();
            let of_eno =
                groups.iter().all(|group| **group == json!("eno.azure.io")) || condition.contains(".eno.azure.io'");
            ensure!(!fails || of_eno, "{name}: {webhook}");
            ensure!(!(name == "audit" && fails), "an audit refuses nothing: {webhook}");
        }
    }
    Ok(())
}

/// With these manifests in place of those of a release.
#[test]
fn what_the_page_tells_people_to_write_can_be_rendered() -> Result<()> {
    let page = fs::read_to_string(workspace::root().join("docs/install.md"))?;
    let kubectl = Component::Kubectl.find()?.context("no kubectl: run `cargo xtask controlplane build`")?;
    let copy = tempfile::tempdir()?;
    copy_dir(&workspace::root().join("manifests"), copy.path())?;
    let own = copy.path().join("own");
    fs::create_dir(&own)?;
    let examples = page.split("```yaml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0));
    let mut mounted = 0;
    for example in examples.filter(|example| example.contains("kind: Kustomization")) {
        let local = example.replace("github.com/kubectl-eno/kubectl-eno/manifests", "..");
        fs::write(own.join("kustomization.yaml"), local.replace(concat!("?ref=v", env!("CARGO_PKG_VERSION")), ""))?;
        let manifests = Manifests::render(&kubectl, &own).with_context(|| example.to_owned())?;
        let container = &manifests.only("Deployment")?["spec"]["template"]["spec"]["containers"][0];
        let mounts: Vec<_> = list(container, "/volumeMounts").iter().map(|mount| text(mount, "/mountPath")).collect();
        let args = list(container, "/args").iter().filter_map(Value::as_str);
        for file in args.filter_map(|arg| arg.split_once("-file=")).map(|(_, file)| file) {
            let has = |path: &Result<&str>| path.as_ref().is_ok_and(|path| Path::new(file).starts_with(path));
            ensure!(mounts.iter().any(has), "{file} is not in {mounts:?}");
            mounted += 1;
        }
    }
    // Of cert-manager's certificate, and of a receiver.
    assert_eq!(mounted, 4);
    Ok(())
}

#[test]
fn all_objects_can_be_found_by_their_labels() -> Result<()> {
    for name in OVERLAYS {
        for object in rendered(name)?.all() {
            let labels = &object["metadata"]["labels"];
            ensure!(
                labels["app.kubernetes.io/name"] == "eno-webhook"
                    && labels["app.kubernetes.io/part-of"] == "kubectl-eno",
                "{name}: {} {}",
                text(object, "/kind")?,
                text(object, "/metadata/name")?
            );
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn applying_again_leaves_the_bundle_that_the_webhook_has_written() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let dir = overlay("self-managed");
        let manifests = ground.apply(&dir, &[]).await?;
        let _replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await?;
        let written = bundles(&ground, &manifests).await?;
        ensure!(written.iter().all(|bundle| !bundle.is_empty()), "{written:?}");
        for flags in [&[][..], SERVER_SIDE, SERVER_SIDE, &[]] {
            converges(&ground, &dir, flags).await?;
            assert_eq!(bundles(&ground, &manifests).await?, written, "{flags:?}");
        }
        ground.guarded("team-a", "web-0").await
    })
    .await
}

/// Two waves, as Argo CD has them: the server first, so that the configurations never meet nobody (report 16).
#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_ready_before_its_configurations_are_there() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let dir = overlay("self-managed");
        let manifests = ground.render(&dir)?;
        let wave =
            |object: &&Value| object["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"].as_str().is_none();
        let first: Vec<_> = manifests.all().iter().filter(wave).collect();
        assert_eq!(first.len() + 2, manifests.all().len(), "both configurations, and no more, are in the second wave");
        let list = json!({"apiVersion": "v1", "kind": "List", "items": first});
        ground.cluster().kubectl_with(&["apply", "-f", "-"], &list.to_string()).await?.success()?;
        let _replica = ground.start(&manifests).await?;

        converges(&ground, &dir, &[]).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await
    })
    .await
}
