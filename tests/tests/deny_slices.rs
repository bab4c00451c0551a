//! C1 and C2 on a real API server, by kubectl: slices that are needed stay, whatever someone does to one of them.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_tests::cluster::Output;
use eno_tests::collector::knows_enos_kinds;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{composition, reconciled_synthesis, slice};
use eno_tests::webhook::answer::{denial, warnings};
use eno_tests::webhook::{Guarded, WebhookOptions};
use kube::api::{DeleteParams, DynamicObject};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

const SLICES: &str = "resourceslices.eno.azure.io";
const LIMIT: Duration = Duration::from_secs(30);
/// As the field manager of the fixtures: what it does not name any more is removed.
const APPLY: [&str; 6] = ["apply", "--server-side", "--field-manager=eno-tests", "--force-conflicts", "-f", "-"];

/// What is said of the slice `web-0` of the live composition `web`.
fn must(ground: &Guarded, what: &str) -> String {
    let namespace = ground.name();
    format!(
        "resourceslice {namespace}/web-0 must {what} (ReferencedByCurrent): the current synthesis of composition web \
         lists it. Without it, Eno would orphan its resources. Next: kubectl eno why resourceslice/web-0 -n {namespace}"
    )
}

/// The slice as someone has it in a file: to apply, to replace.
fn file(slice: &DynamicObject) -> Value {
    let mut file = serde_json::to_value(slice).expect("an object is JSON");
    for field in ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"] {
        file["metadata"].as_object_mut().expect("metadata").remove(field);
    }
    file.as_object_mut().expect("an object").remove("status");
    file
}

async fn gone(ground: &Guarded, name: &str) -> Result<()> {
    let slices = ground.cluster().eno("ResourceSlice", ground.name());
    eventually("the slice to be gone", LIMIT, async || {
        ensure!(slices.get_opt(name).await?.is_none(), "{name} is there");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_deletion_of_a_needed_slice_and_says_what_to_do() -> Result<()> {
    let ground = Guarded::new("delete").await?;
    ground.live("web", 1).await?;
    let before = ground.slice("web-0").await?;

    let refused = ground.delete_slice("web-0", &[]).await?;
    assert_eq!(denial(&refused, "slices-delete")?, must(&ground, "stay"));
    assert!(refused.stderr.starts_with("Error from server (Forbidden): "), "{}", refused.stderr);

    let slices = ground.cluster().eno("ResourceSlice", ground.name());
    let refused = slices.delete("web-0", &DeleteParams::default()).await.expect_err("it is denied");
    let kube::Error::Api(status) = refused else { panic!("not an answer of the server: {refused}") };
    assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
    let details = status.details.context("a denial says what it is about")?;
    assert_eq!((details.name.as_str(), details.kind.as_str()), ("web-0", "resourceslices"));
    assert_eq!(Some(&details.uid), before.metadata.uid.as_ref());
    assert_eq!(details.causes[0].reason, "ReferencedByCurrent");
    ground.unchanged(&before).await
}

#[tokio::test(flavor = "multi_thread")]
async fn allows_deletion_of_garbage_and_of_what_a_finished_composition_leaves() -> Result<()> {
    let ground = Guarded::new("garbage").await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "web-old").await?;
    ground.delete_slice("web-old", &[]).await?.success()?;
    let terminating = ground.slice("web-old").await?;
    assert!(terminating.metadata.deletion_timestamp.is_some());
    let strip = json!([{"op": "remove", "path": "/metadata/finalizers"}]);
    ground.patch_slice("web-old", "json", &strip).await?.success()?;
    gone(&ground, "web-old").await?;

    for how in ["merge", "replace", "apply"] {
        ground.finished(how, 2).await?;
        let slice = format!("{how}-0");
        ground.delete_slice(&slice, &[]).await?.success()?;
        let mut stripped = file(&ground.slice(&slice).await?);
        stripped["metadata"]["finalizers"] = json!([]);
        let stripped = stripped.to_string();
        let released = match how {
            "merge" => ground.patch_slice(&slice, "merge", &json!({"metadata": {"finalizers": []}})).await?,
            "replace" => ground.kubectl_with(&["replace", "-f", "-"], &stripped).await?,
            _ => ground.kubectl_with(&APPLY, &stripped).await?,
        };
        released.success()?;
        gone(&ground, &slice).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_deletion_while_a_deleting_composition_still_needs_the_slice() -> Result<()> {
    let ground = Guarded::new("deleting").await?;
    let web = ground.deleting("web", 2).await?;
    let because = |undone: &str| {
        let namespace = ground.name();
        format!(
            "resourceslice {namespace}/web-0 must keep its finalizer (NeededForDeletion): composition web is being \
             deleted and still needs it: {undone}. Without it, Eno would orphan its resources. \
             Next: kubectl eno why resourceslice/web-0 -n {namespace}"
        )
    };
    let strip = json!({"metadata": {"finalizers": null}});
    let stripped = async || denial(&ground.patch_slice("web-0", "merge", &strip).await?, "slices-update");

    assert_eq!(stripped().await?, because("Eno has not seen the deletion yet"));
    denial(&ground.delete_slice("web-0", &[]).await?, "slices-delete")?;
    ground.reconcile(&web).await?;
    assert_eq!(
        stripped().await?,
        because("2 of the 2 resources in this slice are not known to be deleted"),
        "Eno may call it reconciled from a cache that lacks the slice"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn warns_on_deletion_of_an_ownerless_slice_and_lets_it_pass() -> Result<()> {
    let ground = Guarded::new("ownerless").await?;
    let object = json!({"apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice", "metadata": {"name": "stray"}});
    ground.kubectl_with(&["create", "-f", "-"], &object.to_string()).await?.success()?;
    let deleted = ground.delete_slice("stray", &[]).await?;
    let namespace = ground.name();
    assert_eq!(
        warnings(&deleted),
        [format!(
            "resourceslice {namespace}/stray: it has no composition as controller owner; if Eno made resources from it, \
             nothing deletes them"
        )]
    );
    deleted.success()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_deletion_of_a_collection_and_names_the_needed_slice() -> Result<()> {
    let ground = Guarded::new("collection").await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "web-old").await?;
    let before = ground.slice("web-0").await?;

    // One request for all of them, in which the API server asks about each without a name.
    let path = format!("/apis/eno.azure.io/v1/namespaces/{}/resourceslices", ground.name());
    let refused = ground.kubectl(&["delete", "--raw", &path]).await?;
    assert_eq!(denial(&refused, "slices-delete")?, must(&ground, "stay"));
    ground.unchanged(&before).await?;

    // One request for each of them.
    let refused = ground.kubectl(&["delete", SLICES, "--all", "--wait=false"]).await?;
    assert_eq!(denial(&refused, "slices-delete")?, must(&ground, "stay"));
    assert!(ground.slice("web-old").await?.metadata.deletion_timestamp.is_some(), "garbage goes");
    ground.unchanged(&before).await
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_removal_of_the_finalizer_however_it_is_written() -> Result<()> {
    let ground = Guarded::new("strip").await?;
    ground.live("web", 1).await?;
    let before = ground.slice("web-0").await?;
    let mut stripped = file(&before);
    stripped["metadata"]["finalizers"] = json!([]);
    let stripped = stripped.to_string();

    let json_patch = json!([{"op": "remove", "path": "/metadata/finalizers/0"}]);
    let merge_patch = json!({"metadata": {"finalizers": null}});
    let other_finalizer = json!({"metadata": {"finalizers": ["example.com/other"]}});
    let attempts: [(&str, Output); 6] = [
        ("JSON patch", ground.patch_slice("web-0", "json", &json_patch).await?),
        ("merge patch", ground.patch_slice("web-0", "merge", &merge_patch).await?),
        ("another finalizer in its place", ground.patch_slice("web-0", "merge", &other_finalizer).await?),
        ("apply", ground.kubectl_with(&APPLY, &stripped).await?),
        ("replace", ground.kubectl_with(&["replace", "-f", "-"], &stripped).await?),
        ("edit", edit(&ground, &format!("sed -i /{}/d", CLEANUP_FINALIZER.replace('/', "."))).await?),
    ];
    for (how, output) in attempts {
        if how == "edit" {
            // It asks the person again, and shows the denial there.
            assert!(output.stderr.contains(&must(&ground, "keep its finalizer")), "{how}: {}", output.stderr);
        } else {
            assert_eq!(denial(&output, "slices-update")?, must(&ground, "keep its finalizer"), "{how}");
        }
        ground.unchanged(&before).await?;
    }
    Ok(())
}

/// `kubectl edit` of `web-0`, by a person who does this to the file.
async fn edit(ground: &Guarded, editor: &str) -> Result<Output> {
    let cluster = ground.cluster();
    let mut kubectl = Command::new(cluster.kubectl_path());
    kubectl.args(["edit", SLICES, "web-0", "--namespace", ground.name()]).stdin(Stdio::null()).kill_on_drop(true);
    // It leaves the refused file in the folder for temporary ones.
    let dir = TempDir::new()?;
    kubectl.env("KUBECONFIG", cluster.kubeconfig()).env("KUBECACHEDIR", dir.path()).env("TMPDIR", dir.path());
    let output = kubectl.env("KUBE_EDITOR", editor).output().await?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Output { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) })
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_removal_and_change_of_the_owner() -> Result<()> {
    let ground = Guarded::new("owner").await?;
    ground.live("web", 1).await?;
    let other = ground.live("api", 1).await?;
    let before = ground.slice("web-0").await?;
    let owner = &before.metadata.owner_references.clone().unwrap_or_default()[0];
    let with = |change: Value| {
        let mut owner = serde_json::to_value(owner).expect("an owner is JSON");
        owner.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        json!({"metadata": {"ownerReferences": [owner]}})
    };
    let changes = [
        json!([]),
        json!(null),
        with(json!({"name": "api", "uid": other.metadata.uid}))["metadata"]["ownerReferences"].clone(),
        with(json!({"uid": other.metadata.uid}))["metadata"]["ownerReferences"].clone(),
        with(json!({"controller": false}))["metadata"]["ownerReferences"].clone(),
    ];
    for owners in changes {
        let patch = json!({"metadata": {"ownerReferences": owners}});
        let refused = ground.patch_slice("web-0", "merge", &patch).await?;
        assert_eq!(denial(&refused, "slices-update")?, must(&ground, "keep its owner"), "{owners}");
        ground.unchanged(&before).await?;
    }
    // What is not guarded may change.
    ground.patch_slice("web-0", "merge", &with(json!({"blockOwnerDeletion": false}))).await?.success()?;
    Ok(())
}

/// It empties a finished composition, for which it needs the owner; a strip would leave ownerless garbage.
#[tokio::test(flavor = "multi_thread")]
async fn denies_removal_of_an_owner_that_exists_while_the_cleanup_runs() -> Result<()> {
    let mut ground = Guarded::unguarded("cleanup").await?;
    ground.finished("web", 1).await?;
    ground.guard_with(WebhookOptions { controllers: "*", ..WebhookOptions::default() }).await?;
    let before = ground.slice("web-0").await?;
    let refused = ground.patch_slice("web-0", "merge", &json!({"metadata": {"ownerReferences": null}})).await?;
    let namespace = ground.name();
    assert_eq!(
        denial(&refused, "slices-update")?,
        format!(
            "resourceslice {namespace}/web-0 must keep its owner (OwnerExists): composition web exists, and its slices are cleaned up by \
             it. Next: kubectl eno why resourceslice/web-0 -n {namespace}"
        )
    );
    ground.unchanged(&before).await
}

/// A backup brings new uids and old names; the collector sees slices whose owner's uid does not exist.
#[tokio::test(flavor = "multi_thread")]
async fn keeps_slices_of_a_restored_backup_from_the_garbage_collector() -> Result<()> {
    let mut ground = Guarded::new("backup").await?;
    let namespace = ground.name().to_owned();
    knows_enos_kinds(ground.cluster(), &namespace).await?;
    let applied = ground.cluster().apply(&composition(&namespace, "web")).await?;
    let current = reconciled_synthesis("some", applied.metadata.generation, &["web-0"]);
    ground.set_status("Composition", "web", &json!({"currentSynthesis": current})).await?;
    let mut restored = slice(&applied, "web-0", "some", &[]);
    restored["metadata"]["ownerReferences"][0]["uid"] = json!("00000000-0000-4000-8000-000000000000");
    ground.cluster().apply(&restored).await?;
    let before = ground.slice("web-0").await?;

    eventually("the garbage collector to be refused", LIMIT, async || {
        let log = ground.webhook().log()?;
        let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
        let refused = |line: &str| line.contains(collector) && line.contains("web-0") && line.contains("deny");
        ensure!(log.lines().any(refused), "it logged:\n{log}");
        Ok(())
    })
    .await?;
    assert_eq!(denial(&ground.delete_slice("web-0", &[]).await?, "slices-delete")?, must(&ground, "stay"));
    ground.unchanged(&before).await
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_a_dry_run_as_it_answers_the_real_request() -> Result<()> {
    let ground = Guarded::new("dry-run").await?;
    let web = ground.live("web", 1).await?;
    let old = ground.garbage(&web, "web-old").await?;
    let needed = ground.slice("web-0").await?;

    let refused = ground.delete_slice("web-0", &["--dry-run=server"]).await?;
    assert_eq!(denial(&refused, "slices-delete")?, must(&ground, "stay"));
    let strip = json!({"metadata": {"finalizers": null}}).to_string();
    let args = ["patch", SLICES, "web-0", "--type=merge", "--dry-run=server", "--patch", &strip];
    assert_eq!(denial(&ground.kubectl(&args).await?, "slices-update")?, must(&ground, "keep its finalizer"));
    ground.delete_slice("web-old", &["--dry-run=server"]).await?.success()?;
    ground.unchanged(&needed).await?;
    ground.unchanged(&old).await
}
