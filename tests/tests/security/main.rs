//! Nobody may more because the webhook or the plugin is there. What an override needs is in `override_denials.rs`, what the webhook
//! itself may is in `install/rights.rs`, and what can be sent to its port in `webhook/tests/webhook/attacks.rs`.

use anyhow::{Context, Result, ensure};
use eno_tests::controlplane::Component;
use eno_tests::fixtures::slice;
use eno_tests::manifests::{Manifests, OVERLAYS, list, overlay};
use eno_tests::plugin;
use eno_tests::webhook::{Guarded, WebhookOptions};
use kube::ResourceExt;
use serde_json::{Value, json};

const SLICES: &str = "resourceslices.eno.azure.io";

fn words<'a>(rule: &'a Value, field: &str) -> impl Iterator<Item = &'a str> {
    list(rule, &format!("/{field}")).iter().filter_map(Value::as_str)
}

/// A role that others inherit, or that can grow, would give rights to who has none.
#[test]
fn no_role_of_ours_can_grow_or_is_inherited() -> Result<()> {
    let kubectl = Component::Kubectl.find()?.context("no kubectl: run `cargo xtask controlplane build`")?;
    let mut seen = 0;
    for name in OVERLAYS {
        let manifests = Manifests::render(&kubectl, &overlay(name))?;
        for role in manifests.of("ClusterRole").chain(manifests.of("Role")) {
            let labels = role["metadata"]["labels"].as_object().into_iter().flatten();
            let inherited: Vec<_> = labels.filter(|(key, _)| key.contains("aggregate-to")).collect();
            ensure!(inherited.is_empty() && role["aggregationRule"].is_null(), "{name}: {role}");
            for rule in list(role, "/rules") {
                let mut all = ["apiGroups", "resources", "verbs"].iter().flat_map(|field| words(rule, field));
                ensure!(all.all(|word| !word.contains('*')), "{name}: everything: {rule}");
                let grows = |verb: &str| ["escalate", "bind", "impersonate", "approve", "sign"].contains(&verb);
                ensure!(!words(rule, "verbs").any(grows), "{name}: {rule}");
                let power = ["secrets", "serviceaccounts/token", "pods/exec", "roles", "clusterroles", "rolebindings"];
                let powerful = words(rule, "resources").any(|resource| power.contains(&resource));
                ensure!(
                    !powerful || !list(rule, "/resourceNames").is_empty() || words(rule, "verbs").eq(["create"]),
                    "{name}: of all names: {rule}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "only {seen} rules");
    Ok(())
}

/// Who may make slices, and no more, has the controllers delete what he made himself, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_may_more_because_the_webhook_is_there() -> Result<()> {
    let mut ground = Guarded::unguarded("nobody").await?;
    let web = ground.live("web", 1).await?;
    let needed = ground.slice("web-0").await?;
    ground.guard_with(WebhookOptions { controllers: "*", ..WebhookOptions::default() }).await?;
    ground.grant("mallory", "create,get,list", SLICES).await?;

    // A slice that claims the name of the needed one, by all that he can write.
    let mut forged = slice(&web, "forged", "an-old-synthesis", &[]);
    forged["metadata"]["uid"] = json!(needed.uid());
    forged["metadata"]["annotations"] = json!({"kubectl-eno.dev/force": needed.uid()});
    forged["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    ground.kubectl_with(&["create", "-f", "-", "--as=mallory"], &forged.to_string()).await?.success()?;
    ground.gone("forged").await?;
    for args in [
        &["delete", SLICES, "web-0", "--wait=false", "--as=mallory"][..],
        &["annotate", SLICES, "web-0", "kubectl-eno.dev/force=any", "--as=mallory"],
        &["delete", "compositions.eno.azure.io", "web", "--wait=false", "--as=mallory"],
    ] {
        let refused = ground.kubectl(args).await?;
        assert!(refused.stderr.contains("(Forbidden)"), "{args:?}: {}", refused.stderr);
    }
    ground.unchanged(&needed).await
}

/// Every command that writes does so as its user: who may only read gets what `kubectl` would get.
#[tokio::test(flavor = "multi_thread")]
async fn the_plugin_does_nothing_that_its_user_may_not() -> Result<()> {
    let ground = Guarded::unguarded("reader").await?;
    let web = ground.live("web", 1).await?;
    let needed = ground.slice("web-0").await?;
    ground.garbage(&web, "garbage").await?;
    ground.old_enough("garbage").await?;
    let garbage = ground.slice("garbage").await?;
    for resource in [SLICES, "compositions.eno.azure.io", "symphonies.eno.azure.io"] {
        ground.grant("eve", "get,list", resource).await?;
    }
    for command in [&["cleanup", "--yes"][..], &["resynth", "web", "--yes"]] {
        let output = plugin::eno(ground.cluster(), &[command, &["-n", ground.name(), "--as=eve"]].concat()).await?;
        assert_ne!(output.code, 0, "{command:?}: {}", output.stdout);
        assert!(
            output.stderr.contains("Forbidden") || output.stderr.contains("cannot"),
            "{command:?}: {}",
            output.stderr
        );
    }
    ground.unchanged(&needed).await?;
    ground.unchanged(&garbage).await?;
    let is = ground.cluster().eno("Composition", ground.name()).get("web").await?;
    assert_eq!(is.metadata.resource_version, web.metadata.resource_version, "she has changed a composition");
    Ok(())
}
