//! `kubectl eno snapshot`: what it writes, the plugin reads, and says the same of.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_tests::eventually::eventually;
use eno_tests::plugin::eno;
use eno_tests::webhook::Guarded;
use serde_json::{Value, json};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(30);

/// A ground with something of everything, and a folder.
async fn ground(hint: &str) -> Result<(Guarded, TempDir)> {
    let ground = Guarded::unguarded(hint).await?;
    let web = ground.live("web", 2).await?;
    ground.garbage(&web, "garbage").await?;
    ground.deleting("legacy", 1).await?;
    ground.delete_slice("legacy-0", &[]).await?.success()?;
    eventually("the garbage to be old enough", LIMIT, async || {
        let verdicts = verdicts(&ground, &["-n", ground.name()]).await?;
        ensure!(verdicts.contains("garbage=Collect"), "{verdicts}");
        Ok(())
    })
    .await?;
    Ok((ground, tempfile::tempdir()?))
}

/// Verdicts and reasons, by name.
async fn verdicts(ground: &Guarded, flags: &[&str]) -> Result<String> {
    let path = "-o=jsonpath={range .items[*]}{.name}={.verdict}/{.reason} {end}";
    let output = eno(ground.cluster(), &[&["slices", path], flags].concat()).await?;
    ensure!(output.code == 0 && !output.stderr.contains("Unknown"), "{output:?}");
    Ok(output.stdout)
}

#[tokio::test(flavor = "multi_thread")]
async fn offline_all_is_judged_as_it_was_live() -> Result<()> {
    let (ground, folder) = ground("snapshot").await?;
    let live = verdicts(&ground, &["-n", ground.name()]).await?;
    ensure!(live.contains("legacy-0=Hold") && live.contains("web-0=Keep"), "{live}");
    for (form, name) in [("json", "all.json"), ("yaml", "all.yaml")] {
        let path = folder.path().join(name);
        let path = path.to_str().context("a path of the system's")?;
        let written = eno(ground.cluster(), &["snapshot", "-A", "-o", form, "--output-file", path]).await?;
        ensure!(written.code == 0 && written.stdout.is_empty(), "{written:?}");
        ensure!(written.stderr.contains(&format!("objects written to {path}")), "{written:?}");
        // Whole as it is, it needs no --complete.
        ensure!(verdicts(&ground, &["-f", path, "-n", ground.name()]).await? == live);
        ensure!(verdicts(&ground, &["-f", path, "-n", ground.name(), "--complete"]).await? == live);
        let why = eno(ground.cluster(), &["why", "comp/legacy", "-f", path, "-n", ground.name()]).await?;
        ensure!(why.code == 0 && why.stdout.contains("legacy-0"), "{why:?}");
        // What force would orphan is known by name.
        ensure!(why.stdout.contains("v1/ConfigMap"), "{why:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_namespace_it_is_whole_there_and_nowhere_else() -> Result<()> {
    let (ground, folder) = ground("snapshot-one").await?;
    let live = verdicts(&ground, &["-n", ground.name()]).await?;
    let path = folder.path().join("one.json");
    let path = path.to_str().context("a path of the system's")?;
    eno(ground.cluster(), &["snapshot", "-n", ground.name(), "--output-file", path]).await?.success()?;
    ensure!(verdicts(&ground, &["-f", path, "-n", ground.name()]).await? == live);
    let output = eno(ground.cluster(), &["slices", "-f", path, "--complete"]).await?;
    ensure!(output.stderr.contains("--complete is ignored"), "{output:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn holds_no_contents_of_secrets_nor_of_what_was_not_asked_for() -> Result<()> {
    let (ground, _) = ground("snapshot-secret").await?;
    let web = ground.cluster().eno("Composition", ground.name()).get("web").await?;
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "hidden"}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"k": "shown"}});
    ground.cluster().apply(&eno_tests::fixtures::slice(&web, "two", "x", &[secret, map])).await?;
    for (flags, shown) in [(&["snapshot"][..], false), (&["snapshot", "--full"], true)] {
        let written = eno(ground.cluster(), &[flags, &["-n", ground.name()]].concat()).await?.success()?;
        ensure!(!written.contains("hidden") && written.contains("shown") == shown, "{written}");
        let list: Value = serde_json::from_str(&written)?;
        let items = list["items"].as_array().context("it is a list")?;
        let two = items.iter().find(|item| item["metadata"]["name"] == "two").context("the slice is in it")?;
        ensure!(two["metadata"]["annotations"]["kubectl-eno.dev/manifests-cut"] == "true", "{two}");
        ensure!(two["metadata"].get("managedFields").is_none(), "{two}");
        ensure!(items.iter().any(|item| item["kind"] == "Namespace"), "{written}");
    }
    Ok(())
}
