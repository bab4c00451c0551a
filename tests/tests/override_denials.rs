//! The override: an annotation with the object's own uid, and the right to `force`. Both are needed, and it is told.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{FORCE_ANNOTATION, REPORTING_CONTROLLER};
use eno_tests::eventually::eventually;
use eno_tests::webhook::Guarded;
use eno_tests::webhook::answer::{denial, warnings};
use eno_tests::webhook::audit::{Requests, annotated};
use kube::ResourceExt;
use kube::api::{DynamicObject, ListParams};
use serde_json::{Value, json};

const SLICES: &str = "resourceslices.eno.azure.io";
const COMPOSITIONS: &str = "compositions.eno.azure.io";
const LIMIT: Duration = Duration::from_secs(10);

/// Marks an object with its own uid, or with another.
async fn mark(ground: &Guarded, resource: &str, object: &DynamicObject, uid: &str) -> Result<()> {
    let annotation = format!("{FORCE_ANNOTATION}={uid}");
    ground.kubectl(&["annotate", resource, &object.name_any(), &annotation, "--overwrite"]).await?.success()?;
    Ok(())
}

/// The Events about an object, by us.
async fn events(ground: &Guarded, about: &DynamicObject) -> Result<Vec<Value>> {
    let events = ground.cluster().api("events.k8s.io/v1", "Event", Some(ground.name()));
    let ours = |event: &DynamicObject| {
        event.data["regarding"]["uid"] == json!(about.uid())
            && event.data["reportingController"] == REPORTING_CONTROLLER
    };
    let all = events.list(&ListParams::default()).await?;
    Ok(all.into_iter().filter(ours).map(|event| event.data).collect())
}

async fn the_event(ground: &Guarded, about: &DynamicObject) -> Result<Value> {
    eventually("an Event", LIMIT, async || {
        let mut events = events(ground, about).await?;
        ensure!(events.len() == 1, "{events:?}");
        events.pop().context("there is one")
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_an_override_without_the_right_and_says_what_to_grant() -> Result<()> {
    let ground = Guarded::new("no-right").await?;
    ground.live("web", 1).await?;
    ground.grant("alice", "get,delete", SLICES).await?;
    let slice = ground.slice("web-0").await?;
    let uid = slice.uid().context("it has a uid")?;
    mark(&ground, SLICES, &slice, &uid).await?;
    let before = ground.slice("web-0").await?;

    let message = denial(&ground.delete_slice("web-0", &["--as=alice"]).await?, "slices-delete")?;
    let namespace = ground.name();
    assert!(message.contains("must stay (ReferencedByCurrent)"), "{message}");
    let told = format!(
        ". {FORCE_ANNOTATION} is set, but alice may not force {SLICES} in namespace {namespace}; to grant it: \
         kubectl create role eno-force -n {namespace} --verb=force --resource={SLICES}, and bind it."
    );
    assert!(message.ends_with(&told), "{message}");
    let requests = Requests { hook: "slices-delete", verb: "delete", namespace, name: "web-0" };
    annotated(ground.cluster(), requests, &[("override", "refused"), ("decision", "deny")]).await?;
    ground.unchanged(&before).await
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_an_override_with_the_right_and_tells_everyone() -> Result<()> {
    let mut ground = Guarded::new("right").await?;
    ground.live("web", 1).await?;
    ground.grant("alice", "get,delete", SLICES).await?;
    ground.grant("alice", "force", SLICES).await?;
    let slice = ground.slice("web-0").await?;
    let refused = ground.delete_slice("web-0", &["--as=alice"]).await?;
    assert!(!denial(&refused, "slices-delete")?.contains(FORCE_ANNOTATION), "the right alone is not a wish");
    mark(&ground, SLICES, &slice, &slice.uid().context("it has a uid")?).await?;
    let namespace = ground.name().to_owned();
    let warning = format!(
        "forced by alice ({FORCE_ANNOTATION}), although resourceslice {namespace}/web-0 must stay (ReferencedByCurrent)"
    );

    // A dry run gets the same answer, and tells nobody else.
    let dry_run = ground.delete_slice("web-0", &["--as=alice", "--dry-run=server"]).await?;
    assert!(warnings(&dry_run).concat().starts_with(&warning), "{}", dry_run.stderr);
    dry_run.success()?;
    assert!(ground.slice("web-0").await?.metadata.deletion_timestamp.is_none());

    let forced = ground.delete_slice("web-0", &["--as=alice"]).await?;
    assert!(warnings(&forced).concat().starts_with(&warning), "{}", forced.stderr);
    forced.success()?;
    assert!(ground.slice("web-0").await?.metadata.deletion_timestamp.is_some());
    let event = the_event(&ground, &slice).await?;
    assert_eq!((&event["reason"], &event["type"]), (&json!("Forced"), &json!("Warning")));
    assert!(event["note"].as_str().is_some_and(|note| note.starts_with(&warning)), "{event}");
    assert!(event["series"].is_null(), "the dry run is not told: {event}");
    assert_eq!(ground.webhook().count("eno_webhook_events_total", &["result=\"posted\""]).await?, 1);
    let requests = Requests { hook: "slices-delete", verb: "delete", namespace: &namespace, name: "web-0" };
    let granted = [("override", "granted"), ("decision", "allow"), ("reason", "ReferencedByCurrent")];
    annotated(ground.cluster(), requests, &granted).await?;
    assert!(ground.webhook().count("eno_webhook_overrides_total", &["hook=\"slices-delete\""]).await? >= 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn ignores_an_annotation_with_another_uid() -> Result<()> {
    let ground = Guarded::new("stale").await?;
    let web = ground.live("web", 1).await?;
    let slice = ground.slice("web-0").await?;
    // The administrator may force anything. The uid is that of the slice's predecessor, say.
    for uid in [web.uid().context("it has a uid")?, String::new(), "true".to_owned()] {
        mark(&ground, SLICES, &slice, &uid).await?;
        let message = denial(&ground.delete_slice("web-0", &[]).await?, "slices-delete")?;
        assert!(message.contains("(ReferencedByCurrent)") && !message.contains(FORCE_ANNOTATION), "{message}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn forces_updates_by_an_annotation_that_comes_with_them() -> Result<()> {
    let ground = Guarded::new("update").await?;
    let web = ground.live("web", 1).await?;
    let strip = |uid: Option<String>| {
        json!({"metadata": {"finalizers": null, "annotations": {FORCE_ANNOTATION: uid}}}).to_string()
    };
    let of_slice = strip(ground.slice("web-0").await?.uid());
    let forced = ground.kubectl(&["patch", SLICES, "web-0", "--type=merge", "--patch", &of_slice]).await?;
    assert!(
        warnings(&forced).concat().contains("web-0 must keep its finalizer (ReferencedByCurrent)"),
        "{}",
        forced.stderr
    );
    forced.success()?;

    ground.grant("bob", "get,patch", COMPOSITIONS).await?;
    let of_composition = strip(web.uid());
    let args = ["patch", COMPOSITIONS, "web", "--type=merge", "--as=bob", "--patch", &of_composition];
    let message = denial(&ground.kubectl(&args).await?, "compositions-update")?;
    assert!(message.contains(&format!("bob may not force {COMPOSITIONS}")), "{message}");
    // The right on slices is none on compositions.
    ground.grant("bob", "force", SLICES).await?;
    denial(&ground.kubectl(&args).await?, "compositions-update")?;
    ground.grant("bob", "force", COMPOSITIONS).await?;
    let forced = ground.kubectl(&args).await?;
    assert!(warnings(&forced).concat().contains("forced by bob"), "{}", forced.stderr);
    forced.success()?;
    assert_eq!(the_event(&ground, &web).await?["reason"], "Forced");
    Ok(())
}
