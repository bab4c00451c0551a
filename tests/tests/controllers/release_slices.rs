//! The release controller lets go of slices that nothing needs, also where Eno never would, and of no other.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION, FORCE_RESYNTHESIS, IGNORE_SIDE_EFFECTS};
use eno_tests::cluster::Cluster;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{self, composition, reconciled_states, reconciled_synthesis};
use eno_tests::standin::synthesis::Synthesis;
use eno_tests::webhook::Guarded;
use eno_tests::webhook::controlled::in_flight;
use kube::api::{DeleteParams, DynamicObject, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

/// A finalizer of somebody else.
const OTHER: &str = "example.com/other";
const LIMIT: Duration = Duration::from_secs(40);

/// Creates a slice, marks it deleted, and returns it.
async fn terminating(ground: &Guarded, slice: &Value) -> Result<DynamicObject> {
    let name = ground.cluster().apply(slice).await?.name_any();
    ground.terminating(&name).await
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_what_nothing_needs_and_leaves_the_finalizers_of_others() -> Result<()> {
    let mut ground = Guarded::unguarded("release").await?;
    let web = ground.cluster().apply(&composition(ground.name(), "web")).await?;
    let status = json!({
        "currentSynthesis": reconciled_synthesis("2", web.metadata.generation, &[]),
        "previousSynthesis": reconciled_synthesis("1", web.metadata.generation, &["previous"]),
    });
    ground.compose("web", &status).await?;

    let slice = |name: &str| fixtures::slice(&web, name, "some", &[]);
    terminating(&ground, &slice("unreferenced")).await?;
    terminating(&ground, &slice("previous")).await?;
    let mut foreign = slice("foreign");
    foreign["metadata"]["finalizers"] = json!([OTHER, CLEANUP_FINALIZER]);
    terminating(&ground, &foreign).await?;
    // Eno fails on a slice without an owner for ever (S3) …
    let mut ownerless = slice("ownerless");
    ownerless["metadata"]["ownerReferences"] = json!([]);
    terminating(&ground, &ownerless).await?;
    // … and compares names only.
    let mut replaced = slice("replaced");
    replaced["metadata"]["ownerReferences"][0]["uid"] = json!("00000000-0000-4000-8000-000000000000");
    terminating(&ground, &replaced).await?;
    let mut gone = slice("gone");
    gone["metadata"]["ownerReferences"][0]["name"] = json!("nobody");
    terminating(&ground, &gone).await?;

    ground.control(&[]).await?;
    for name in ["unreferenced", "previous", "ownerless", "replaced", "gone"] {
        ground.gone(name).await?;
    }
    ground.looked("Release/Unreferenced", "released", 3).await?;
    for reason in ["Unowned", "OwnerReplaced", "OwnerGone"] {
        ground.looked(&format!("Release/{reason}"), "released", 1).await?;
    }
    assert_eq!(ground.slice("foreign").await?.finalizers(), [OTHER]);
    Ok(())
}

/// As Eno's own test has it: with the composition missing, and with it reconciled.
#[tokio::test(flavor = "multi_thread")]
async fn releases_slices_of_a_deleting_composition_when_its_resources_are_deleted() -> Result<()> {
    let mut ground = Guarded::unguarded("deleting").await?;
    let deleting = ground.deleting("web", 2).await?;
    ground.terminating("web-0").await?;
    ground.control(&[]).await?;
    ground.judged("Hold/NeededForDeletion", 1).await?;

    // Eno has seen the deletion and calls it reconciled, from a cache that lacks the slice.
    ground.reconcile(&deleting).await?;
    ground.looked("Hold/NeededForDeletion", "stays", 1).await?;
    ground.states("web-0", &json!({"resources": [{"deleted": true}, {"deleted": false}]})).await?;
    ground.looked("Hold/NeededForDeletion", "stays", 2).await?;
    assert_eq!(ground.slice("web-0").await?.finalizers(), [CLEANUP_FINALIZER]);

    ground.states("web-0", &reconciled_states(2, true)).await?;
    ground.gone("web-0").await?;
    ground.looked("Release/CompositionReconciled", "released", 1).await
}

#[tokio::test(flavor = "multi_thread")]
async fn holds_a_slice_of_the_synthesis_in_flight_until_that_is_over() -> Result<()> {
    let mut ground = Guarded::unguarded("flight").await?;
    let web = ground.cluster().apply(&composition(ground.name(), "web")).await?;
    ground.compose("web", &json!({"inFlightSynthesis": in_flight(0, &[])})).await?;
    terminating(&ground, &fixtures::slice(&web, "web-0", "some", &[])).await?;
    ground.control(&[]).await?;
    ground.judged("Hold/InFlight", 1).await?;
    ground.compose("web", &json!({"inFlightSynthesis": null})).await?;
    ground.gone("web-0").await?;
    ground.looked("Release/Unreferenced", "released", 1).await
}

/// The reconciler is absent: nothing can be done about it, but somebody must be told, and told what blocks.
#[tokio::test(flavor = "multi_thread")]
async fn warns_once_of_a_slice_that_is_held_for_long_and_names_what_blocks_it() -> Result<()> {
    let mut ground = Guarded::unguarded("held").await?;
    let deleting = ground.deleting("web", 2).await?;
    let seen = json!({"observedCompositionGeneration": deleting.metadata.generation, "reconciled": null});
    ground.compose("web", &json!({"currentSynthesis": seen})).await?;
    ground.states("web-0", &json!({"resources": null})).await?;
    ground.terminating("web-0").await?;
    ground.control(&["--held-warning=1s"]).await?;
    let told = ground.told("SliceHeld").await?;
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!((&*told[0].type_, &*told[0].regarding), ("Warning", "Composition/web"));
    assert!(told[0].note.starts_with("slice web-0 is held: "), "{}", told[0].note);
    assert!(told[0].note.contains("NoReconcilerSeen"), "{}", told[0].note);
    assert!(told[0].note.contains("kubectl eno why resourceslice/web-0"), "{}", told[0].note);
    ground.logged(&["a slice is held for long", "web-0", "NoReconcilerSeen"]).await?;
    let metrics = ground.webhook().metrics().await?;
    let oldest = metrics.lines().find_map(|line| line.strip_prefix("eno_webhook_oldest_hold_seconds "));
    assert!(oldest.context("no such metric")?.parse::<f64>()? >= 1.0);
    let notes = ground.webhook().count("eno_webhook_notes_total", &["reason=\"SliceHeld\""]).await?;
    assert_eq!(notes, 1, "only once");
    assert_eq!(ground.slice("web-0").await?.finalizers(), [CLEANUP_FINALIZER]);
    Ok(())
}

/// No Event can be made there, so none is tried.
#[tokio::test(flavor = "multi_thread")]
async fn only_logs_what_is_held_in_a_namespace_that_is_being_deleted() -> Result<()> {
    let mut ground = Guarded::unguarded("ending").await?;
    ground.deleting("web", 2).await?;
    ground.kubectl(&["delete", "namespace", ground.name(), "--wait=false"]).await?.success()?;
    ground.control(&["--held-warning=1s", "-v=4"]).await?;
    ground.logged(&["a slice is held for long", "web-0", "DeletionNotObserved"]).await?;
    let webhook = ground.webhook();
    assert_eq!(webhook.count("eno_webhook_notes_total", &["reason=\"SliceHeld\""]).await?, 1);
    // It tells what it has left to tell.
    webhook.stop();
    let log = webhook.log()?;
    assert!(!log.contains("cannot post an Event"), "{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn puts_the_finalizer_back_on_a_slice_that_is_needed() -> Result<()> {
    let mut ground = Guarded::unguarded("restore").await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "web-old").await?;
    let bare = json!({"metadata": {"finalizers": null}});
    for slice in ["web-0", "web-old"] {
        ground.patch_slice(slice, "merge", &bare).await?.success()?;
    }
    ground.control(&[]).await?;
    ground.looked("Keep/ReferencedByCurrent", "restored", 1).await?;
    assert_eq!(ground.slice("web-0").await?.finalizers(), [CLEANUP_FINALIZER]);
    ground.gone("web-old").await?;
    ground.looked("Collect/Unreferenced", "collected", 1).await?;
    let told = ground.told("FinalizerRestored").await?;
    assert!(told[0].note.starts_with("slice web-0 got its finalizer back: "), "{}", told[0].note);
    Ok(())
}

/// A synthesizer of this test's own; synthesizers are in no namespace.
struct Synthesizer {
    api: Api<DynamicObject>,
    name: String,
}

impl Synthesizer {
    async fn new(cluster: &Cluster, name: &str) -> Result<Self> {
        let api = cluster.api(ENO_API_VERSION, "Synthesizer", None);
        let metadata = json!({"name": name});
        let object = json!({"apiVersion": ENO_API_VERSION, "kind": "Synthesizer", "metadata": metadata, "spec": {}});
        api.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
        Ok(Self { api, name: name.to_owned() })
    }

    async fn remove(self) -> Result<()> {
        self.api.delete(&self.name, &DeleteParams::default()).await?;
        Ok(())
    }
}

/// A live composition of a synthesizer whose current synthesis, with uuid `NAME-current`, refers to a slice `NAME-0` that
/// is being deleted, and has seen these generations.
async fn losing(ground: &Guarded, name: &str, synthesizer: &str, generations: [i64; 2]) -> Result<()> {
    let mut object = composition(ground.name(), name);
    object["spec"]["synthesizer"]["name"] = json!(synthesizer);
    if name == "ignores" {
        object["metadata"]["annotations"] = json!({IGNORE_SIDE_EFFECTS: "true"});
    }
    let applied = ground.cluster().apply(&object).await?;
    let slice = format!("{name}-0");
    let mut current = reconciled_synthesis(&format!("{name}-current"), Some(generations[0]), &[&slice]);
    current["observedSynthesizerGeneration"] = json!(generations[1]);
    ground.compose(name, &json!({"currentSynthesis": current})).await?;
    terminating(ground, &fixtures::slice(&applied, &slice, "some", &[])).await?;
    Ok(())
}

/// Eno would release such a slice, and orphan what the next synthesis no longer contains (L7).
#[tokio::test(flavor = "multi_thread")]
async fn asks_for_the_synthesis_that_sets_a_needed_slice_free_where_it_changes_nothing() -> Result<()> {
    let mut ground = Guarded::unguarded("resynthesis").await?;
    let synthesizer = Synthesizer::new(ground.cluster(), ground.name()).await?;
    let name = synthesizer.name.clone();
    losing(&ground, "asks", &name, [1, 1]).await?;
    losing(&ground, "ignores", &name, [1, 1]).await?;
    losing(&ground, "changed", &name, [0, 1]).await?;
    losing(&ground, "outdated", &name, [1, 0]).await?;
    ground.control(&[]).await?;

    let compositions = ground.cluster().eno("Composition", ground.name());
    let asked = async |name: &str| -> Result<Option<String>> {
        Ok(compositions.get(name).await?.annotations().get(FORCE_RESYNTHESIS).cloned())
    };
    eventually("a new synthesis to be asked for", LIMIT, async || {
        let annotation = asked("asks").await?;
        ensure!(annotation.as_deref() == Some("asks-current"), "the annotation is {annotation:?}");
        Ok(())
    })
    .await?;
    let told = ground.told("ResynthesisAsked").await?;
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told[0].regarding, "Composition/asks");
    let whys = [
        ("ignores", "its annotation eno.azure.io/ignore-side-effects forbids it"),
        ("changed", "composition or synthesizer have changed since the current synthesis"),
        ("outdated", "composition or synthesizer have changed since the current synthesis"),
    ];
    let refused = ground.told("ResynthesisNeeded").await?;
    assert_eq!(refused.len(), whys.len(), "{refused:#?}");
    for (name, why) in whys {
        let regarding = format!("Composition/{name}");
        let told = refused.iter().find(|told| told.regarding == regarding).context("no Event")?;
        assert!(told.type_ == "Warning" && told.note.ends_with(why), "{told:#?}");
        assert_eq!(asked(name).await?, None);
    }
    ground.judged("Hold/ReferencedByCurrent", 4).await?;
    assert_eq!(ground.webhook().count("eno_webhook_notes_total", &["reason=\"ResynthesisAsked\""]).await?, 1, "once");

    // Eno obeys; the old slice is of the previous synthesis then.
    let (client, namespace) = (ground.cluster().client(), ground.name().to_owned());
    let mut synthesis = Synthesis::begin(&client, &namespace, "asks").await?;
    synthesis.write_slice(&[]).await?;
    synthesis.finish().await?;
    ground.gone("asks-0").await?;
    ground.looked("Release/Unreferenced", "released", 1).await?;

    // What was forbidden is asked for when it is not forbidden any more.
    let allow = json!({"metadata": {"annotations": {IGNORE_SIDE_EFFECTS: null}}}).to_string();
    let args = ["patch", "compositions.eno.azure.io", "ignores", "--type=merge", "--patch", &allow];
    ground.kubectl(&args).await?.success()?;
    eventually("a new synthesis to be asked for", LIMIT, async || {
        let annotation = asked("ignores").await?;
        ensure!(annotation.as_deref() == Some("ignores-current"), "the annotation is {annotation:?}");
        Ok(())
    })
    .await?;
    synthesizer.remove().await
}
