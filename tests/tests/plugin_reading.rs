//! The reading commands of `kubectl eno` on a real control plane, run by kubectl.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION};
use eno_tests::cluster::Output;
use eno_tests::eventually::eventually;
use eno_tests::fixtures::{config_map, slice};
use eno_tests::plugin::{eno, eno_with};
use eno_tests::webhook::Guarded;
use serde_json::{Value, json};

async fn run(ground: &Guarded, args: &[&str]) -> Result<Output> {
    let args: Vec<&str> = args.iter().copied().chain(["-n", ground.name()]).collect();
    eno(ground.cluster(), &args).await
}

/// A symphony that owns a new composition of this name.
async fn symphony(ground: &Guarded, name: &str, composition: &str) -> Result<()> {
    let symphony = ground
        .cluster()
        .apply(&json!({
            "apiVersion": ENO_API_VERSION, "kind": "Symphony",
            "metadata": {"name": name, "namespace": ground.name(), "finalizers": [CLEANUP_FINALIZER]},
            "spec": {"variations": [{"synthesizer": {"name": "none"}}]},
        }))
        .await?;
    let owner = json!({"apiVersion": ENO_API_VERSION, "kind": "Symphony", "name": name,
        "uid": symphony.metadata.uid, "controller": true});
    let owned = json!({"metadata": {"ownerReferences": [owner]}});
    let args = ["patch", "compositions.eno.azure.io", composition, "--type=merge", "-p", &owned.to_string()];
    ground.kubectl(&args).await?.success()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn compositions_show_state_and_what_blocks_them() -> Result<()> {
    let ground = Guarded::unguarded("compositions").await?;
    ground.live("web", 2).await?;
    ground.deleting("legacy", 2).await?;
    let paths = "jsonpath={range .items[*]}{.name}={.state}:{.blockers[*].code} {end}";
    let shown = run(&ground, &["compositions", "-o", paths]).await?.success()?;
    ensure!(shown == "legacy=DeletionRequested:DeletionNotObserved web=Ready: ", "{shown}");
    let stuck = run(&ground, &["compositions", "--stuck", "--stuck-after=0s", "-o", "name"]).await?.success()?;
    ensure!(stuck == "composition.eno.azure.io/legacy\n", "{stuck}");
    let none = run(&ground, &["slices", "--older-than=1h"]).await?;
    ensure!(none.stderr.starts_with("No resources found"), "{}", none.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn tree_leads_from_symphony_to_resources() -> Result<()> {
    let ground = Guarded::unguarded("tree").await?;
    ground.live("web", 2).await?;
    symphony(&ground, "all", "web").await?;
    ground.kubectl(&["delete", "configmap", "web-1"]).await?.success()?;
    let tree = run(&ground, &["tree", "symphony/all", "--target-same", "--ascii"]).await?.success()?;
    let place = ground.name();
    for line in [
        "Symphony/all".to_owned(),
        "`- Composition/web".to_owned(),
        format!("|- v1/ConfigMap {place}/web-0"),
        format!("`- v1/ConfigMap {place}/web-1"),
    ] {
        ensure!(tree.contains(&line), "no {line:?} in\n{tree}");
    }
    let of = |name: &str| tree.lines().find(|line| line.contains(&format!("{place}/{name}"))).unwrap_or_default();
    ensure!(of("web-0").ends_with("exists") && of("web-1").ends_with("gone"), "{tree}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_delete_says_what_the_server_then_does() -> Result<()> {
    let mut ground = Guarded::unguarded("plan").await?;
    ground.live("web", 1).await?;
    symphony(&ground, "all", "web").await?;
    ground.guard(&[]).await?;
    let outcome = "jsonpath={.webhook.outcome} {.webhook.ground}";
    let planned = run(&ground, &["plan-delete", "slice/web-0", "-o", outcome]).await?.success()?;
    ensure!(planned == "deny ReferencedByCurrent", "{planned}");
    let denied = ground.delete_slice("web-0", &["--wait=false"]).await?;
    ensure!(denied.code == 1 && denied.stderr.contains("ReferencedByCurrent"), "{}", denied.stderr);
    let paths = "jsonpath={.leftBehind[*].name} {.leftBehind[*].presence} {.dangers[*].code}";
    let planned = run(&ground, &["plan-delete", "symphony/all", "--target-same", "-o", paths]).await?.success()?;
    ensure!(planned == "web-0 Exists SymphonyOrphans", "{planned}");
    let namespace = ["plan-delete", "namespace", ground.name(), "-o", "jsonpath={.deleted[*].name} {.dangers[*].code}"];
    let planned = eno(ground.cluster(), &namespace).await?.success()?;
    ensure!(planned == "web-0 SlicesGoFirst", "{planned}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn why_explains_symphony_namespace_and_pod() -> Result<()> {
    let ground = Guarded::unguarded("why").await?;
    ground.live("web", 1).await?;
    symphony(&ground, "all", "web").await?;
    ground.kubectl(&["delete", "symphonies.eno.azure.io", "all", "--wait=false"]).await?.success()?;
    let why = run(&ground, &["why", "symphony/all", "-o", "jsonpath={.state} {.blockers[*].code}"]).await?.success()?;
    ensure!(why == "Deleting CompositionsLeft", "{why}");
    let namespace = ["why", "ns", ground.name()];
    let why = eno(ground.cluster(), &namespace).await?.success()?;
    ensure!(why.contains("it holds 1 symphonies, 1 compositions and 1 slices of Eno's"), "{why}");
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "synthesis", "namespace": ground.name(), "labels": {
            "app.kubernetes.io/managed-by": "eno", "eno.azure.io/composition-name": "web",
            "eno.azure.io/composition-namespace": ground.name(), "eno.azure.io/synthesis-uuid": "old",
        }},
        "spec": {"containers": [{"name": "executor", "image": "none"}], "automountServiceAccountToken": false},
    });
    ground.cluster().apply(&pod).await?;
    let why = run(&ground, &["why", "pod/synthesis", "-o", "jsonpath={.state} {.cause}"]).await?.success()?;
    ensure!(why == "Leftover orphaned", "{why}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_are_found_and_what_is_held_is_not() -> Result<()> {
    let ground = Guarded::unguarded("orphans").await?;
    let web = ground.live("web", 1).await?;
    // A slice that no synthesis lists, with a resource that exists, one that does not, and one that another slice holds.
    let manifests = [5, 6, 0].map(|index| config_map(ground.name(), "web", index));
    ground.cluster().apply(&manifests[0]).await?;
    ground.cluster().apply(&slice(&web, "web-old", "old", &manifests)).await?;
    let paths = "jsonpath={range .items[*]}{.name}:{.presence}:{.slice.name} {end}";
    // A slice that is too new may yet come to hold what it lists.
    eventually("the slice to be old enough", Duration::from_secs(30), async || {
        let found = run(&ground, &["orphans", "--target-same", "-o", paths]).await?.success()?;
        ensure!(found == "web-5:Exists:web-old ", "{found}");
        Ok(())
    })
    .await?;
    // The same kubeconfig may be named as another cluster's.
    let kubeconfig = ground.cluster().kubeconfig().display().to_string();
    let found = run(&ground, &["orphans", "--target-kubeconfig", &kubeconfig, "-o", "name"]).await?.success()?;
    ensure!(found == "configmap/web-5\n", "{found}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn users_with_few_rights_are_told_what_they_could_not_see() -> Result<()> {
    let ground = Guarded::unguarded("few").await?;
    let web = ground.live("web", 1).await?;
    ground.cluster().apply(&slice(&web, "web-old", "old", &[config_map(ground.name(), "web", 5)])).await?;
    for object in reader(ground.name()) {
        ground.cluster().apply(&object).await?;
    }
    let as_eve = async |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--as=eve", "-n", ground.name()]).collect();
        eno_with(ground.cluster(), ground.cluster().kubeconfig(), &args).await
    };
    let listed = as_eve(&["compositions", "-o", "name"]).await?.success()?;
    ensure!(listed == "composition.eno.azure.io/web\n", "{listed}");
    let tree = as_eve(&["tree", "comp/web", "--target-same", "--ascii"]).await?;
    ensure!(tree.stdout.contains("unknown: Forbidden"), "{}{}", tree.stdout, tree.stderr);
    let orphans = as_eve(&["orphans", "--target-same"]).await?;
    ensure!(orphans.code == 1 && orphans.stderr.contains("Forbidden"), "{}", orphans.stderr);
    let namespace = as_eve(&["why", "ns", ground.name()]).await?;
    ensure!(namespace.code == 1 && namespace.stderr.contains("cannot get namespace/"), "{}", namespace.stderr);
    Ok(())
}

/// May read slices and compositions of the namespace, and nothing else.
fn reader(namespace: &str) -> [Value; 2] {
    let metadata = json!({"name": "reader", "namespace": namespace});
    let rules = json!([{"apiGroups": ["eno.azure.io"], "resources": ["compositions", "resourceslices"],
        "verbs": ["get", "list"]}]);
    [
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}]}),
    ]
}
