//! Every command that reads, under conditions that are not good: few rights, a dead server, a token that is not accepted,
//! a server that does not answer. And every example of the help texts, on a control plane.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eno_tests::cluster::{Cluster, Output};
use eno_tests::controlplane::{ControlPlane, Options};
use eno_tests::crds;
use eno_tests::fixtures::{composition, config_map, reconciled_states, reconciled_synthesis, slice};
use eno_tests::plugin::{eno, eno_with, shell};
use eno_tests::webhook::Guarded;
use eno_tests::workspace;
use kube::api::DeleteParams;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A call of each command that reads; `doctor` is apart, since what it finds is no failure of its own.
const READING: [&[&str]; 10] = [
    &["slices"],
    &["compositions"],
    &["why", "slice/web-0"],
    &["why", "composition/web"],
    &["why", "namespace/default"],
    &["tree", "composition/web"],
    &["plan-delete", "composition/web"],
    &["orphans", "--target-same"],
    &["wait", "slice/web-0", "--timeout=5s"],
    &["snapshot"],
];

/// All that it printed.
fn told(output: &Output) -> String {
    format!("{}{}", output.stdout, output.stderr)
}

/// A kubeconfig for a server, with a token.
fn kubeconfig(cluster: &Cluster, server: Option<&str>) -> Result<(TempDir, PathBuf)> {
    let own: Value = serde_json::from_str(&fs::read_to_string(cluster.kubeconfig())?)?;
    let mut of = own["clusters"][0]["cluster"].clone();
    if let Some(server) = server {
        of = json!({"server": server});
    }
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": of}],
        "users": [{"name": "u", "user": {"token": "it.has.expired"}}],
    });
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("config");
    fs::write(&path, config.to_string())?;
    Ok((folder, path))
}

#[tokio::test(flavor = "multi_thread")]
async fn with_few_rights_each_says_what_it_could_not_see() -> Result<()> {
    let ground = Guarded::unguarded("few-rights").await?;
    let web = ground.live("web", 1).await?;
    ground.garbage(&web, "garbage").await?;
    ground.grant("eve", "get,list,watch", "resourceslices.eno.azure.io").await?;
    for command in READING {
        let output = eno(ground.cluster(), &[command, &["-n", ground.name(), "--as=eve"]].concat()).await?;
        let told = told(&output);
        ensure!(told.contains(".eno.azure.io"), "{command:?}: {told}");
        ensure!(told.contains("orbidden"), "{command:?}: {told}");
        // What may not be seen is not missing, and nothing is garbage for lack of sight.
        ensure!(!told.contains("NotFound") && !told.contains("not found"), "{command:?}: {told}");
        ensure!(!told.contains("Collect"), "{command:?}: {told}");
    }
    let doctor = eno(ground.cluster(), &["doctor", "-n", ground.name(), "--as=eve"]).await?;
    for skipped in ["- WEBHOOK-CONFIG: cannot list", "- PROBE-DENY: no probe", "- ENO-CONTROLLER: cannot list pods"] {
        ensure!(doctor.stdout.contains(skipped), "{}", doctor.stdout);
    }
    ensure!(doctor.stdout.contains("you may not list compositions"), "{}", doctor.stdout);
    ensure!(doctor.code == 1, "{doctor:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_server_is_named() -> Result<()> {
    let cluster = Cluster::connect().await;
    // Nobody listens on it any more.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let (_folder, config) = kubeconfig(&cluster, Some(&format!("http://{address}")))?;
    let refused = format!("The connection to the server {address} was refused");
    for command in READING {
        let output = eno_with(&cluster, &config, command).await?;
        let named = output.stderr.contains(&refused) || output.stderr.contains("Connection refused");
        ensure!(output.code == 1 && named, "{command:?}: {output:?}");
        ensure!(output.stdout.is_empty(), "{command:?}: {output:?}");
    }
    let doctor = eno_with(&cluster, &config, &["doctor"]).await?;
    ensure!(
        doctor.code == 1 && doctor.stdout.contains(&format!("API server does not answer: {refused}")),
        "{doctor:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_not_accepted_asks_for_a_login() -> Result<()> {
    let cluster = Cluster::connect().await;
    crds::install(&cluster).await?;
    let (_folder, config) = kubeconfig(&cluster, None)?;
    for command in READING {
        let output = eno_with(&cluster, &config, command).await?;
        let says =
            output.stderr.contains("You must be logged in to the server") || output.stderr.contains("Unauthorized");
        ensure!(output.code == 1 && says, "{command:?}: {output:?}");
    }
    let doctor = eno_with(&cluster, &config, &["doctor"]).await?;
    ensure!(doctor.code == 1 && doctor.stdout.contains("does not accept the credentials"), "{doctor:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_is_not_waited_for_longer_than_asked() -> Result<()> {
    let cluster = Cluster::connect().await;
    // It takes connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let (_folder, config) = kubeconfig(&cluster, Some(&format!("http://{}", silent.local_addr()?)))?;
    for command in READING.into_iter().chain([&["doctor"] as &[&str]]) {
        let begun = Instant::now();
        let output = eno_with(&cluster, &config, &[command, &["--request-timeout=1s"]].concat()).await?;
        ensure!(output.code == 1, "{command:?}: {output:?}");
        ensure!(told(&output).contains("within 1"), "{command:?}: {output:?}");
        ensure!(begun.elapsed() < Duration::from_secs(10), "{command:?} took {:?}", begun.elapsed());
    }
    Ok(())
}

/// The lines of the examples in the help of a command.
async fn examples(cluster: &Cluster, command: &str) -> Result<Vec<String>> {
    let help = eno(cluster, &[command, "--help"]).await?.success()?;
    let (_, examples) = help.split_once("Examples:\n").with_context(|| format!("{command} has no examples"))?;
    let lines = examples.lines().map(str::trim).filter(|line| line.contains("kubectl eno") && !line.starts_with('#'));
    Ok(lines.filter(|line| !line.starts_with("Use ")).map(str::to_owned).collect())
}

/// The objects that the examples are about.
async fn stage(cluster: &Cluster) -> Result<()> {
    crds::install(cluster).await?;
    cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})).await?;
    let symphony = json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Symphony",
        "metadata": {"name": "shop", "namespace": "default"}, "spec": {},
    });
    cluster.apply(&symphony).await?;
    let web = cluster.apply(&composition("team-a", "web")).await?;
    for name in ["web-a", "web-b"] {
        let object = slice(&web, name, "1", &[config_map("team-a", name, 0)]);
        cluster.apply(&object).await?;
        cluster.set_status(&object, &reconciled_states(1, false)).await?;
    }
    let current = reconciled_synthesis("1", web.metadata.generation, &["web-a", "web-b"]);
    cluster.set_status(&composition("team-a", "web"), &json!({"currentSynthesis": current})).await?;
    Ok(())
}

/// The folder in which the examples are run: what they read, and a kubeconfig with a second context.
fn folder(cluster: &Cluster) -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let mut config: Value = serde_json::from_str(&fs::read_to_string(cluster.kubeconfig())?)?;
    let contexts = config["contexts"].as_array_mut().context("a kubeconfig has contexts")?;
    let mut prod = contexts.first().cloned().context("it has one")?;
    prod["name"] = json!("prod");
    contexts.push(prod);
    fs::write(folder.path().join("kubeconfig"), config.to_string())?;
    let data = workspace::root().join("plugin/tests/data");
    fs::copy(data.join("dump.yaml"), folder.path().join("backup.yaml"))?;
    for file in fs::read_dir(data)? {
        let file = file?;
        fs::copy(file.path(), folder.path().join(file.file_name()))?;
    }
    Ok(folder)
}

async fn works(cluster: &Cluster, folder: &Path, line: &str) -> Result<()> {
    // Here nothing gets better by waiting.
    let line = format!("export KUBECONFIG=kubeconfig; {}", line.replace("--wait=2m", "--wait=1s"));
    // What shows changes ends by itself only where something is waited for; nothing may have changed by then.
    let watches = line.contains(" -w");
    let line = if watches && !line.contains("--until") { format!("{line} --timeout=1s") } else { line };
    let output = shell(cluster, folder, &line).await?;
    let found = line.contains("eno doctor") && output.code == 1 && output.stderr.is_empty();
    ensure!(output.code == 0 || found, "{line}: {output:?}");
    ensure!(
        !output.stdout.is_empty() || watches || line.contains('>') || output.stderr.starts_with("No "),
        "{line}: {output:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_of_what_reads_works() -> Result<()> {
    let controlplane = ControlPlane::start(Options::default()).await?;
    let cluster = Cluster::of(&controlplane).await?;
    stage(&cluster).await?;
    let folder = folder(&cluster)?;
    let mut deletions = vec![];
    for command in ["snapshot", "slices", "compositions", "why", "tree", "plan-delete", "orphans", "doctor", "wait"] {
        for line in examples(&cluster, command).await? {
            if command == "wait" && !line.contains("--for=reconciled") {
                deletions.push(line);
                continue;
            }
            works(&cluster, folder.path(), &line).await?;
        }
    }
    // What waits for a deletion ends with it.
    let compositions = cluster.eno("Composition", "team-a");
    compositions.delete("web", &DeleteParams::background()).await?;
    let patch = r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#;
    cluster
        .kubectl(&["patch", "compositions.eno.azure.io", "web", "-n", "team-a", "--type=json", "-p", patch])
        .await?
        .success()?;
    for line in deletions {
        works(&cluster, folder.path(), &line).await?;
    }
    Ok(())
}
