//! The webhook does all of its work with the rights of the manifests, and needs each of them.

mod pods;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{
    CLEANUP_FINALIZER, ENO_API_VERSION, FORCE_ANNOTATION, FORCE_DELETE_WHEN_SYMPHONY_GONE, FORCE_RESYNTHESIS,
    WEBHOOK_NAMESPACE,
};
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{composition, config_map, reconciled_synthesis, slice};
use eno_tests::manifests::ground::{Ground, on_a_new_cluster};
use eno_tests::manifests::overlay;
use eno_tests::manifests::rights::{granted, used};
use eno_tests::webhook::answer::{denial, warnings};
use kube::ResourceExt;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);
const SLICES: &str = "resourceslices.eno.azure.io";
const COMPOSITIONS: &str = "compositions.eno.azure.io";
const TEAM: &str = "team-a";

async fn kubectl(ground: &Ground, args: &[&str]) -> Result<eno_tests::cluster::Output> {
    ground.kubectl(&[&["--namespace", TEAM], args].concat()).await
}

async fn patch(ground: &Ground, what: [&str; 2], patch: &Value) -> Result<eno_tests::cluster::Output> {
    kubectl(ground, &["patch", what[0], what[1], "--type=merge", "--patch", &patch.to_string()]).await
}

async fn gone(ground: &Ground, name: &str) -> Result<()> {
    eventually(&format!("{name} to be gone"), LIMIT, async || {
        let left = ground.cluster().eno("ResourceSlice", TEAM).get_metadata_opt(name).await?;
        ensure!(left.is_none(), "it exists");
        Ok(())
    })
    .await
}

/// Cleanup deletes garbage, release takes a finalizer off, and puts one back; an override is asked about and told, twice.
async fn works_on_slices(ground: &Ground) -> Result<()> {
    let web = ground.cluster().eno("Composition", TEAM).get("web").await?;
    for name in ["garbage", "released"] {
        ground.cluster().apply(&slice(&web, name, "an-old-synthesis", &[config_map(TEAM, name, 0)])).await?;
    }
    ground.delete_slice(TEAM, "released", &[]).await?.success()?;
    gone(ground, "released").await?;
    gone(ground, "garbage").await?;

    let needed = ground.cluster().eno("ResourceSlice", TEAM).get("web-0").await?;
    let force = json!({"metadata": {"annotations": {FORCE_ANNOTATION: needed.uid()}}});
    patch(ground, [SLICES, "web-0"], &force).await?.success()?;
    for _ in 0..2 {
        // The administrator may force.
        let forced = patch(ground, [SLICES, "web-0"], &json!({"metadata": {"finalizers": null}})).await?;
        assert!(warnings(&forced).concat().contains("forced by"), "{}", forced.stderr);
        forced.success()?;
        eventually("the finalizer to be put back", LIMIT, async || {
            let slice = ground.cluster().eno("ResourceSlice", TEAM).get("web-0").await?;
            ensure!(slice.finalizers() == [CLEANUP_FINALIZER], "{:?}", slice.finalizers());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// A needed slice that is being deleted has Eno asked for a new synthesis.
async fn asks_for_a_synthesis(ground: &Ground) -> Result<()> {
    let metadata = json!({"name": "maker"});
    let synthesizer = json!({"apiVersion": ENO_API_VERSION, "kind": "Synthesizer", "metadata": metadata, "spec": {}});
    ground.cluster().apply(&synthesizer).await?;
    let mut losing = composition(TEAM, "losing");
    losing["spec"]["synthesizer"]["name"] = json!("maker");
    let owner = ground.cluster().apply(&losing).await?;
    let needed = ground.cluster().apply(&slice(&owner, "losing-0", "current", &[])).await?;
    let mut current = reconciled_synthesis("current", owner.metadata.generation, &["losing-0"]);
    current["observedSynthesizerGeneration"] = json!(1);
    ground.cluster().set_status(&losing, &json!({"currentSynthesis": current})).await?;
    // Only the administrator can have it deleted, by force.
    patch(ground, [SLICES, "losing-0"], &json!({"metadata": {"annotations": {FORCE_ANNOTATION: needed.uid()}}}))
        .await?
        .success()?;
    ground.delete_slice(TEAM, "losing-0", &[]).await?.success()?;
    eventually("a synthesis to be asked for", LIMIT, async || {
        let losing = ground.cluster().eno("Composition", TEAM).get("losing").await?;
        let asked = losing.annotations().get(FORCE_RESYNTHESIS);
        ensure!(asked.is_some_and(|uuid| uuid == "current"), "{asked:?}");
        Ok(())
    })
    .await
}

/// Admission reads the symphony of a composition, and whether objects of a definition exist.
async fn answers_by_live_reads(ground: &Ground) -> Result<()> {
    let symphony =
        json!({"apiVersion": ENO_API_VERSION, "kind": "Symphony", "metadata": {"name": "opera", "namespace": TEAM}});
    let symphony = ground.cluster().apply(&symphony).await?;
    let mut member = composition(TEAM, "member");
    member["metadata"]["annotations"] = json!({FORCE_DELETE_WHEN_SYMPHONY_GONE: "true"});
    member["metadata"]["ownerReferences"] = json!([{
        "apiVersion": ENO_API_VERSION, "kind": "Symphony", "name": "opera", "uid": symphony.uid(), "controller": true,
    }]);
    ground.cluster().apply(&member).await?;
    let current = reconciled_synthesis("1", Some(1), &["member-0"]);
    ground.cluster().set_status(&member, &json!({"currentSynthesis": current})).await?;
    kubectl(ground, &["delete", COMPOSITIONS, "member", "--wait=false"]).await?.success()?;
    let stripped = patch(ground, [COMPOSITIONS, "member"], &json!({"metadata": {"finalizers": null}})).await?;
    denial(&stripped, "compositions-update")?;
    for plural in ["compositions", "resourceslices", "symphonies", "synthesizers"] {
        let definition = format!("{plural}.eno.azure.io");
        let deleted = ground.kubectl(&["delete", "crd", &definition, "--wait=false"]).await?;
        let message = denial(&deleted, "definitions-delete")?;
        ensure!(message.contains("(ObjectsExist)"), "{message}");
    }
    Ok(())
}

/// The Secret is written anew where it is not what it should be.
async fn mends_its_secret(ground: &Ground) -> Result<()> {
    let secrets = ground.cluster().api("v1", "Secret", Some(WEBHOOK_NAMESPACE));
    let before = secrets.get("eno-webhook-tls").await?;
    let spoil = json!({"data": {"tls.crt": ""}}).to_string();
    let args =
        ["patch", "secret", "eno-webhook-tls", "--namespace", WEBHOOK_NAMESPACE, "--type=merge", "--patch", &spoil];
    ground.kubectl(&args).await?.success()?;
    eventually("the Secret to be mended", LIMIT, async || {
        let now = secrets.get("eno-webhook-tls").await?;
        let crt = now.data["data"]["tls.crt"].as_str().context("no tls.crt")?;
        ensure!(!crt.is_empty() && now.resource_version() != before.resource_version(), "it is {crt:?}");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_may_do_is_what_it_does() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let replica = ground.start(&manifests).await?;
        ground.needed_slice(TEAM, "web").await?;
        ground.guarded(TEAM, "web-0").await?;
        works_on_slices(&ground).await?;
        asks_for_a_synthesis(&ground).await?;
        answers_by_live_reads(&ground).await?;
        mends_its_secret(&ground).await?;
        pods::follows_a_pod(&ground).await?;

        let log = ground.cluster().audit_log().context("no audit log")?;
        let granted = granted(&manifests)?;
        let unused = eventually("each right to be used", LIMIT, async || {
            let used = used(&log, &manifests)?;
            let refused: Vec<_> = used.iter().filter(|request| !request.authorized).map(ToString::to_string).collect();
            ensure!(refused.is_empty(), "it has no right to: {refused:#?}");
            let unused = granted.iter().filter(|right| !used.iter().any(|request| right.allows(request)));
            let unused: Vec<_> = unused.map(ToString::to_string).collect();
            ensure!(unused.is_empty(), "it never needed to: {unused:#?}");
            Ok(())
        });
        unused.await.with_context(|| replica.log().unwrap_or_default())
    })
    .await
}

/// A first roll-out can be let loose on any cluster: it could not write if it wanted to.
#[tokio::test(flavor = "multi_thread")]
async fn an_audit_changes_and_refuses_nothing() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("audit"), &[]).await?;
        let writes = |verb: &str| !["get", "list", "watch"].contains(&verb);
        let rights = granted(&manifests)?;
        let of_eno = rights.iter().find(|right| right.group == "eno.azure.io" && writes(&right.verb));
        ensure!(of_eno.is_none(), "{of_eno:?}");

        let mut replica = ground.start(&manifests).await?;
        ground.needed_slice(TEAM, "web").await?;
        let web = ground.cluster().eno("Composition", TEAM).get("web").await?;
        ground.cluster().apply(&slice(&web, "garbage", "an-old-synthesis", &[])).await?;
        eventually("it to say what it would do", LIMIT, async || {
            let log = replica.log()?;
            ensure!(log.contains("dry run") && log.contains("garbage"), "{log}");
            Ok(())
        })
        .await?;
        eventually("it to record what it would deny", LIMIT, async || {
            ground.delete_slice(TEAM, "web-0", &["--dry-run=server"]).await?.success()?;
            let metrics = replica.metrics().await?;
            let recorded = metrics.lines().any(|line| {
                line.contains("hook=\"slices-delete\"") && line.contains("decision=\"deny\"") && !line.ends_with(" 0")
            });
            ensure!(recorded, "{metrics}");
            Ok(())
        })
        .await?;
        replica.kill();
        ground.delete_slice(TEAM, "web-0", &[]).await?.success()?;
        ensure!(
            ground.cluster().eno("ResourceSlice", TEAM).get("garbage").await?.metadata.deletion_timestamp.is_none()
        );
        let log = ground.cluster().audit_log().context("no audit log")?;
        let used = used(&log, &manifests)?;
        ensure!(used.iter().all(|request| request.authorized), "{used:?}");
        Ok(())
    })
    .await
}
