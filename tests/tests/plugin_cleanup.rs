//! `kubectl eno cleanup` on a real API server: garbage goes, what is needed stays, whoever else is at work.

use std::time::Duration;

use anyhow::{Result, ensure};
use eno_tests::eventually::eventually;
use eno_tests::plugin;
use eno_tests::standin::{Parts, StandIn};
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use kube::ResourceExt;
use kube::api::ListParams;
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(40);

/// Live compositions `c0`, `c1`, … with one slice each that is needed, and so many slices of garbage, old enough.
async fn littered(hint: &str, compositions: usize, garbage: usize) -> Result<Guarded> {
    let ground = Guarded::unguarded(hint).await?;
    for composition in 0..compositions {
        let owner = ground.live(&format!("c{composition}"), 1).await?;
        for index in 0..garbage {
            ground.garbage(&owner, &format!("c{composition}-old-{index}")).await?;
        }
    }
    let last = format!("c{}-old-{}", compositions - 1, garbage - 1);
    ground.old_enough(&last).await?;
    Ok(ground)
}

async fn names(ground: &Guarded) -> Result<Vec<String>> {
    let slices = ground.cluster().eno("ResourceSlice", ground.name()).list_metadata(&ListParams::default()).await?;
    Ok(slices.iter().map(|slice| slice.name_any()).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn collects_all_garbage_and_releases_it_at_once() -> Result<()> {
    let ground = littered("clean", 3, 10).await?;
    let before = ground.slice("c0-0").await?;
    let args = ["cleanup", "-n", ground.name(), "--dry-run=server"];
    let checked = plugin::eno(ground.cluster(), &args).await?;
    assert_eq!(checked.stderr.matches("Collect   Unreferenced").count(), 30, "{}", checked.stderr);
    assert_eq!(checked.success()?.matches("namespace (server dry run)\n").count(), 30);
    assert_eq!(names(&ground).await?.len(), 33);

    let cleaned = plugin::eno(ground.cluster(), &["cleanup", "-n", ground.name(), "--yes", "--wait"]).await?;
    assert!(cleaned.stderr.contains("30 to change, 3 kept, 0 held, 0 unknown"), "{}", cleaned.stderr);
    assert!(cleaned.stderr.contains("30 changed, 0 skipped, 0 failed"), "{}", cleaned.stderr);
    cleaned.success()?;
    // Nobody else is at work here: the plugin has let them go itself.
    assert_eq!(names(&ground).await?, ["c0-0", "c1-0", "c2-0"]);
    ground.unchanged(&before).await
}

#[tokio::test(flavor = "multi_thread")]
async fn works_beside_eno_and_takes_nothing_that_is_needed() -> Result<()> {
    let ground = littered("beside", 3, 10).await?;
    let args = ["cleanup", "-n", ground.name(), "--wait"];
    let command = plugin::command(ground.cluster(), ground.cluster().kubeconfig(), &args)?;
    let mut terminal = Terminal::open(command)?;
    terminal.shows("Do you want to continue? (y/N): ").await?;
    assert!(terminal.shown().contains("30 to change"), "{}", terminal.shown());
    // Eno begins with the same slices at the moment of the answer: whoever comes second finds nothing left to do.
    let _eno = StandIn::start(&ground.cluster().client(), &[ground.name()], Parts::ALL);
    terminal.type_in("y\n")?;
    let (code, shown) = terminal.ended().await?;
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(" 0 failed"), "{shown}");
    eventually("only what is needed to be left", LIMIT, async || {
        let names = names(&ground).await?;
        ensure!(names == ["c0-0", "c1-0", "c2-0"], "{names:?}");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_needed_between_preview_and_yes_is_kept() -> Result<()> {
    let ground = littered("between", 1, 2).await?;
    let command = plugin::command(ground.cluster(), ground.cluster().kubeconfig(), &["cleanup", "-n", ground.name()])?;
    let mut terminal = Terminal::open(command)?;
    terminal.shows("Do you want to continue? (y/N): ").await?;
    assert!(terminal.shown().contains("2 to change"), "{}", terminal.shown());
    // A synthesis makes one of them current; the other is changed, and still garbage.
    let synthesis = json!({"currentSynthesis": {"resourceSlices": [{"name": "c0-0"}, {"name": "c0-old-0"}]}});
    ground.compose("c0", &synthesis).await?;
    ground.patch_slice("c0-old-1", "merge", &json!({"metadata": {"labels": {"a": "b"}}})).await?.success()?;
    terminal.type_in("y\n")?;
    let (code, shown) = terminal.ended().await?;
    assert_eq!(code, 0, "{shown}");
    let kept = "c0-old-0 skipped: changed since preview: now Keep: the current synthesis of composition c0 lists it";
    assert!(shown.contains(kept), "{shown}");
    assert!(shown.contains("\"c0-old-1\" deleted from"), "{shown}");
    assert_eq!(names(&ground).await?, ["c0-0", "c0-old-0"]);
    assert!(ground.slice("c0-old-0").await?.metadata.deletion_timestamp.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn says_what_a_user_with_few_rights_may_not() -> Result<()> {
    let ground = littered("rights", 1, 1).await?;
    let bind = async |role: &str, verbs: &str, resources: &str| -> Result<()> {
        let (verbs, resources) = (format!("--verb={verbs}"), format!("--resource={resources}"));
        ground.kubectl(&["create", "role", role, &verbs, &resources]).await?.success()?;
        ground.kubectl(&["create", "rolebinding", role, &format!("--role={role}"), "--user=alice"]).await?.success()?;
        Ok(())
    };
    let args = ["cleanup", "-n", ground.name(), "--yes", "--as=alice"];
    let forbidden = plugin::eno(ground.cluster(), &args).await?;
    assert_eq!(forbidden.code, 1);
    assert!(forbidden.stderr.contains("User: "), "{}", forbidden.stderr);
    assert!(
        forbidden.stderr.contains("(as alice)\nError from server (Forbidden): resourceslices"),
        "{}",
        forbidden.stderr
    );

    bind("slices", "get,list", "resourceslices.eno.azure.io").await?;
    let unknown = eventually("alice to see slices", LIMIT, async || {
        let output = plugin::eno(ground.cluster(), &args).await?;
        ensure!(output.code == 0, "{}", output.stderr);
        Ok(output)
    })
    .await?;
    assert!(unknown.stderr.contains("Warning: cannot list compositions"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("nothing to change, 0 kept, 0 held, 2 unknown"), "{}", unknown.stderr);

    bind("compositions", "get,list", "compositions.eno.azure.io").await?;
    let denied = eventually("alice to see compositions", LIMIT, async || {
        let output = plugin::eno(ground.cluster(), &args).await?;
        ensure!(output.code == 1, "{}", output.stderr);
        Ok(output)
    })
    .await?;
    assert!(denied.stderr.contains("c0-old-0 failed: Error from server (Forbidden):"), "{}", denied.stderr);
    assert_eq!(names(&ground).await?.len(), 2);
    Ok(())
}
