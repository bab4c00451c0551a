//! What went wrong with the webhooks of others, and has no better place: the rest of docs/reports.md is among the tests of what
//! it is about.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_tests::collector::knows_enos_kinds;
use eno_tests::scenario::Scenario;
use eno_tests::standin::Parts;
use eno_tests::webhook::{Guarded, Webhook, WebhookOptions};
use serde_json::json;
use tokio::time::timeout;

/// The API server gives up a request after 34 s. A hook that hangs may cost its own timeout, of 3 or 5 s, and no more.
const BEARABLE: Duration = Duration::from_secs(12);
const LIMIT: Duration = Duration::from_secs(120);

/// Kubernetes #128162, #71508: hooks that are ignored where they fail, and hang, took the whole time of a request.
#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_hangs_costs_a_request_its_timeout_and_no_more() -> Result<()> {
    let mut ground = Guarded::new("hangs").await?;
    ground.live("web", 1).await?;
    let needed = ground.slice("web-0").await?;
    ground.webhook().pause()?;

    let slice =
        json!({"apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice", "metadata": {"name": "new"}}).to_string();
    let created = timeout(BEARABLE, ground.kubectl_with(&["create", "-f", "-"], &slice)).await??;
    created.success()?;
    let args = ["delete", "compositions.eno.azure.io", "web", "--dry-run=server"];
    timeout(BEARABLE, ground.kubectl(&args)).await??.success()?;
    let refused = timeout(BEARABLE, ground.delete_slice("web-0", &[])).await??;
    ensure!(refused.stderr.contains("failed calling webhook"), "{}", refused.stderr);

    ground.webhook().resume()?;
    ground.unchanged(&needed).await
}

/// Kubernetes #77081: a second deletion with another propagation left a finalizer that nobody took off.
#[tokio::test(flavor = "multi_thread")]
async fn deletions_that_change_their_mind_end_with_nothing_orphaned() -> Result<()> {
    let mut scenario = Scenario::new("twice").await?;
    scenario.start_eno(Parts::ALL).await?;
    scenario.populate(4, 2).await?;
    let options =
        WebhookOptions { namespace: scenario.namespace().to_owned(), controllers: "*", ..WebhookOptions::default() };
    let _webhook = Webhook::start(scenario.cluster(), options).await?;
    knows_enos_kinds(scenario.cluster(), scenario.namespace()).await?;
    for cascade in ["--cascade=background", "--cascade=foreground", "--cascade=background"] {
        let args =
            ["delete", "compositions.eno.azure.io", "--all", "--wait=false", "--namespace", scenario.namespace()];
        scenario.cluster().kubectl(&[&args[..], &[cascade]].concat()).await?.success()?;
    }
    assert_eq!(scenario.orphaned(LIMIT).await?, 0);
    Ok(())
}
