//! The policy refuses (`manifests/policy/deny`), and there is no webhook: what is needed stays all the same, and Eno gets
//! everything done.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{ENO_API_VERSION, FORCE_ANNOTATION};
use eno_tests::cluster::{Cluster, Output};
use eno_tests::controlplane::{ControlPlane, Options};
use eno_tests::eno::Eno;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::config_map;
use eno_tests::scenario::Scenario;
use eno_tests::standin::Parts;
use eno_tests::webhook::Guarded;
use kube::ResourceExt;
use kube::api::ListParams;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{POLICY, kustomized};

const LIMIT: Duration = Duration::from_secs(120);
const COMPOSITIONS: usize = 10;
const EACH: usize = 3;

/// What the policy says; kubectl shows it as a denial.
fn denial(output: &Output) -> Result<&str> {
    let before = format!("ValidatingAdmissionPolicy '{POLICY}' with binding '{POLICY}' denied request: ");
    let said = output.stderr.split_once(&before).with_context(|| format!("{}{}", output.stdout, output.stderr))?.1;
    ensure!(output.stderr.contains("Error from server (Forbidden)"), "{}", output.stderr);
    Ok(said.trim_end())
}

/// A policy takes the API server a moment.
async fn in_force(ground: &Guarded) -> Result<()> {
    ground.live("probe", 1).await?;
    eventually("the policy to be in force", LIMIT, async || {
        denial(&ground.delete_slice("probe-0", &["--dry-run=server"]).await?).map(drop)
    })
    .await
}

/// The control plane lives as long as the first.
async fn ground(hint: &str) -> Result<(ControlPlane, Guarded)> {
    ground_with(hint, Options::default()).await
}

async fn ground_with(hint: &str, options: Options) -> Result<(ControlPlane, Guarded)> {
    let controlplane = ControlPlane::start(options).await?;
    let cluster = Cluster::of(&controlplane).await?;
    let ground = Guarded::on(cluster.clone(), hint).await?;
    kustomized(&cluster, &["apply"], "policy/deny").await?.success()?;
    in_force(&ground).await?;
    Ok((controlplane, ground))
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_what_would_lose_a_needed_slice_and_nothing_else() -> Result<()> {
    let dir = TempDir::new()?;
    let audit = dir.path().join("audit.log");
    let options = Options { audit: Some(audit.clone()), ..Options::default() };
    let (_controlplane, ground) = ground_with("needed", options).await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "web-old").await?;
    let before = ground.slice("web-0").await?;
    let needed = |reason: &str| {
        let namespace = ground.name();
        format!(
            "resourceslice {namespace}/web-0 is needed by composition web ({reason}). Next: kubectl eno why \
             resourceslice/web-0 -n {namespace}"
        )
    };
    let attempts = [
        ground.delete_slice("web-0", &[]).await?,
        ground.patch_slice("web-0", "merge", &json!({"metadata": {"finalizers": null}})).await?,
        ground.patch_slice("web-0", "merge", &json!({"metadata": {"ownerReferences": null}})).await?,
    ];
    for attempt in &attempts {
        assert_eq!(denial(attempt)?, needed("ReferencedByCurrent"));
    }
    let path = format!("/apis/eno.azure.io/v1/namespaces/{}/resourceslices", ground.name());
    denial(&ground.kubectl(&["delete", "--raw", &path]).await?)?;
    ground.unchanged(&before).await?;
    eventually("the audit log to tell of it", LIMIT, async || {
        let told = |line: &str| {
            line.contains("validation.policy.admission.k8s.io/validation_failure") && line.contains("web-0")
        };
        ensure!(fs::read_to_string(&audit)?.lines().any(told), "it does not");
        Ok(())
    })
    .await?;

    ground.delete_slice("web-old", &[]).await?.success()?;
    ground.patch_slice("web-0", "merge", &json!({"metadata": {"labels": {"some": "label"}}})).await?.success()?;
    // Nothing needs its namesake in another namespace.
    let elsewhere = Guarded::on(ground.cluster().clone(), "elsewhere").await?;
    let mut namesake = config_map(elsewhere.name(), "web", 0);
    namesake["apiVersion"] = json!(ENO_API_VERSION);
    namesake["kind"] = json!("ResourceSlice");
    namesake.as_object_mut().context("an object")?.remove("data");
    ground.cluster().apply(&namesake).await?;
    elsewhere.delete_slice("web-0", &[]).await?.success()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn lets_pass_who_may_force_and_nobody_else() -> Result<()> {
    let (_controlplane, ground) = ground("force").await?;
    ground.live("web", 1).await?;
    let verbs = ["--verb=get,delete", "--resource=resourceslices.eno.azure.io"];
    ground.kubectl(&[&["create", "role", "deleter"][..], &verbs].concat()).await?.success()?;
    ground.kubectl(&["create", "rolebinding", "deleter", "--role=deleter", "--user=alice"]).await?.success()?;
    let uid = ground.slice("web-0").await?.uid().context("it has a uid")?;
    let mark = async |value: &str| {
        let annotations = json!({"metadata": {"annotations": {FORCE_ANNOTATION: value}}});
        ground.patch_slice("web-0", "merge", &annotations).await?.success()
    };

    mark("another-uid").await?;
    denial(&ground.delete_slice("web-0", &[]).await?)?;
    mark(&uid).await?;
    eventually("alice's right to delete to hold", LIMIT, async || {
        denial(&ground.delete_slice("web-0", &["--as=alice"]).await?).map(drop)
    })
    .await?;
    ground.delete_slice("web-0", &[]).await?.success()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn leaves_nothing_to_apply_and_its_expressions_fit_the_types() -> Result<()> {
    let (_controlplane, ground) = ground("diff").await?;
    let cluster = ground.cluster();
    assert_eq!(kustomized(cluster, &["diff"], "policy/deny").await?.success()?, "");
    kustomized(cluster, &["apply", "--server-side"], "policy/deny").await?.success()?;
    assert_eq!(kustomized(cluster, &["diff", "--server-side"], "policy/deny").await?.success()?, "");
    let policies = cluster.api("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", None);
    eventually("the policy's types to be checked", LIMIT, async || {
        let policy = policies.get(POLICY).await?;
        let status = &policy.data["status"];
        ensure!(status["observedGeneration"] == json!(policy.metadata.generation), "{status}");
        assert_eq!(status["typeChecking"]["expressionWarnings"], Value::Null);
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_nothing_when_a_namespace_is_deleted_and_no_webhook_answers() -> Result<()> {
    let controlplane = ControlPlane::start(Options::default()).await?;
    let cluster = Cluster::of(&controlplane).await?;
    let mut scenario = Scenario::on(cluster.clone(), Some(controlplane), "namespace").await?;
    let real = Eno::bin_dir().is_some();
    // The losing order, made certain where the stand-in is used.
    let (before, after) = match real {
        true => (Parts::ALL, None),
        false => (Parts { cleanup: true, ..Parts::NONE }, Some(Parts { cleanup: false, ..Parts::ALL })),
    };
    if real {
        scenario.start_eno(before).await?;
        scenario.populate(COMPOSITIONS, EACH).await?;
    } else {
        scenario.populate(COMPOSITIONS, EACH).await?;
        scenario.start_eno(before).await?;
    }
    kustomized(&cluster, &["apply"], "policy/deny").await?.success()?;
    let namespace = scenario.namespace().to_owned();
    let slices = cluster.eno("ResourceSlice", &namespace);
    let some = slices.list_metadata(&ListParams::default()).await?.items.pop().context("there are slices")?;
    let args =
        ["delete", "resourceslices.eno.azure.io", &some.name_any(), "--dry-run=server", "--namespace", &namespace];
    eventually("the policy to be in force", LIMIT, async || denial(&cluster.kubectl(&args).await?).map(drop)).await?;

    cluster.kubectl(&["delete", "namespace", &namespace, "--wait=false"]).await?.success()?;
    if let Some(after) = after {
        let namespaces = cluster.api("v1", "Namespace", None);
        eventually("the namespace controller to be refused", LIMIT, async || {
            let conditions = namespaces.get(&namespace).await?.data["status"]["conditions"].to_string();
            ensure!(conditions.contains(POLICY), "{conditions}");
            Ok(())
        })
        .await?;
        scenario.start_eno(after).await?;
    }
    assert_eq!(scenario.orphaned(LIMIT).await?, 0);
    Ok(())
}
