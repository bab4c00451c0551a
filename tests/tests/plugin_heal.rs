//! `kubectl eno restore` and `kubectl eno resynth` heal what Eno does not, on a real API server with Eno's stand-in.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::FORCE_RESYNTHESIS;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{composition, config_map, reconciled_states, reconciled_synthesis, slice};
use eno_tests::plugin;
use eno_tests::standin::synthesis::Synthesis;
use eno_tests::standin::{Parts, StandIn};
use eno_tests::webhook::Guarded;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(40);
const SLICES: &str = "resourceslices.eno.azure.io";

/// A live composition of two slices, `web-0` and `web-1`, each with one ConfigMap.
async fn of_two_slices(ground: &Guarded) -> Result<()> {
    let web = ground.cluster().apply(&composition(ground.name(), "web")).await?;
    for index in 0..2 {
        let manifest = config_map(ground.name(), "web", index);
        ground.cluster().apply(&manifest).await?;
        let name = format!("web-{index}");
        ground.cluster().apply(&slice(&web, &name, "current", &[manifest])).await?;
        ground.states(&name, &reconciled_states(1, false)).await?;
    }
    let current = reconciled_synthesis("current", web.metadata.generation, &["web-0", "web-1"]);
    ground.compose("web", &json!({"currentSynthesis": current})).await?;
    Ok(())
}

/// Deletes the composition, and lets `web-1` go before its resources are deleted. Returns Eno, at work.
async fn lose_one(ground: &Guarded) -> Result<[StandIn; 2]> {
    let compositions = ground.cluster().eno("Composition", ground.name());
    let current = async || -> Result<Value> {
        let web = compositions.get("web").await?;
        Ok(web.data["status"]["currentSynthesis"].clone())
    };
    // Eno sums up what it sees: once it sees the slices, it calls the composition reconciled no more. Before, it would
    // take them for deleted (L2).
    ground.states("web-1", &json!({"resources": [{"reconciled": false}]})).await?;
    let (client, others) = (ground.cluster().client(), Parts { reconciler: false, ..Parts::ALL });
    let controller = StandIn::start(&client, &[ground.name()], others);
    eventually("Eno to see the slices", LIMIT, async || {
        let reconciled = current().await?["reconciled"].clone();
        ensure!(reconciled.is_null(), "reconciled is {reconciled}");
        Ok(())
    })
    .await?;
    compositions.delete("web", &DeleteParams::background()).await?;
    let generation = compositions.get("web").await?.metadata.generation;
    eventually("Eno to see the deletion", LIMIT, async || {
        let seen = current().await?["observedCompositionGeneration"].as_i64();
        ensure!(seen == generation, "it has seen generation {seen:?}");
        Ok(())
    })
    .await?;
    ground.terminating("web-1").await?;
    ground.patch_slice("web-1", "merge", &json!({"metadata": {"finalizers": null}})).await?.success()?;
    let parts = Parts { reconciler: true, ..Parts::NONE };
    Ok([controller, StandIn::start(&client, &[ground.name()], parts)])
}

/// S1: Eno waits for a slice that does not exist, and deletes nothing meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn restore_ends_a_deletion_that_waits_for_a_lost_slice() -> Result<()> {
    let ground = Guarded::unguarded("lost").await?;
    of_two_slices(&ground).await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("dump.yaml");
    std::fs::write(&file, ground.kubectl(&["get", SLICES, "-o", "yaml"]).await?.success()?)?;
    let _eno = lose_one(&ground).await?;

    let file = file.to_str().context("a path of text")?;
    let args = ["restore", file, "-n", ground.name()];
    let checked = plugin::eno(ground.cluster(), &[&args[..], &["--dry-run=server"]].concat()).await?;
    assert!(checked.stderr.contains("the current synthesis of composition web lists it"), "{}", checked.stderr);
    assert_eq!(checked.success()?, "resourceslice.eno.azure.io/web-1 restored (server dry run)\n");
    for resource in [SLICES, "compositions.eno.azure.io"] {
        ground.grant("eve", "get,list", resource).await?;
    }
    let refused = plugin::eno(ground.cluster(), &[&args[..], &["--yes", "--as=eve"]].concat()).await?;
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    let why = "User \"eve\" cannot create resource \"resourceslices\"";
    assert!(refused.stderr.contains(why) && ground.slice("web-1").await.is_err(), "{}", refused.stderr);
    let restored = plugin::eno(ground.cluster(), &[&args[..], &["--yes"]].concat()).await?;
    assert!(restored.stderr.contains("1 to restore, 1 exist, 0 must not be restored"), "{}", restored.stderr);
    assert_eq!(restored.success()?, "resourceslice.eno.azure.io/web-1 restored\n");

    eventually("Eno to end the deletion", LIMIT, async || {
        for kind in ["Composition", "ResourceSlice"] {
            let left = ground.cluster().eno(kind, ground.name()).list_metadata(&ListParams::default()).await?;
            ensure!(left.items.is_empty(), "{} of kind {kind} are left", left.items.len());
        }
        Ok(())
    })
    .await?;
    let resources = ground.cluster().api("v1", "ConfigMap", Some(ground.name()));
    let orphans = resources.list_metadata(&ListParams::default().labels("composition")).await?;
    assert_eq!(orphans.items.len(), 0, "nothing is orphaned");
    // Once the composition is gone, nothing waits for a slice.
    let late = plugin::eno(ground.cluster(), &[&args[..], &["--yes"]].concat()).await?;
    assert_eq!(late.code, 4, "{}", late.stderr);
    assert!(late.stderr.contains("its composition web does not exist"), "{}", late.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn resynth_sets_a_slice_free_that_a_live_composition_needs() -> Result<()> {
    let ground = Guarded::unguarded("resynth").await?;
    let web = ground.synthesized("web").await?;
    let current = &web.data["status"]["currentSynthesis"]["uuid"];
    ground.terminating("web-0").await?;

    let args = ["resynth", "web", "-n", ground.name(), "--yes", "--wait", "--timeout=30s"];
    let compositions = ground.cluster().eno("Composition", ground.name());
    let eno = async {
        eventually("Eno to be asked", LIMIT, async || {
            let web = compositions.get("web").await?;
            let asked = web.annotations().get(FORCE_RESYNTHESIS);
            ensure!(asked.is_some_and(|uuid| current == uuid), "the annotation is {asked:?}");
            Ok(())
        })
        .await?;
        let mut synthesis = Synthesis::begin(&ground.cluster().client(), ground.name(), "web").await?;
        let uuid = synthesis.uuid().to_owned();
        synthesis.write_slice(&[config_map(ground.name(), "web", 0)]).await?;
        synthesis.finish().await?;
        anyhow::Ok(uuid)
    };
    let (asked, uuid) = tokio::join!(plugin::eno(ground.cluster(), &args), eno);
    let (asked, uuid) = (asked?, uuid?);
    assert!(asked.stderr.contains("waiting: "), "{}", asked.stderr);
    let told = format!(
        "composition.eno.azure.io/web new synthesis requested\ncomposition.eno.azure.io/web synthesized: {uuid}\n"
    );
    assert_eq!(asked.success()?, told);

    // The old slice is needed by nobody now, though Eno's cleanup is not at work here.
    let cleaned = plugin::eno(ground.cluster(), &["cleanup", "-n", ground.name(), "--yes", "--wait"]).await?;
    assert_eq!(cleaned.success()?, "resourceslice.eno.azure.io/web-0 finalizer released\n");
    // A composition that has changed since is another matter.
    compositions.patch("web", &Default::default(), &kube::api::Patch::Merge(json!({"spec": {"x": 1}}))).await?;
    let refused = plugin::eno(ground.cluster(), &args).await?;
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    Ok(())
}
