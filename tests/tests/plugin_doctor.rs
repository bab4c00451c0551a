//! `kubectl eno doctor`: passes where all is there and works, and says what is not.

use anyhow::{Context, Result, ensure};
use eno_tests::cluster::{Cluster, Output};
use eno_tests::controlplane::{ControlPlane, Options};
use eno_tests::crds;
use eno_tests::eno::Eno;
use eno_tests::netns::{self, Netns};
use eno_tests::plugin::eno;
use eno_tests::standin::Parts;
use eno_tests::webhook::{Guarded, WebhookOptions};
use kube::api::{DeleteParams, ListParams};
use serde_json::{Value, json};

/// What a check found.
fn check<'c>(checks: &'c [Value], id: &str) -> Result<(&'c str, &'c str)> {
    let check = checks.iter().find(|check| check["id"] == id).with_context(|| format!("no check {id}"))?;
    let text = |field: &str| check[field].as_str().with_context(|| format!("{id} has no {field}"));
    Ok((text("outcome")?, text("message")?))
}

fn checks(output: &Output) -> Result<Vec<Value>> {
    let list: Value = serde_json::from_str(&output.stdout).with_context(|| output.stderr.clone())?;
    list["items"].as_array().cloned().context("it prints a list")
}

async fn doctor(ground: &Guarded, flags: &[&str]) -> Result<(i32, Vec<Value>)> {
    let output = eno(ground.cluster(), &[&["doctor", "-n", ground.name(), "-o", "json"], flags].concat()).await?;
    Ok((output.code, checks(&output)?))
}

fn expect(checks: &[Value], expected: &[(&str, &str, &str)]) -> Result<()> {
    for (id, outcome, says) in expected {
        let found = check(checks, id)?;
        ensure!(found.0 == *outcome && found.1.contains(says), "{id}: {found:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn passes_where_the_webhook_guards() -> Result<()> {
    let ground = Guarded::new("doctor").await?;
    let web = ground.live("web", 1).await?;
    let before = ground.slice("web-0").await?;
    let (code, checks) = doctor(&ground, &[]).await?;
    let expected = [
        ("API", "passed", "API server answers (v1."),
        ("CRDS", "passed", "resourceslices"),
        // The hook on CRDs is not of a namespace, so the tests leave it out.
        ("WEBHOOK-CONFIG", "warning", "definitions-delete"),
        ("WEBHOOK-POLICY", "passed", "failurePolicy is Fail"),
        ("WEBHOOK-ENDPOINT", "skipped", "reached by URL, at 127.0.0.1:"),
        ("WEBHOOK-CA", "passed", "CA bundle is valid"),
        ("WEBHOOK-CERTIFICATE", "passed", "for 127.0.0.1: the CA bundle verifies it"),
        ("PROBE-DENY", "passed", "web-0 was denied by the webhook"),
        ("PROBE-ALLOW", "passed", "dry-run create of a slice"),
        ("SLICES-TERMINATING", "passed", "of 1 slices"),
        ("RIGHTS-READ", "passed", ""),
        ("RIGHTS-WRITE", "passed", ""),
    ];
    expect(&checks, &expected)?;
    ensure!(code == 0, "exit code {code}: {checks:?}");
    ground.unchanged(&before).await?;

    ground.garbage(&web, "garbage").await?;
    let (_, checks) = doctor(&ground, &[]).await?;
    // It is young, and may be deleted all the same.
    expect(&checks, &[("PROBE-ALLOW", "passed", "garbage was allowed")])
}

#[tokio::test(flavor = "multi_thread")]
async fn expects_the_warning_in_mode_warn_and_the_call_in_mode_audit() -> Result<()> {
    for (mode, outcome, says, code) in [
        ("--mode=warn", "passed", "passed with the webhook's warning", 0),
        ("--mode=audit", "passed", "the webhook was asked: it runs with --mode=audit", 0),
    ] {
        let mut ground = Guarded::unguarded("doctor-mode").await?;
        ground.guard(&[mode]).await?;
        ground.live("web", 1).await?;
        let (exit, checks) = doctor(&ground, &[]).await?;
        expect(&checks, &[("PROBE-DENY", outcome, says), ("PROBE-ALLOW", "passed", "")])?;
        ensure!(exit == code, "{mode}: exit code {exit}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fails_where_the_webhook_is_away_or_was_never_there() -> Result<()> {
    let mut ground = Guarded::unguarded("doctor-away").await?;
    ground.live("web", 1).await?;
    let (code, checks) = doctor(&ground, &[]).await?;
    expect(&checks, &[("WEBHOOK-CONFIG", "failed", "nothing is protected"), ("PROBE-DENY", "skipped", "")])?;
    ensure!(code == 1, "exit code {code}");

    ground.guard(&[]).await?;
    ground.webhook().kill();
    let (code, checks) = doctor(&ground, &["--wait=3s"]).await?;
    let expected = [
        ("WEBHOOK-CERTIFICATE", "skipped", "cannot connect to"),
        ("PROBE-DENY", "failed", "was refused, but not by the rules"),
    ];
    expect(&checks, &expected)?;
    ensure!(code == 1, "exit code {code}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn finds_slices_whose_deletion_would_orphan() -> Result<()> {
    let mut ground = Guarded::unguarded("doctor-lost").await?;
    ground.live("web", 1).await?;
    // Before the webhook stood there.
    ground.cluster().eno("ResourceSlice", ground.name()).delete("web-0", &DeleteParams::default()).await?;
    ground.guard(&[]).await?;
    let (code, checks) = doctor(&ground, &[]).await?;
    expect(&checks, &[("SLICES-TERMINATING", "warning", "1 being deleted that live compositions need")])?;
    ensure!(code == 0, "a warning is no failure");
    let details =
        checks.iter().find(|check| check["id"] == "SLICES-TERMINATING").map(|check| check["details"].to_string());
    ensure!(details.as_ref().is_some_and(|details| details.contains("web-0")), "{details:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn looks_behind_a_service_and_at_controllers() -> Result<()> {
    let netns = Netns::new()?;
    let name = netns.name().to_owned();
    netns::within(Some(netns.name()), move || async move {
        let controlplane = ControlPlane::start(Options { netns: Some(name.clone()), ..Options::default() }).await?;
        let cluster = Cluster::of(&controlplane).await?;
        crds::install(&cluster).await?;
        let mut ground = Guarded::on(cluster, "doctor-service").await?;
        let options = WebhookOptions { netns: Some(name), definitions: true, ..WebhookOptions::default() };
        ground.guard_with(options).await?;
        ground.live("web", 1).await?;
        pods(&ground).await?;
        let (code, checks) = doctor(&ground, &[]).await?;
        let expected = [
            ("WEBHOOK-CONFIG", "passed", "all 7 hooks"),
            ("WEBHOOK-ENDPOINT", "passed", "has 1 ready endpoint"),
            ("WEBHOOK-CERTIFICATE", "passed", "the CA bundle verifies it"),
            ("PROBE-DENY", "passed", ""),
            ("ENO-CONTROLLER", "passed", "eno-controller 1/1 ready in doctor-service"),
            ("ENO-RECONCILER", "failed", "eno-reconciler 0/1 ready"),
        ];
        expect(&checks, &expected)?;
        ensure!(code == 1, "exit code {code}");
        Ok(())
    })
    .await
}

/// One controller that is ready, and one that is not.
async fn pods(ground: &Guarded) -> Result<()> {
    for (app, ready) in [("eno-controller", "True"), ("eno-reconciler", "False")] {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": app, "namespace": ground.name(), "labels": {"app": app}},
            "spec": {"containers": [{"name": "main", "image": "example.com/eno"}], "automountServiceAccountToken": false},
        });
        ground.cluster().apply(&pod).await?;
        let status = json!({"conditions": [{"type": "Ready", "status": ready}]});
        ground.cluster().set_status(&pod, &status).await?;
    }
    Ok(())
}

/// While an API server starts, it may not know of CRDs yet: a namespace that is being deleted is taken for empty then, and goes
/// without what is in it. Here it is made to go so.
#[tokio::test(flavor = "multi_thread")]
async fn names_what_is_left_in_namespaces_that_are_gone_and_the_way_out_works() -> Result<()> {
    let mut ground = Guarded::new("doctor-stranded").await?;
    ground.live("web", 1).await?;
    ground.control(&[]).await?;
    let (name, cluster) = (ground.name().to_owned(), ground.cluster().clone());
    let (_, whole) = doctor(&ground, &[]).await?;
    expect(&whole, &[("NAMESPACES", "passed", "of 1 namespaces with slices or compositions, all exist")])?;

    let namespaces = cluster.api("v1", "Namespace", None);
    namespaces.delete(&name, &DeleteParams::default()).await?;
    let finalize =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {"finalizers": []}});
    let path = format!("/api/v1/namespaces/{name}/finalize");
    let finalized = http::Request::put(path).header("content-type", "application/json");
    cluster.client().request::<Value>(finalized.body(finalize.to_string().into_bytes())?).await?;
    ensure!(namespaces.get_metadata_opt(&name).await?.is_none(), "the namespace is there");

    let output = eno(&cluster, &["doctor", "-o", "json"]).await?;
    let list = checks(&output)?;
    let found = list.iter().find(|check| check["id"] == "NAMESPACES").context("no check NAMESPACES")?;
    let told = found["details"].to_string();
    let next = format!("kubectl create namespace {name} && kubectl delete namespace {name}");
    ensure!(
        found["outcome"] == "warning" && told.contains(&format!("{name}: 1 compositions, 1 slices: {next}")),
        "{found}"
    );

    cluster.kubectl(&["create", "namespace", &name]).await?.success()?;
    let eno = Eno::start(&cluster, None, &[&name], Parts::ALL).await?;
    cluster.kubectl(&["delete", "namespace", &name, "--timeout=120s"]).await?.success()?;
    let left = cluster.eno("Composition", &name).list_metadata(&ListParams::default()).await?.items.len()
        + cluster.eno("ResourceSlice", &name).list_metadata(&ListParams::default()).await?.items.len();
    ensure!(left == 0, "{left} are left");
    drop(eno);
    Ok(())
}
