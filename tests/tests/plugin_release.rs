//! `kubectl eno release` on a real API server, against our webhook.

use anyhow::{Result, ensure};
use eno_tests::plugin;
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;

/// A guarded slice `web-0` that is terminating, and that its deleting composition needs.
async fn needed(hint: &str) -> Result<Guarded> {
    let mut ground = Guarded::unguarded(hint).await?;
    ground.deleting("web", 2).await?;
    ground.terminating("web-0").await?;
    ground.guard(&[]).await?;
    Ok(ground)
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_what_is_needed_and_forces_it_through_our_webhook() -> Result<()> {
    let ground = needed("force").await?;
    let before = ground.slice("web-0").await?;
    let backups = tempfile::tempdir()?;
    let folder = format!("--backup-dir={}", backups.path().display());
    let args = ["release", "slice/web-0", "-n", ground.name(), "--yes", &folder];
    let refused = plugin::eno(ground.cluster(), &args).await?;
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    let namespace = ground.name();
    let orphans = format!("2 resources will NOT be deleted by Eno then:\n  v1/ConfigMap {namespace}/web-0\n");
    assert!(refused.stderr.contains(&orphans), "{}", refused.stderr);
    assert!(refused.stderr.contains("error: refused: resourceslice.eno.azure.io/web-0 is still needed"));
    ground.unchanged(&before).await?;

    // The server is asked, the webhook denies, the override is tried, and nothing is kept of it.
    let args = [&args[..], &["--force"]].concat();
    let dry = plugin::eno(ground.cluster(), &[&args[..], &["--dry-run=server"]].concat()).await?;
    assert!(dry.stderr.contains("The webhook denies it; kubectl-eno.dev/force is set"), "{}", dry.stderr);
    assert!(dry.stderr.contains("Warning: forced by "), "the warning of the webhook is shown: {}", dry.stderr);
    assert!(dry.success()?.ends_with("web-0 finalizer released (server dry run)\n"));
    ground.unchanged(&before).await?;
    ensure!(std::fs::read_dir(backups.path())?.next().is_none(), "a dry run writes no backup");

    let forced = plugin::eno(ground.cluster(), &args).await?;
    assert!(forced.stderr.contains("resourceslice.eno.azure.io/web-0 gone after "), "{}", forced.stderr);
    assert_eq!(forced.success()?, "resourceslice.eno.azure.io/web-0 finalizer released\n");
    assert!(ground.slice("web-0").await.is_err());
    let file = std::fs::read_dir(backups.path())?.next().expect("there is a backup")?.path();
    let backup = std::fs::read_to_string(file)?;
    assert!(backup.contains("kind: ResourceSlice") && !backup.contains("managedFields"), "{backup}");
    assert!(!backup.contains("kubectl-eno.dev/force"), "{backup}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn force_takes_the_right_to_force() -> Result<()> {
    let ground = needed("no-force").await?;
    ground.grant("alice", "get,list,patch", "resourceslices.eno.azure.io").await?;
    ground.grant("alice", "get,list", "compositions.eno.azure.io").await?;
    let before = ground.slice("web-0").await?;
    let args = ["release", "slice/web-0", "-n", ground.name(), "--yes", "--force", "--no-backup", "--as=alice"];
    let refused = plugin::eno(ground.cluster(), &args).await?;
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("but alice may not force resourceslices.eno.azure.io"), "{}", refused.stderr);
    ground.unchanged(&before).await
}

#[tokio::test(flavor = "multi_thread")]
async fn asks_to_type_the_name_and_lets_go_of_what_nothing_needs() -> Result<()> {
    let mut ground = Guarded::unguarded("free").await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "old").await?;
    ground.terminating("old").await?;
    ground.guard(&[]).await?;
    let args = ["release", "slice/old", "-n", ground.name(), "--no-backup"];
    for (answer, code, gone) in [("y\n", 0, false), ("old\n", 0, true)] {
        let mut terminal = Terminal::open(plugin::command(ground.cluster(), ground.cluster().kubeconfig(), &args)?)?;
        terminal.shows("Type the name to confirm (old): ").await?;
        terminal.type_in(answer)?;
        let (ended, shown) = terminal.ended().await?;
        assert_eq!(ended, code, "{shown}");
        assert_eq!(ground.slice("old").await.is_err(), gone, "{shown}");
    }
    Ok(())
}
