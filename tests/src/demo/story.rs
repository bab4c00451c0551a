//! What Eno loses or leaves, each told once with nobody on guard and once with the webhook.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::ListParams;
use serde_json::json;
use tokio::time::sleep;

use super::stage::Stage;
use crate::cluster::Cluster;
use crate::eno::Eno;
use crate::eventually::eventually;
use crate::fixtures::{composition, config_map, slice};
use crate::scenario::Scenario;
use crate::standin::Parts;
use crate::standin::synthesis::Synthesis;
use crate::webhook::{Webhook, WebhookOptions};

/// Resources of each composition.
const EACH: usize = 3;
/// How long Eno may take to finish.
const LIMIT: Duration = Duration::from_secs(180);
/// How long a namespace is given to go.
const PATIENCE: Duration = Duration::from_secs(15);
/// Eno's cleanup first looks at a slice when it is between 5 and 10 s old (S11).
const SLOW: Duration = Duration::from_secs(12);

/// Who guards the slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Nobody.
    Nobody,
    /// eno-webhook.
    Webhook,
}

/// What one story lost.
pub struct Loss {
    /// What was done.
    pub what: &'static str,
    /// How much was lost.
    pub lost: usize,
    of: usize,
    how: &'static str,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} {}", self.lost, self.of, self.how)
    }
}

/// Tells all.
pub async fn tell(stage: &Stage, cluster: &Cluster, compositions: usize, guard: Guard) -> Result<Vec<Loss>> {
    Ok(vec![
        namespace_delete(stage, cluster, compositions, guard).await?,
        slow_synthesis(stage, cluster, guard).await?,
        lost_owner(stage, cluster, guard).await?,
    ])
}

async fn guarded(stage: &Stage, scenario: &Scenario, guard: Guard) -> Result<Option<Webhook>> {
    if guard == Guard::Nobody {
        return Ok(None);
    }
    let namespace = scenario.namespace().to_owned();
    let options = WebhookOptions { namespace, controllers: "*", ..WebhookOptions::default() };
    let start = Webhook::start(scenario.cluster(), options);
    stage.wait("eno-webhook print-config … | kubectl apply -f -", start).await.map(Some)
}

/// A namespace with reconciled compositions is deleted; their resources live in another one.
async fn namespace_delete(stage: &Stage, cluster: &Cluster, compositions: usize, guard: Guard) -> Result<Loss> {
    let mut scenario = Scenario::on(cluster.clone(), None, "shop").await?;
    let webhook = guarded(stage, &scenario, guard).await?;
    let real = Eno::bin_dir().is_some();
    if real {
        scenario.start_eno(Parts::ALL).await?;
    }
    stage.wait("making compositions", scenario.populate(compositions, EACH)).await?;
    let total = compositions * EACH;
    let namespace = scenario.namespace().to_owned();
    stage.say(&format!(
        "\n{compositions} compositions in namespace {namespace}, with {total} ConfigMaps in {}.",
        scenario.targets()
    ));
    if webhook.is_some() {
        show_why(stage, &scenario).await?;
    }
    if !real {
        // Of the orders in which the watches of Eno's controllers may deliver, this one loses; it is one of two.
        scenario.start_eno(Parts { cleanup: true, ..Parts::NONE }).await?;
    }
    stage.kubectl(&["delete", "namespace", &namespace, "--wait=false"]).await?;
    if !real {
        stage.wait("the namespace controller at work", deletion_began(&scenario, guard)).await?;
        scenario.start_eno(Parts { cleanup: false, ..Parts::ALL }).await?;
    }
    let lost = stage.wait("Eno at work", scenario.orphaned(LIMIT)).await?;
    stage.say(&match lost {
        0 => format!("Compositions and slices are gone, and so are all {total} ConfigMaps."),
        lost => {
            format!("Compositions and slices are gone. {lost} ConfigMaps are left, and nothing knows of them any more.")
        }
    });
    Ok(Loss { what: "kubectl delete namespace", lost, of: total, how: "resources orphaned" })
}

/// Until Eno's cleanup has let all slices go, or was kept from it.
async fn deletion_began(scenario: &Scenario, guard: Guard) -> Result<()> {
    let namespace = scenario.namespace();
    eventually("the deletion to begin", LIMIT, async || {
        if guard == Guard::Nobody {
            let slices = scenario.count("ResourceSlice").await?;
            ensure!(slices == 0, "{slices} slices are left");
        }
        let all = scenario.cluster().eno("Composition", namespace).list_metadata(&ListParams::default()).await?;
        let live = all.iter().filter(|composition| composition.metadata.deletion_timestamp.is_none()).count();
        ensure!(live == 0, "{live} compositions are not being deleted");
        Ok(())
    })
    .await
}

/// What the plugin says of the slices, and what the webhook answers to whoever deletes one.
async fn show_why(stage: &Stage, scenario: &Scenario) -> Result<()> {
    let namespace = scenario.namespace();
    let slices = scenario.cluster().eno("ResourceSlice", namespace).list_metadata(&ListParams::default()).await?;
    let slice = slices.items.first().context("there is no slice")?.name_any();
    stage.kubectl(&["eno", "slices", "-n", namespace]).await?;
    stage.say("");
    stage.kubectl(&["delete", "resourceslices.eno.azure.io", &slice, "-n", namespace]).await?;
    stage.say("");
    stage.kubectl(&["eno", "why", &format!("resourceslice/{slice}"), "-n", namespace]).await?;
    stage.say("");
    Ok(())
}

/// A first synthesis writes three slices, and takes its time.
async fn slow_synthesis(stage: &Stage, cluster: &Cluster, guard: Guard) -> Result<Loss> {
    const SLICES: usize = 3;
    let mut scenario = Scenario::on(cluster.clone(), None, "slow").await?;
    let webhook = guarded(stage, &scenario, guard).await?;
    let namespace = scenario.namespace().to_owned();
    let client = cluster.client();
    // The synthesis is played by hand: real Eno's own would be too fast.
    scenario.start_eno(Parts { cleanup: true, ..Parts::NONE }).await?;
    cluster.apply(&composition(&namespace, "big")).await?;
    let mut synthesis = Synthesis::begin(&client, &namespace, "big").await?;
    for index in 0..SLICES {
        synthesis.write_slice(&[config_map(scenario.targets(), "big", index)]).await?;
    }
    stage.say(&format!("\nComposition {namespace}/big is synthesized for the first time. {SLICES} slices are written, and more to come."));
    if webhook.is_some() {
        stage.kubectl(&["eno", "slices", "-n", &namespace]).await?;
    }
    let slow = async {
        sleep(SLOW).await;
        Ok(())
    };
    stage.wait("the synthesis takes its time", slow).await?;
    let kept = scenario.count("ResourceSlice").await?;
    let lost = SLICES.saturating_sub(kept);
    stage.say(&match lost {
        0 => format!("After {} s all {SLICES} slices are there.", SLOW.as_secs()),
        lost => format!(
            "After {} s Eno has deleted {lost} of its own slices as unused. It will begin anew, and lose them again.",
            SLOW.as_secs()
        ),
    });
    Ok(Loss { what: "a synthesis of more than 5 s", lost, of: SLICES, how: "slices lost" })
}

/// A namespace is deleted that holds garbage, and a slice whose owner is lost, as after a restore from a backup.
async fn lost_owner(stage: &Stage, cluster: &Cluster, guard: Guard) -> Result<Loss> {
    let mut scenario = Scenario::on(cluster.clone(), None, "lost").await?;
    let namespace = scenario.namespace().to_owned();
    let owner = cluster.apply(&composition(&namespace, "web")).await?;
    let manifests = [config_map(scenario.targets(), "web", 0)];
    cluster.apply(&slice(&owner, "garbage", "", &manifests)).await?;
    let mut ownerless = slice(&owner, "ownerless", "", &manifests);
    ownerless["metadata"]["ownerReferences"] = json!([]);
    cluster.apply(&ownerless).await?;
    stage.say(&format!("\nNamespace {namespace} holds a slice that nothing refers to, and one that lost its owner."));
    stage.wait("the slices come of age", age()).await?;
    stage.kubectl(&["eno", "slices", "-n", &namespace]).await?;
    let webhook = guarded(stage, &scenario, guard).await?;
    if webhook.is_some() {
        stage.wait("its controllers at work", collected(&scenario)).await?;
        stage.kubectl(&["eno", "slices", "-n", &namespace]).await?;
    }
    scenario.start_eno(Parts::ALL).await?;
    stage.kubectl(&["delete", "namespace", &namespace, "--wait=false"]).await?;
    let gone = eventually("the slices to be gone", PATIENCE, async || {
        let left = scenario.count("ResourceSlice").await?;
        ensure!(left == 0, "{left} are left");
        Ok(())
    });
    let lost = usize::from(stage.wait("Eno at work", gone).await.is_err());
    stage.say(&match lost {
        0 => "The slice without an owner was released, and the namespace can go.".to_owned(),
        _ => format!(
            "After {} s the slice without an owner is still there: Eno fails on it, again and again.",
            PATIENCE.as_secs()
        ),
    });
    Ok(Loss { what: "a slice that lost its owner", lost, of: 1, how: "namespaces hang" })
}

/// Leaves Eno at work on guarded compositions, to look around, until Ctrl-C.
pub async fn keep(stage: &Stage, cluster: &Cluster) -> Result<()> {
    let mut scenario = Scenario::on(cluster.clone(), None, "shop").await?;
    let _webhook = guarded(stage, &scenario, Guard::Webhook).await?;
    scenario.start_eno(Parts::ALL).await?;
    stage.wait("making compositions", scenario.populate(3, EACH)).await?;
    stage.keep(cluster, scenario.namespace()).await
}

/// Slices younger than 5 s are not judged.
async fn age() -> Result<()> {
    sleep(Duration::from_secs(6)).await;
    Ok(())
}

async fn collected(scenario: &Scenario) -> Result<()> {
    eventually("the garbage to be collected", LIMIT, async || {
        let left = scenario.count("ResourceSlice").await?;
        ensure!(left == 1, "{left} slices are left");
        Ok(())
    })
    .await
}
