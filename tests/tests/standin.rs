//! What Eno loses when nothing guards it: the measure of everything else. With `ENO_BIN_DIR` these run on real Eno.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_tests::eno::Eno;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{composition, config_map};
use eno_tests::scenario::Scenario;
use eno_tests::standin::Parts;
use eno_tests::standin::synthesis::Synthesis;

const COMPOSITIONS: usize = 20;
const EACH: usize = 3;
const TOTAL: usize = COMPOSITIONS * EACH;
const LIMIT: Duration = Duration::from_secs(120);

async fn delete_namespace(scenario: &Scenario) -> Result<()> {
    let args = ["delete", "namespace", scenario.namespace(), "--wait=false"];
    scenario.cluster().kubectl(&args).await?.success()?;
    Ok(())
}

/// The race as it comes: the namespace controller deletes kind by kind in an order of its own, so some runs lose
/// nothing. What must hold is that Eno finishes, and is silent about what it lost.
#[tokio::test(flavor = "multi_thread")]
async fn finishes_whatever_it_loses_when_a_namespace_is_deleted() -> Result<()> {
    let mut scenario = Scenario::new("race").await?;
    scenario.start_eno(Parts::ALL).await?;
    scenario.populate(COMPOSITIONS, EACH).await?;
    delete_namespace(&scenario).await?;
    println!("orphaned {} of {TOTAL}", scenario.orphaned(LIMIT).await?);
    Ok(())
}

/// The losing order, made certain: the composition controller is late. Real Eno's parts cannot be started apart.
#[tokio::test(flavor = "multi_thread")]
async fn orphans_all_resources_when_slices_go_before_the_bump() -> Result<()> {
    if Eno::bin_dir().is_some() {
        println!("not run: real Eno has its cleanup and composition controllers in one process");
        return Ok(());
    }
    let mut scenario = Scenario::new("l2").await?;
    scenario.populate(COMPOSITIONS, EACH).await?;
    scenario.start_eno(Parts { cleanup: true, ..Parts::NONE }).await?;
    delete_namespace(&scenario).await?;
    scenario.slices_deleted(LIMIT).await?;
    eventually("Eno to release the slices", LIMIT, async || {
        let slices = scenario.count("ResourceSlice").await?;
        ensure!(slices == 0, "{slices} are left");
        Ok(())
    })
    .await?;
    scenario.start_eno(Parts { cleanup: false, ..Parts::ALL }).await?;
    assert_eq!(scenario.orphaned(LIMIT).await?, TOTAL);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn deletes_all_resources_when_compositions_are_deleted_in_the_background() -> Result<()> {
    let mut scenario = Scenario::new("background").await?;
    scenario.start_eno(Parts::ALL).await?;
    scenario.populate(COMPOSITIONS, EACH).await?;
    let args = ["delete", "compositions.eno.azure.io", "--all", "--namespace", scenario.namespace(), "--wait=false"];
    scenario.cluster().kubectl(&args).await?.success()?;
    assert_eq!(scenario.orphaned(LIMIT).await?, 0, "a plain deletion is what Eno does right");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn deletes_slices_of_a_slow_first_synthesis() -> Result<()> {
    let mut scenario = Scenario::new("l1").await?;
    let (client, namespace) = (scenario.cluster().client(), scenario.namespace().to_owned());
    scenario.start_eno(Parts::ALL).await?;
    scenario.cluster().apply(&composition(&namespace, "slow")).await?;
    let mut synthesis = Synthesis::begin(&client, &namespace, "slow").await?;
    for index in 0..3 {
        synthesis.write_slice(&[config_map(&namespace, "slow", index)]).await?;
    }
    eventually("Eno to delete slices of the synthesis in flight (L1)", Duration::from_secs(15), async || {
        let slices = scenario.count("ResourceSlice").await?;
        ensure!(slices == 0, "{slices} are left");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn brings_about_the_resources_of_a_finished_synthesis() -> Result<()> {
    let mut scenario = Scenario::new("create").await?;
    let (client, namespace) = (scenario.cluster().client(), scenario.namespace().to_owned());
    scenario.cluster().apply(&composition(&namespace, "quick")).await?;
    scenario.start_eno(Parts::ALL).await?;
    let mut synthesis = Synthesis::begin(&client, &namespace, "quick").await?;
    let manifests = [0, 1].map(|index| config_map(scenario.targets(), "quick", index));
    synthesis.write_slice(&manifests).await?;
    synthesis.finish().await?;
    eventually("the composition to be ready", Duration::from_secs(15), async || {
        let composition = scenario.cluster().eno("Composition", &namespace).get("quick").await?;
        let status = &composition.data["status"];
        ensure!(status["currentSynthesis"]["ready"].is_string(), "its status is {status}");
        Ok(())
    })
    .await?;
    assert_eq!(scenario.resources().await?, 2);
    Ok(())
}
