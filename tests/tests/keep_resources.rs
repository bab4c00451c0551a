//! With the webhook, Eno loses nothing of what `standin.rs` shows it to lose alone. With `ENO_BIN_DIR` this is real Eno.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use eno_tests::collector::knows_enos_kinds;
use eno_tests::eno::Eno;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{composition, config_map};
use eno_tests::scenario::Scenario;
use eno_tests::standin::Parts;
use eno_tests::standin::synthesis::Synthesis;
use eno_tests::webhook::answer::denial;
use eno_tests::webhook::{Webhook, WebhookOptions};
use kube::ResourceExt;
use kube::api::ListParams;

const COMPOSITIONS: usize = 10;
const EACH: usize = 3;
const LIMIT: Duration = Duration::from_secs(120);

async fn guard(scenario: &Scenario) -> Result<Webhook> {
    let namespace = scenario.namespace().to_owned();
    Webhook::start(scenario.cluster(), WebhookOptions { namespace, ..WebhookOptions::default() }).await
}

/// The losing order, made certain where the stand-in is used: its cleanup is there, and whoever deletes the slices, before
/// the rest of Eno sees the deletion.
async fn start_the_losing_part(scenario: &mut Scenario) -> Result<()> {
    let parts = if Eno::bin_dir().is_some() { Parts::ALL } else { Parts { cleanup: true, ..Parts::NONE } };
    scenario.start_eno(parts).await
}

/// Starts the rest once all compositions are being deleted, and the webhook has denied so much by this hook.
async fn start_the_rest(scenario: &mut Scenario, webhook: &Webhook, hook: &str, denials: u64) -> Result<()> {
    let compositions = scenario.cluster().eno("Composition", scenario.namespace());
    let labels = [&*format!("hook=\"{hook}\""), "decision=\"deny\""];
    eventually("the race to be on", LIMIT, async || {
        let all = compositions.list_metadata(&ListParams::default()).await?;
        let live = all.iter().filter(|composition| composition.metadata.deletion_timestamp.is_none()).count();
        let denied = webhook.count("eno_webhook_reviews_total", &labels).await?;
        ensure!(live == 0 && denied >= denials, "{live} compositions are live, {denied} requests are denied by {hook}");
        Ok(())
    })
    .await?;
    if Eno::bin_dir().is_none() {
        scenario.start_eno(Parts { cleanup: false, ..Parts::ALL }).await?;
    }
    Ok(())
}

/// Reconciled compositions, a webhook, and the losing part of Eno.
async fn race(hint: &str) -> Result<(Scenario, Webhook)> {
    let mut scenario = Scenario::new(hint).await?;
    if Eno::bin_dir().is_some() {
        start_the_losing_part(&mut scenario).await?;
        scenario.populate(COMPOSITIONS, EACH).await?;
    } else {
        scenario.populate(COMPOSITIONS, EACH).await?;
        start_the_losing_part(&mut scenario).await?;
    }
    let webhook = guard(&scenario).await?;
    Ok((scenario, webhook))
}

/// Name and uid of each slice.
async fn slices(scenario: &Scenario) -> Result<BTreeMap<String, Option<String>>> {
    let slices = scenario.cluster().eno("ResourceSlice", scenario.namespace());
    let all = slices.list_metadata(&ListParams::default()).await?;
    ensure!(all.iter().all(|slice| slice.metadata.deletion_timestamp.is_none()), "some are being deleted");
    Ok(all.iter().map(|slice| (slice.name_any(), slice.uid())).collect())
}

/// Deletes all compositions, once the garbage collector can play its part.
async fn delete_compositions(scenario: &Scenario, cascade: &str) -> Result<()> {
    knows_enos_kinds(scenario.cluster(), scenario.namespace()).await?;
    let args = ["delete", "compositions.eno.azure.io", "--all", "--wait=false", cascade];
    scenario.cluster().kubectl(&[&args[..], &["--namespace", scenario.namespace()]].concat()).await?.success()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_nothing_when_a_namespace_is_deleted() -> Result<()> {
    let (mut scenario, webhook) = race("ns").await?;
    let args = ["delete", "namespace", scenario.namespace(), "--wait=false"];
    scenario.cluster().kubectl(&args).await?.success()?;
    start_the_rest(&mut scenario, &webhook, "slices-delete", 1).await?;
    assert_eq!(scenario.orphaned(LIMIT).await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_nothing_in_a_foreground_deletion() -> Result<()> {
    let (mut scenario, webhook) = race("foreground").await?;
    delete_compositions(&scenario, "--cascade=foreground").await?;
    start_the_rest(&mut scenario, &webhook, "slices-delete", COMPOSITIONS as u64).await?;
    assert_eq!(scenario.orphaned(LIMIT).await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_nothing_in_a_background_deletion() -> Result<()> {
    let mut scenario = Scenario::new("background").await?;
    scenario.start_eno(Parts::ALL).await?;
    scenario.populate(COMPOSITIONS, EACH).await?;
    let _webhook = guard(&scenario).await?;
    delete_compositions(&scenario, "--cascade=background").await?;
    assert_eq!(scenario.orphaned(LIMIT).await?, 0);
    Ok(())
}

/// The slices lose their owner only when Eno is done; they stay, since nothing that is here sees to ownerless slices.
#[tokio::test(flavor = "multi_thread")]
async fn orphans_no_resource_when_compositions_orphan_their_slices() -> Result<()> {
    let (mut scenario, webhook) = race("orphan").await?;
    delete_compositions(&scenario, "--cascade=orphan").await?;
    // The garbage collector takes the owner off, before Eno has begun.
    start_the_rest(&mut scenario, &webhook, "slices-update", 1).await?;
    eventually("all compositions to be gone", LIMIT, async || {
        let left = scenario.count("Composition").await?;
        ensure!(left == 0, "{left} are left");
        Ok(())
    })
    .await?;
    assert_eq!(scenario.resources().await?, 0);
    let denied = ["hook=\"slices-update\"", "decision=\"deny\"", "reason=\"NeededForDeletion\""];
    assert!(
        webhook.count("eno_webhook_reviews_total", &denied).await? > 0,
        "the collector was denied for another reason"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_same_slices_when_someone_deletes_them_all() -> Result<()> {
    let mut scenario = Scenario::new("all").await?;
    scenario.start_eno(Parts::ALL).await?;
    scenario.populate(COMPOSITIONS, EACH).await?;
    let _webhook = guard(&scenario).await?;
    let before = slices(&scenario).await?;
    assert_eq!(before.len(), COMPOSITIONS);

    let args = ["delete", "resourceslices.eno.azure.io", "--all", "--wait=false", "--namespace", scenario.namespace()];
    let refused = scenario.cluster().kubectl(&args).await?;
    denial(&refused, "slices-delete")?;
    let refusals = refused.stderr.matches("must stay (ReferencedByCurrent)").count();
    assert_eq!(refusals, COMPOSITIONS, "{}", refused.stderr);
    assert_eq!(slices(&scenario).await?, before);
    assert_eq!(scenario.resources().await?, COMPOSITIONS * EACH);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_slices_of_a_slow_first_synthesis() -> Result<()> {
    let mut scenario = Scenario::new("slow").await?;
    let (client, namespace) = (scenario.cluster().client(), scenario.namespace().to_owned());
    let webhook = guard(&scenario).await?;
    scenario.start_eno(Parts::ALL).await?;
    scenario.cluster().apply(&composition(&namespace, "slow")).await?;
    let mut synthesis = Synthesis::begin(&client, &namespace, "slow").await?;
    for index in 0..3 {
        synthesis.write_slice(&[config_map(scenario.targets(), "slow", index)]).await?;
    }
    let written = synthesis.written().to_vec();
    let before = slices(&scenario).await?;
    eventually("Eno to be refused each of them", Duration::from_secs(30), async || {
        let log = webhook.log()?;
        let refused = |name: &&String| log.lines().any(|line| line.contains(*name) && line.contains("InFlight"));
        ensure!(written.iter().all(|name| refused(&name)), "it logged:\n{log}");
        Ok(())
    })
    .await?;
    assert_eq!(slices(&scenario).await?, before, "3 of 3 are kept");
    synthesis.finish().await?;
    eventually("the composition to be ready", LIMIT, async || {
        let composition = scenario.cluster().eno("Composition", &namespace).get("slow").await?;
        let status = &composition.data["status"];
        ensure!(status["currentSynthesis"]["ready"].is_string(), "its status is {status}");
        Ok(())
    })
    .await?;
    assert_eq!(slices(&scenario).await?, before);
    assert_eq!(scenario.resources().await?, 3);
    Ok(())
}
