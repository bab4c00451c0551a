//! C4 and C5 on a real API server, by kubectl: a composition's finalizer comes off only when Eno is done, and a deletion says
//! what it will do.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION};
use eno_tests::cluster::Output;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{composition, reconciled_states};
use eno_tests::webhook::Guarded;
use eno_tests::webhook::answer::{denial, warnings};
use eno_tests::webhook::audit::{Requests, annotated};
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::json;

const COMPOSITIONS: &str = "compositions.eno.azure.io";
const LIMIT: Duration = Duration::from_secs(10);

/// Takes the composition's finalizer, as someone does who thinks that it is stuck.
async fn strip(ground: &Guarded, name: &str) -> Result<Output> {
    let patch = json!({"metadata": {"finalizers": null}}).to_string();
    ground.kubectl(&["patch", COMPOSITIONS, name, "--type=merge", "--patch", &patch]).await
}

async fn exists(ground: &Guarded, name: &str) -> Result<bool> {
    Ok(ground.cluster().eno("Composition", ground.name()).get_opt(name).await?.is_some())
}

fn must(ground: &Guarded, reason: &str, because: &str) -> String {
    let namespace = ground.name();
    format!(
        "composition {namespace}/web must keep its finalizer ({reason}): {because}. \
         Next: kubectl eno why composition/web -n {namespace}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_removal_of_the_finalizer_until_eno_is_done() -> Result<()> {
    let ground = Guarded::new("c4").await?;
    ground.live("web", 2).await?;
    assert_eq!(
        denial(&strip(&ground, "web").await?, "compositions-update")?,
        must(&ground, "CompositionLive", "it is not being deleted, and a later deletion would orphan its resources")
    );

    let compositions = ground.cluster().eno("Composition", ground.name());
    compositions.delete("web", &DeleteParams::background()).await?;
    let unseen =
        must(&ground, "NeededForDeletion", "Eno has not seen the deletion yet. Its resources would be orphaned");
    assert_eq!(denial(&strip(&ground, "web").await?, "compositions-update")?, unseen);

    let mut bumped = compositions.get("web").await?;
    bumped.data["status"]["currentSynthesis"]["reconciled"] = json!(null);
    bumped.data["status"]["currentSynthesis"]["observedCompositionGeneration"] = json!(bumped.metadata.generation);
    ground.set_status("Composition", "web", &bumped.data["status"]).await?;
    let undone =
        must(&ground, "NeededForDeletion", "its resources are not all deleted. Its resources would be orphaned");
    assert_eq!(denial(&strip(&ground, "web").await?, "compositions-update")?, undone);

    ground.reconcile(&bumped).await?;
    let left =
        "2 of the 2 resources in this slice are not known to be deleted (slice web-0). Its resources would be orphaned";
    assert_eq!(denial(&strip(&ground, "web").await?, "compositions-update")?, must(&ground, "NeededForDeletion", left));
    ground.states("web-0", &reconciled_states(2, true)).await?;
    strip(&ground, "web").await?.success()?;
    assert!(!exists(&ground, "web").await?, "it had no other finalizer");
    let requests = Requests { hook: "compositions-update", verb: "patch", namespace: ground.name(), name: "web" };
    annotated(ground.cluster(), requests, &[("reason", "CompositionReconciled"), ("evidence", "live")]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn allows_it_with_a_warning_and_an_event_where_a_slice_is_missing() -> Result<()> {
    let mut ground = Guarded::unguarded("missing").await?;
    let web = ground.finished("web", 1).await?;
    // It went before the webhook stood there.
    let slices = ground.cluster().eno("ResourceSlice", ground.name());
    slices.patch("web-0", &PatchParams::default(), &Patch::Merge(json!({"metadata": {"finalizers": null}}))).await?;
    slices.delete("web-0", &DeleteParams::default()).await?;
    ground.guard(&[]).await?;

    let stripped = strip(&ground, "web").await?;
    let warning = format!(
        "composition {}/web: 1 of its slices do not exist (web-0); resources listed only there may be orphaned",
        ground.name()
    );
    assert_eq!(warnings(&stripped), [&warning]);
    stripped.success()?;
    assert!(!exists(&ground, "web").await?);
    let events = ground.cluster().api("events.k8s.io/v1", "Event", Some(ground.name()));
    let event = eventually("an Event", LIMIT, async || {
        let mut all = events.list(&ListParams::default()).await?.items;
        ensure!(all.len() == 1, "{} Events", all.len());
        Ok(all.remove(0).data)
    })
    .await?;
    assert_eq!((&event["reason"], &event["type"]), (&json!("ResourcesMayBeOrphaned"), &json!("Warning")));
    assert_eq!(event["regarding"]["uid"], json!(web.uid()));
    assert!(event["note"].as_str().is_some_and(|note| note.starts_with(&warning)), "{event}");
    let labels = ["decision=\"allow\"", "reason=\"ResourcesMayBeOrphaned\""];
    assert_eq!(ground.webhook().count("eno_webhook_reviews_total", &labels).await?, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn allows_what_eno_does_itself_where_nothing_is_left_to_delete() -> Result<()> {
    let ground = Guarded::new("nothing").await?;
    let compositions = ground.cluster().eno("Composition", ground.name());
    // Never synthesized.
    ground.cluster().apply(&composition(ground.name(), "new")).await?;
    compositions.delete("new", &DeleteParams::background()).await?;
    strip(&ground, "new").await?.success()?;
    assert!(!exists(&ground, "new").await?);

    // It asks to go with its symphony, which has gone.
    ground.deleting("part", 1).await?;
    denial(&strip(&ground, "part").await?, "compositions-update")?;
    let patch = json!({"metadata": {
        "annotations": {"eno.azure.io/forceDeleteWhenSymphonyGone": "true"},
        "ownerReferences": [{
            "apiVersion": ENO_API_VERSION, "kind": "Symphony", "name": "gone", "controller": true,
            "uid": "00000000-0000-4000-8000-000000000000",
        }],
    }});
    ground.kubectl(&["patch", COMPOSITIONS, "part", "--type=merge", "--patch", &patch.to_string()]).await?.success()?;
    strip(&ground, "part").await?.success()?;
    assert!(!exists(&ground, "part").await?);

    // Its resources stay on purpose, so the states of its slices do not count.
    let left = ground.deleting("left", 1).await?;
    let annotate = ["annotate", COMPOSITIONS, "left", "eno.azure.io/deletion-strategy=orphan"];
    ground.kubectl(&annotate).await?.success()?;
    ground.reconcile(&left).await?;
    strip(&ground, "left").await?.success()?;
    assert!(!exists(&ground, "left").await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_finalizer_when_another_takes_its_place() -> Result<()> {
    let ground = Guarded::new("other").await?;
    ground.live("web", 1).await?;
    let patch = json!({"metadata": {"finalizers": ["example.com/other"]}}).to_string();
    let args = ["patch", COMPOSITIONS, "web", "--type=merge", "--patch", &patch];
    let message = denial(&ground.kubectl(&args).await?, "compositions-update")?;
    assert!(message.contains("(CompositionLive)"), "{message}");
    let patch = json!({"metadata": {"finalizers": ["example.com/other", CLEANUP_FINALIZER]}}).to_string();
    ground.kubectl(&["patch", COMPOSITIONS, "web", "--type=merge", "--patch", &patch]).await?.success()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn says_what_the_deletion_of_a_composition_will_do() -> Result<()> {
    let ground = Guarded::new("c5").await?;
    let namespace = ground.name().to_owned();
    ground.live("web", 1).await?;
    let delete = async |flags: &[&str]| -> Result<Vec<String>> {
        let args = [&["delete", COMPOSITIONS, "web", "--dry-run=server"], flags].concat();
        let output = ground.kubectl(&args).await?;
        let warned = warnings(&output).into_iter().map(str::to_owned).collect();
        output.success()?;
        Ok(warned)
    };
    let web = format!("composition {namespace}/web: ");
    let plain = format!("{web}Eno deletes the resources of its 1 slice(s), then the slices");
    assert_eq!(delete(&[]).await?, std::slice::from_ref(&plain));
    let foreground = format!(
        "{web}with --cascade=foreground the collector asks for its slices before Eno is done; eno-webhook holds them \
         back, which delays the end"
    );
    assert_eq!(delete(&["--cascade=foreground"]).await?, [plain.clone(), foreground]);
    let orphan = format!(
        "{web}with --cascade=orphan its slices lose their owner and Eno cannot finish; prefer --cascade=background"
    );
    assert_eq!(delete(&["--cascade=orphan"]).await?, [plain.clone(), orphan]);

    let mut dependent = composition(&namespace, "shop");
    dependent["spec"]["dependsOn"] = json!([{"name": "web", "namespace": namespace}]);
    ground.cluster().apply(&dependent).await?;
    let waits = format!("{web}waits until its dependents are gone: {namespace}/shop");
    eventually("the webhook to see the dependent", LIMIT, async || {
        let warned = delete(&[]).await?;
        ensure!(warned == [plain.clone(), waits.clone()], "{warned:?}");
        Ok(())
    })
    .await?;

    let in_flight = json!({"inFlightSynthesis": {"uuid": "next", "initialized": "2026-01-01T00:00:00Z"}});
    ground.set_status("Composition", "web", &in_flight).await?;
    let held = format!("{web}a synthesis is in flight; its slices are held until it has ended");
    assert_eq!(delete(&[]).await?, [plain, waits.clone(), held.clone()]);
    ground.kubectl(&["annotate", COMPOSITIONS, "web", "eno.azure.io/deletion-strategy=orphan"]).await?.success()?;
    let left = format!("{web}its resources are left behind, as its deletion strategy asks");
    assert_eq!(delete(&[]).await?, [left, waits, held]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn says_what_the_deletion_of_a_symphony_will_do() -> Result<()> {
    let ground = Guarded::new("symphony").await?;
    let namespace = ground.name();
    let symphony = json!({
        "apiVersion": ENO_API_VERSION, "kind": "Symphony",
        "metadata": {"name": "all", "namespace": namespace, "finalizers": [CLEANUP_FINALIZER]},
    });
    ground.cluster().apply(&symphony).await?;
    let by_design = format!(
        "symphony {namespace}/all: Eno leaves the resources of its compositions behind, by design; delete the compositions \
         first to delete them too"
    );
    let args = ["delete", "symphonies.eno.azure.io", "all", "--wait=false"];
    let dry_run = ground.kubectl(&[&args[..], &["--dry-run=server", "--cascade=foreground"]].concat()).await?;
    let cascade = format!(
        "symphony {namespace}/all: with this cascade some compositions may be deleted normally and others orphaned; prefer \
         --cascade=background"
    );
    assert_eq!(warnings(&dry_run), [&by_design, &cascade]);
    let deleted = ground.kubectl(&args).await?;
    assert_eq!(warnings(&deleted), [&by_design]);
    deleted.success()?;
    Ok(())
}
