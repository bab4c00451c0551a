//! All goes, in whatever order, and nothing of Eno's is touched or locked up.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::WEBHOOK_NAMESPACE;
use eno_tests::eventually::eventually;
use eno_tests::manifests::ground::{Ground, on_a_new_cluster};
use eno_tests::manifests::replica::program;
use eno_tests::manifests::{overlay, text};
use eno_tests::workspace;
use serde_json::Value;

use crate::live::{commands, run};

const LIMIT: Duration = Duration::from_secs(60);
/// All kinds that the manifests have in no namespace.
const KINDS: &str = "validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies,\
    validatingadmissionpolicybindings,namespaces,clusterroles,clusterrolebindings,flowschemas,prioritylevelconfigurations";

async fn left(ground: &Ground) -> Result<String> {
    let get = ["get", KINDS, "-l", "app.kubernetes.io/part-of=kubectl-eno", "-o", "name"];
    ground.kubectl(&get).await?.success()
}

fn uninstall(ground: &Ground, flags: &[&str]) -> Result<Vec<String>> {
    let output = Command::new(program()?)
        .args(["uninstall", "--kubeconfig"])
        .arg(ground.cluster().kubeconfig())
        .args(flags)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_removes_all_with_slices_still_there() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("network-policy"), &[]).await?;
        let policy = ground.apply(&workspace::root().join("manifests/policy/warn"), &[]).await?;
        let mut replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await?;
        let slice = ground.cluster().eno("ResourceSlice", "team-a").get("web-0").await?;
        let before = left(&ground).await?;

        let all = manifests.all().iter().chain(policy.all());
        let cluster_wide = all.filter(|object| object["metadata"].get("namespace").is_none()).count();
        let told = uninstall(&ground, &["--dry-run"])?;
        assert_eq!(told.len(), cluster_wide, "{told:#?}");
        assert!(told.iter().all(|line| line.ends_with(" deleted (server dry run)")), "{told:#?}");
        assert_eq!(left(&ground).await?, before, "a dry run removes nothing");

        let removed = uninstall(&ground, &[])?;
        let first = [
            "validatingwebhookconfiguration.admissionregistration.k8s.io/eno-webhook deleted",
            "mutatingwebhookconfiguration.admissionregistration.k8s.io/eno-webhook deleted",
            "validatingadmissionpolicybinding.admissionregistration.k8s.io/eno-webhook-slices deleted",
            "validatingadmissionpolicy.admissionregistration.k8s.io/eno-webhook-slices deleted",
            "namespace/eno-webhook-system deleted",
        ];
        assert_eq!(removed[..5], first);
        assert_eq!(removed.len(), cluster_wide, "{removed:#?}");
        assert_eq!(left(&ground).await?, "");
        assert_eq!(uninstall(&ground, &[])?, ["nothing is installed"]);
        replica.kill();
        let after = ground.cluster().eno("ResourceSlice", "team-a").get("web-0").await?;
        assert!(after == slice, "{after:?}");

        // The same by hand.
        ground.apply(&overlay("self-managed"), &[]).await?;
        for command in commands("docs/uninstall.md", 2)? {
            run(&ground, &command).await?;
        }
        assert_eq!(left(&ground).await?, "");
        ground.delete_slice("team-a", "web-0", &[]).await?.success()?;
        Ok(())
    })
    .await
}

/// It removes what bears our labels, and nothing that is only named alike.
#[tokio::test(flavor = "multi_thread")]
async fn the_command_leaves_what_is_not_ours() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        ground.kubectl(&["create", "namespace", WEBHOOK_NAMESPACE]).await?.success()?;
        ground
            .kubectl(&["create", "clusterrole", "eno-webhook-read", "--verb=get", "--resource=pods"])
            .await?
            .success()?;
        assert_eq!(uninstall(&ground, &[])?, ["nothing is installed"]);
        ground.kubectl(&["get", "namespace", WEBHOOK_NAMESPACE]).await?.success()?;
        ground.kubectl(&["get", "clusterrole", "eno-webhook-read"]).await?.success()?;
        Ok(())
    })
    .await
}

/// Reports 2 and 3: GitOps prunes in an order of its own; the worst is what answers first, and what asks last.
#[tokio::test(flavor = "multi_thread")]
async fn any_other_order_ends_too() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        ground.needed_slice("team-a", "web").await?;
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for worst in [true, false] {
            let manifests = ground.apply(&overlay("network-policy"), &[]).await?;
            let mut replica = ground.start(&manifests).await?;
            ground.guarded("team-a", "web-0").await?;
            let mut objects: Vec<&Value> = manifests.all().iter().collect();
            if !worst {
                random.shuffle(&mut objects);
            }
            for object in objects {
                let kind = text(object, "/kind")?;
                let delete = ["delete", "--wait=false", "--ignore-not-found", "-f", "-"];
                ground.cluster().kubectl_with(&delete, &object.to_string()).await?.success()?;
                if ["Deployment", "Namespace"].contains(&kind) {
                    replica.kill();
                }
            }
            eventually("all to be gone", LIMIT, async || {
                let left = left(&ground).await?;
                ensure!(left.is_empty(), "{left}");
                Ok(())
            })
            .await
            .with_context(|| format!("seed {seed}"))?;
            eventually("slices to be free", LIMIT, async || {
                ground.delete_slice("team-a", "web-0", &["--dry-run=server"]).await?.success()
            })
            .await?;
        }
        Ok(())
    })
    .await
}
