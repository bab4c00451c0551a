//! What the API server has beside what the manifests say, and what the pages tell people to do to it.

use std::fs;

use anyhow::{Context, Result, ensure};
use eno_tests::manifests::ground::Ground;
use eno_tests::manifests::{Manifests, text};
use eno_tests::workspace;
use serde_json::{Value, json};

/// What the API server alone can know.
const METADATA: [&str; 5] = ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"];
/// What kubectl keeps for itself.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Checks that each object is exactly as the manifests say: nothing was defaulted that they do not say themselves.
pub async fn is_as_manifests_say(ground: &Ground, manifests: &Manifests) -> Result<()> {
    for object in manifests.all() {
        let (kind, name) = (text(object, "/kind")?, text(object, "/metadata/name")?);
        let api = ground.cluster().api(text(object, "/apiVersion")?, kind, object["metadata"]["namespace"].as_str());
        let live = serde_json::to_value(api.get(name).await?)?;
        let (live, said) = (reduced(live, object)?, object);
        ensure!(live == *said, "{kind} {name} is\n{live:#}\nbut the manifest says\n{said:#}");
    }
    Ok(())
}

fn reduced(mut live: Value, said: &Value) -> Result<Value> {
    let metadata = live["metadata"].as_object_mut().context("no metadata")?;
    metadata.retain(|field, _| !METADATA.contains(&field.as_str()));
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    live.as_object_mut().context("no object")?.remove("status");
    match text(said, "/kind")? {
        // Its finalizer is the API server's own.
        "Namespace" => drop(live.as_object_mut().and_then(|namespace| namespace.remove("spec"))),
        // Addresses are the cluster's to give.
        "Service" => {
            let spec = live["spec"].as_object_mut().context("no spec")?;
            spec.retain(|field, _| !["clusterIP", "clusterIPs", "ipFamilies"].contains(&field.as_str()));
        }
        // Another field manager's, unless it is in Git.
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            for (webhook, said) in live["webhooks"]
                .as_array_mut()
                .context("no webhooks")?
                .iter_mut()
                .zip(said["webhooks"].as_array().context("no webhooks")?)
            {
                if said["clientConfig"].get("caBundle").is_none() {
                    webhook["clientConfig"].as_object_mut().context("no clientConfig")?.remove("caBundle");
                }
            }
        }
        _ => {}
    }
    Ok(live)
}

/// The bundles of all webhooks of both configurations.
pub async fn bundles(ground: &Ground, manifests: &Manifests) -> Result<Vec<String>> {
    let mut bundles = vec![];
    for kind in ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] {
        let said = manifests.only(kind)?;
        let api = ground.cluster().api(text(said, "/apiVersion")?, kind, None);
        let live = api.get(text(said, "/metadata/name")?).await?;
        let webhooks = live.data["webhooks"].as_array().cloned().unwrap_or_default();
        let bundle = |webhook: &Value| webhook["clientConfig"]["caBundle"].as_str().unwrap_or_default().to_owned();
        bundles.extend(webhooks.iter().map(bundle));
    }
    Ok(bundles)
}

/// Writes this bundle into all webhooks, as `manager`: what cainjector does.
pub async fn inject(ground: &Ground, manifests: &Manifests, bundle: &str, manager: &str) -> Result<()> {
    for kind in ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] {
        let said = manifests.only(kind)?;
        let count = said["webhooks"].as_array().context("no webhooks")?.len();
        let path = |index| format!("/webhooks/{index}/clientConfig/caBundle");
        let patch: Vec<Value> =
            (0..count).map(|index| json!({"op": "add", "path": path(index), "value": bundle})).collect();
        let name = text(said, "/metadata/name")?;
        let (patch, manager) = (Value::from(patch).to_string(), format!("--field-manager={manager}"));
        ground.kubectl(&["patch", kind, name, "--type=json", "--patch", &patch, &manager]).await?.success()?;
    }
    Ok(())
}

/// The commands of kubectl in the block of this number of a page, without the word `kubectl`.
pub fn commands(page: &str, block: usize) -> Result<Vec<Vec<String>>> {
    let text = fs::read_to_string(workspace::root().join(page))?;
    let block = text.split("```sh\n").nth(block).and_then(|rest| rest.split("```").next());
    let commands = block.with_context(|| format!("{page} has no such block"))?.lines().map(|line| {
        let words = line.strip_prefix("kubectl ").with_context(|| format!("not of kubectl: {line}"))?;
        Ok(words.split(' ').map(str::to_owned).collect())
    });
    commands.collect()
}

/// Runs a command of a page, as from the root of the project.
pub async fn run(ground: &Ground, command: &[String]) -> Result<String> {
    let root = workspace::root().join("manifests").display().to_string();
    let words = command.iter().map(|word| match word.strip_prefix("manifests") {
        Some(rest) => format!("{root}{rest}"),
        None => word.clone(),
    });
    let words: Vec<String> = words.collect();
    ground.kubectl(&words.iter().map(String::as_str).collect::<Vec<_>>()).await?.success()
}
