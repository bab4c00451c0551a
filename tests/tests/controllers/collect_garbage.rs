//! The cleanup controller collects slices that nothing needs, promptly, and only those.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{self, composition, config_map, reconciled_states, reconciled_synthesis};
use eno_tests::proxy::Refusal;
use eno_tests::scenario::Scenario;
use eno_tests::standin::Parts;
use eno_tests::standin::synthesis::Synthesis;
use eno_tests::webhook::controlled::in_flight;
use eno_tests::webhook::{Guarded, Webhook, WebhookOptions};
use http::Method;
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, ListParams, PostParams};
use serde_json::json;
use tokio::time::interval;

/// A finalizer of somebody else: what it holds can still be looked at.
const OTHER: &str = "example.com/other";
const LIMIT: Duration = Duration::from_secs(60);

/// A composition, and slices of it that nothing refers to yet.
async fn owner_of(ground: &Guarded, name: &str, slices: &[&str]) -> Result<DynamicObject> {
    let owner = ground.cluster().apply(&composition(ground.name(), name)).await?;
    for slice in slices {
        ground.garbage(&owner, slice).await?;
    }
    Ok(owner)
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_what_a_synthesis_refers_to_and_collects_the_rest() -> Result<()> {
    let mut ground = Guarded::unguarded("references").await?;
    let web = owner_of(&ground, "web", &["current", "previous", "listed", "garbage"]).await?;
    ground.cluster().apply(&fixtures::slice(&web, "stamped", "in-flight", &[])).await?;
    // It began long after all slices were written, so that only what it lists or stamped is of it.
    let status = json!({
        "currentSynthesis": reconciled_synthesis("2", web.metadata.generation, &["current"]),
        "previousSynthesis": reconciled_synthesis("1", web.metadata.generation, &["previous"]),
        "inFlightSynthesis": in_flight(3600, &["listed"]),
    });
    ground.compose("web", &status).await?;
    let mut needed = vec![];
    for name in ["current", "previous", "listed", "stamped"] {
        needed.push(ground.slice(name).await?);
    }
    ground.control(&[]).await?;
    ground.gone("garbage").await?;
    ground.looked("Collect/Unreferenced", "collected", 1).await?;
    ground.judged("Keep/ReferencedByCurrent", 1).await?;
    ground.judged("Keep/ReferencedByPrevious", 1).await?;
    ground.judged("Keep/InFlight", 2).await?;
    for slice in &needed {
        ground.unchanged(slice).await?;
    }
    assert_eq!(ground.webhook().looks("Collect/Unreferenced", "collected").await?, 1, "nothing else");
    Ok(())
}

/// Eno asks again after a slice's *age*, so that it comes late, or (where clocks differ) never.
#[tokio::test(flavor = "multi_thread")]
async fn collects_a_slice_when_it_is_5_s_old_and_at_once_then() -> Result<()> {
    let mut ground = Guarded::unguarded("age").await?;
    let web = owner_of(&ground, "web", &[]).await?;
    ground.control(&[]).await?;
    let mut slice = fixtures::slice(&web, "garbage", "some", &[]);
    slice["metadata"]["finalizers"] = json!([CLEANUP_FINALIZER, OTHER]);
    let slice = ground.cluster().apply(&slice).await?;
    ground.looked("Collect/Unreferenced", "collected", 1).await?;
    let collected = ground.slice("garbage").await?;
    let created = slice.creation_timestamp().context("no creationTimestamp")?.0;
    let deleted = collected.metadata.deletion_timestamp.clone().context("it is not being deleted")?.0;
    let age = deleted.duration_since(created).as_secs();
    assert!((5..=6).contains(&age), "it was collected {age} s after its creation");
    assert_eq!(collected.finalizers(), [OTHER], "the finalizers of others stay");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn bears_clocks_that_differ() -> Result<()> {
    let mut ground = Guarded::unguarded("clocks").await?;
    for (name, initialized) in [("early", -2), ("late", 2), ("very-late", 60)] {
        owner_of(&ground, name, &[&format!("{name}-0")]).await?;
        ground.compose(name, &json!({"inFlightSynthesis": in_flight(initialized, &[])})).await?;
    }
    let (early, late) = (ground.slice("early-0").await?, ground.slice("late-0").await?);
    ground.control(&[]).await?;
    ground.gone("very-late-0").await?;
    ground.judged("Keep/InFlight", 2).await?;
    ground.unchanged(&early).await?;
    ground.unchanged(&late).await
}

/// The whole of L1: Eno's own cleanup deletes such slices while they are being written.
#[tokio::test(flavor = "multi_thread")]
async fn keeps_30_slices_that_take_20_s_to_write_and_collects_them_when_they_are_replaced() -> Result<()> {
    let mut scenario = Scenario::new("l1").await?;
    let (client, namespace) = (scenario.cluster().client(), scenario.namespace().to_owned());
    let options = WebhookOptions { namespace: namespace.clone(), controllers: "*", ..WebhookOptions::default() };
    let webhook = Webhook::start(scenario.cluster(), options).await?;
    scenario.start_eno(Parts::ALL).await?;
    scenario.cluster().apply(&composition(&namespace, "slow")).await?;
    let slices = scenario.cluster().eno("ResourceSlice", &namespace);
    let names = async || -> Result<Vec<(String, Option<String>)>> {
        let all = slices.list_metadata(&ListParams::default()).await?;
        Ok(all.iter().map(|slice| (slice.name_any(), slice.uid())).collect())
    };

    let mut synthesis = Synthesis::begin(&client, &namespace, "slow").await?;
    let mut pace = interval(Duration::from_millis(20_000 / 30));
    for index in 0..30 {
        pace.tick().await;
        synthesis.write_slice(&[config_map(scenario.targets(), "slow", index)]).await?;
    }
    let written = synthesis.written().to_vec();
    let before = names().await?;
    assert_eq!(before.len(), 30, "all are there when the last is written");
    synthesis.finish().await?;
    eventually("the composition to be ready", LIMIT, async || {
        let composition = scenario.cluster().eno("Composition", &namespace).get("slow").await?;
        let status = &composition.data["status"];
        ensure!(status["currentSynthesis"]["ready"].is_string(), "its status is {status}");
        Ok(())
    })
    .await?;
    assert_eq!(names().await?, before, "the same slices, not new ones of their names");
    assert_eq!(scenario.resources().await?, 30);
    assert_eq!(webhook.count("eno_webhook_looks_total", &["result=\"collected\""]).await?, 0);

    // After the second further synthesis nothing refers to them.
    for _ in 0..2 {
        let mut next = Synthesis::begin(&client, &namespace, "slow").await?;
        next.write_slice(&[config_map(scenario.targets(), "slow", 0)]).await?;
        next.finish().await?;
    }
    eventually("the replaced slices to be gone", LIMIT, async || {
        let left = names().await?;
        let old = left.iter().filter(|(name, _)| written.contains(name)).count();
        ensure!(old == 0 && left.len() == 2, "{old} old ones of {} are left", left.len());
        Ok(())
    })
    .await?;
    assert_eq!(webhook.count("eno_webhook_looks_total", &["result=\"failed\""]).await?, 0);
    Ok(())
}

/// Who comes second gets a 404 or a 409, and has nothing to repeat.
#[tokio::test(flavor = "multi_thread")]
async fn works_beside_enos_own_cleanup_without_a_fight() -> Result<()> {
    let mut ground = Guarded::unguarded("beside").await?;
    let web = ground.live("web", 1).await?;
    for index in 0..30 {
        ground.garbage(&web, &format!("garbage-{index}")).await?;
    }
    let needed = ground.slice("web-0").await?;
    ground.control(&[]).await?;
    let parts = Parts { cleanup: true, ..Parts::NONE };
    let eno = eno_tests::standin::StandIn::start(&ground.cluster().client(), &[ground.name()], parts);
    for index in 0..30 {
        ground.gone(&format!("garbage-{index}")).await?;
    }
    ground.unchanged(&needed).await?;
    let webhook = ground.webhook();
    assert_eq!(webhook.count("eno_webhook_looks_total", &["result=\"failed\""]).await?, 0);
    let changed = webhook.count("eno_webhook_looks_total", &["result=\"changed\""]).await?;
    assert!(changed <= 60, "met Eno's writes {changed} times");
    let refusals = eno.errors();
    assert!(refusals.len() <= 60, "Eno met ours: {refusals:#?}");
    Ok(())
}

/// Foreign, foreground and orphan finalizers keep a composition that Eno has finished with; its slices need not stay.
#[tokio::test(flavor = "multi_thread")]
async fn empties_a_composition_that_eno_has_finished_with() -> Result<()> {
    let mut ground = Guarded::unguarded("finished").await?;
    ground.guard_with(WebhookOptions { controllers: "*", ..WebhookOptions::default() }).await?;
    let mut held = composition(ground.name(), "web");
    held["metadata"]["finalizers"] = json!([CLEANUP_FINALIZER, OTHER]);
    let web = ground.cluster().apply(&held).await?;
    ground.garbage(&web, "web-0").await?;
    let current = reconciled_synthesis("1", web.metadata.generation, &["web-0"]);
    ground.compose("web", &json!({"currentSynthesis": current})).await?;
    let compositions = ground.cluster().eno("Composition", ground.name());
    compositions.delete("web", &DeleteParams::background()).await?;
    ground.states("web-0", &reconciled_states(1, true)).await?;
    ground.reconcile(&compositions.get("web").await?).await?;
    finish(&ground, "web").await?;
    ground.gone("web-0").await?;
    ground.looked("Collect/CompositionFinished", "collected", 1).await
}

/// Takes Eno's finalizer off a composition, as Eno does in the end; the collector may be at work on the others meanwhile.
async fn finish(ground: &Guarded, name: &str) -> Result<()> {
    let compositions = ground.cluster().eno("Composition", ground.name());
    eventually("Eno's finalizer to be off", LIMIT, async || {
        let mut composition = compositions.get(name).await?;
        composition.finalizers_mut().retain(|finalizer| finalizer != CLEANUP_FINALIZER);
        compositions.replace(name, &PostParams::default(), &composition).await?;
        Ok(())
    })
    .await
}

/// The garbage collector deletes the slices of the one, and takes the owner from those of the other: it is denied both while
/// Eno is at work, and tries again only after a while.
#[tokio::test(flavor = "multi_thread")]
async fn empties_a_composition_that_is_deleted_in_the_foreground_or_orphans_its_slices() -> Result<()> {
    let mut ground = Guarded::unguarded("cascade").await?;
    ground.guard_with(WebhookOptions { controllers: "*", ..WebhookOptions::default() }).await?;
    let compositions = ground.cluster().eno("Composition", ground.name());
    for name in ["foreground", "orphan"] {
        ground.live(name, 1).await?;
        let cascade = format!("--cascade={name}");
        let args = ["delete", "compositions.eno.azure.io", name, "--wait=false", &cascade];
        ground.kubectl(&args).await?.success()?;
        ground.states(&format!("{name}-0"), &reconciled_states(1, true)).await?;
        ground.reconcile(&compositions.get(name).await?).await?;
        finish(&ground, name).await?;
        ground.gone(&format!("{name}-0")).await?;
    }
    assert_eq!(ground.webhook().count("eno_webhook_looks_total", &["result=\"failed\""]).await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_namespace_ends_with_nothing_orphaned_and_no_event_tried_in_it() -> Result<()> {
    let mut scenario = Scenario::new("ends").await?;
    scenario.populate(10, 3).await?;
    let namespace = scenario.namespace().to_owned();
    let options = WebhookOptions {
        namespace: namespace.clone(),
        controllers: "*",
        flags: vec!["-v=4".to_owned()],
        ..WebhookOptions::default()
    };
    let mut webhook = Webhook::start(scenario.cluster(), options).await?;
    scenario.start_eno(Parts::ALL).await?;
    scenario.cluster().kubectl(&["delete", "namespace", &namespace, "--wait=false"]).await?.success()?;
    assert_eq!(scenario.orphaned(LIMIT).await.with_context(|| webhook.log().unwrap_or_default())?, 0);
    assert_eq!(webhook.count("eno_webhook_looks_total", &["result=\"failed\""]).await?, 0);
    webhook.stop();
    assert!(!webhook.log()?.contains("cannot post an Event"), "{}", webhook.log()?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_says_in_a_dry_run_what_it_would_do() -> Result<()> {
    let mut ground = Guarded::unguarded("dry").await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "garbage").await?;
    ground.garbage(&web, "terminating").await?;
    let bare = json!({"metadata": {"finalizers": null}});
    ground.patch_slice("web-0", "merge", &bare).await?.success()?;
    let before =
        [ground.slice("garbage").await?, ground.terminating("terminating").await?, ground.slice("web-0").await?];
    ground.control(&["--dry-run"]).await?;
    for (what, slice) in [("collect", "garbage"), ("release", "terminating"), ("restore the finalizer of", "web-0")] {
        ground.logged(&[&format!("dry run: would {what} resourceslice"), slice]).await?;
    }
    ground.looked("Collect/Unreferenced", "dry-run", 1).await?;
    for slice in &before {
        ground.unchanged(slice).await?;
    }
    let written = ground.webhook().count("eno_webhook_looks_total", &["result=\"collected\""]).await?;
    assert_eq!(written, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn does_only_what_it_is_told_to_run() -> Result<()> {
    let mut ground = Guarded::unguarded("chosen").await?;
    let web = ground.live("web", 1).await?;
    let garbage = ground.garbage(&web, "garbage").await?;
    ground.garbage(&web, "terminating").await?;
    ground.terminating("terminating").await?;
    let release = WebhookOptions { controllers: "release", unregistered: true, ..WebhookOptions::default() };
    ground.guard_with(release).await?;
    ground.gone("terminating").await?;
    ground.looked("Release/Unreferenced", "released", 1).await?;
    ground.judged("Collect/Unreferenced", 1).await?;
    ground.unchanged(&garbage).await?;

    ground.webhook().kill();
    let cleanup = WebhookOptions { controllers: "cleanup", unregistered: true, ..WebhookOptions::default() };
    ground.guard_with(cleanup).await?;
    ground.looked("Collect/Unreferenced", "collected", 1).await?;
    ground.judged("Release/Unreferenced", 1).await?;
    assert_eq!(ground.slice("garbage").await?.finalizers(), [CLEANUP_FINALIZER], "to release it is another's work");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slice_that_cannot_be_deleted_delays_only_itself() -> Result<()> {
    let mut ground = Guarded::unguarded("poisoned").await?;
    let proxy = ground.control_by_proxy(&[]).await?;
    let poisoned = |path: &str| path.contains("/resourceslices/poisoned");
    proxy.refuse(move |asked| (asked.method == Method::DELETE && poisoned(&asked.path)).then_some(Refusal::Broken));
    owner_of(&ground, "web", &["poisoned", "a", "b", "c"]).await?;
    for name in ["a", "b", "c"] {
        ground.gone(name).await?;
    }
    ground.looked("Collect/Unreferenced", "failed", 3).await?;
    ground.logged(&["looks at slices failed", "/poisoned"]).await?;
    let tries = proxy.asked(&Method::DELETE, "/resourceslices/poisoned");
    let pauses: Vec<_> = tries.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    assert!(pauses.iter().all(|pause| *pause >= Duration::from_millis(450)), "{pauses:?}");
    assert!(pauses[1] > pauses[0], "it tries ever less often: {pauses:?}");
    proxy.refuse_nothing();
    ground.gone("poisoned").await
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_as_long_as_the_api_server_asks_it_to() -> Result<()> {
    let mut ground = Guarded::unguarded("throttled").await?;
    let proxy = ground.control_by_proxy(&[]).await?;
    let first = std::sync::atomic::AtomicBool::new(true);
    proxy.refuse(move |asked| {
        let delete = asked.method == Method::DELETE && first.swap(false, std::sync::atomic::Ordering::Relaxed);
        delete.then_some(Refusal::TooMany(2))
    });
    owner_of(&ground, "web", &["garbage"]).await?;
    ground.gone("garbage").await?;
    let tries = proxy.asked(&Method::DELETE, "/resourceslices/garbage");
    assert_eq!(tries.len(), 2);
    let pause = tries[1].at - tries[0].at;
    assert!(pause >= Duration::from_secs(2), "it asked again after {pause:?}");
    Ok(())
}

/// Not at the start, and not when the right is lost later.
#[tokio::test(flavor = "multi_thread")]
async fn frees_nothing_while_it_may_not_read_compositions() -> Result<()> {
    let mut ground = Guarded::unguarded("forbidden").await?;
    owner_of(&ground, "web", &["garbage", "terminating"]).await?;
    ground.terminating("terminating").await?;
    let forbidden = |path: &str| path.contains("/compositions");
    let proxy = ground.control_by_proxy(&[]).await?;
    ground.gone("garbage").await?;
    ground.gone("terminating").await?;

    // The right is lost while all is known: the cache says garbage, the live look cannot tell.
    proxy.refuse(move |asked| forbidden(&asked.path).then_some(Refusal::Forbidden));
    let web = ground.cluster().eno("Composition", ground.name()).get("web").await?;
    let later = ground.garbage(&web, "later").await?;
    ground.looked("Unknown/OwnerUnknown", "disagreed", 2).await?;
    ground.logged(&["looks at slices failed", "Forbidden"]).await?;
    ground.unchanged(&later).await?;

    // Whoever starts without it knows nothing at all.
    let kubeconfig = Some(proxy.kubeconfig().to_owned());
    let options = WebhookOptions { controllers: "*", unregistered: true, kubeconfig, ..WebhookOptions::default() };
    ground.guard_with(options).await?;
    eventually("the watch of compositions to be refused", LIMIT, async || {
        let restarts = ground.webhook().count("eno_webhook_watch_restarts_total", &["kind=\"compositions\""]).await?;
        ensure!(restarts >= 2, "it was {restarts} times");
        Ok(())
    })
    .await?;
    ground.logged(&["a watch failed", "compositions", "Forbidden"]).await?;
    ground.unchanged(&later).await?;
    proxy.refuse_nothing();
    ground.gone("later").await
}

#[tokio::test(flavor = "multi_thread")]
async fn tells_of_many_slices_in_few_events() -> Result<()> {
    let mut ground = Guarded::unguarded("events").await?;
    ground.control(&[]).await?;
    let names: Vec<_> = (0..30).map(|index| format!("garbage-{index}")).collect();
    owner_of(&ground, "web", &names.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    for name in &names {
        ground.gone(name).await?;
    }
    ground.looked("Collect/Unreferenced", "collected", 30).await?;
    let told = ground.told("SliceCollected").await?;
    assert!(told.len() <= 3, "{told:#?}");
    assert!(told.iter().any(|told| told.note.contains("slices collected; one of them: slice garbage-")), "{told:#?}");
    assert!(told.iter().all(|told| told.regarding == "Composition/web" && told.type_ == "Normal"), "{told:#?}");
    Ok(())
}
