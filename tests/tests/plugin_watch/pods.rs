//! Pods: what eno-webhook writes down of them, as it changes.

use anyhow::{Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use eno_tests::eventually::eventually;
use eno_tests::plugin;
use eno_tests::proxy::{Proxy, Refusal};
use eno_tests::receiver::Receiver;
use eno_tests::terminal::Terminal;
use eno_tests::webhook::{Guarded, WebhookOptions};
use http::StatusCode;
use serde_json::{Value, json};

use super::{LIMIT, Piped, command};

/// A webhook that follows the pods of its namespace, of which `first` is going, and a receiver that takes no end of any until
/// it is told to.
async fn following(hint: &str) -> Result<(Guarded, Receiver)> {
    let mut ground = Guarded::unguarded(hint).await?;
    let receiver = Receiver::start().await?;
    receiver.hold();
    let flags = receiver.flags().to_vec();
    ground
        .guard_with(WebhookOptions { controllers: "pods", unregistered: true, flags, ..WebhookOptions::default() })
        .await?;
    begin_to_end(&ground, "first").await?;
    // That it is going is written down at once; of one that lives, only now and then.
    eventually("the pod to be written down", LIMIT, async || {
        let args = args(&ground, &["-o", "name", "-n", ground.name()]);
        let list = plugin::eno(ground.cluster(), &args).await?.success()?;
        ensure!(list == "pod/first\n", "{list}");
        Ok(())
    })
    .await?;
    Ok((ground, receiver))
}

/// Makes a pod, and deletes it as a person does, who gives it a second. Its node has no kubelet: it stays.
async fn begin_to_end(ground: &Guarded, name: &str) -> Result<()> {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": ground.name(), "labels": {MANAGED_BY_LABEL: MANAGED_BY_ENO}},
        "spec": {
            "nodeName": format!("node-{}", ground.name()), "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "none"}],
        },
    });
    // The service account of a new namespace takes a moment.
    eventually("the pod to be made", LIMIT, async || ground.cluster().apply(&pod).await.map(drop)).await?;
    ground.kubectl(&["delete", "pod", name, "--grace-period=1", "--wait=false"]).await?.success().map(drop)
}

/// Deletes it as a kubelet does in the end.
async fn end(ground: &Guarded, name: &str) -> Result<()> {
    ground.kubectl(&["delete", "pod", name, "--grace-period=0", "--force", "--wait=false"]).await?.success().map(drop)
}

/// The flags that find what the webhook keeps.
fn args<'a>(ground: &'a Guarded, more: &[&'a str]) -> Vec<&'a str> {
    [&["pods", "--webhook-namespace", ground.name()], more].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_gets_a_line_for_each_step_to_a_pods_end() -> Result<()> {
    let (ground, receiver) = following("watch-pods").await?;
    let mut watch = Piped::start(&ground, ground.cluster().kubeconfig(), &args(&ground, &[]))?;
    watch.says("EVENT NAME STATE CAUSE NODE COMPOSITION FOR").await?;
    watch.says(&format!("ADDED first Going <none> node-{} <none>", ground.name())).await?;
    end(&ground, "first").await?;
    // Gone from the cluster, and not told yet.
    watch.says("MODIFIED first Ended Gone node-").await?;
    receiver.answer(StatusCode::OK);
    watch.says("DELETED first Ended Gone node-").await
}

#[tokio::test(flavor = "multi_thread")]
async fn json_of_pods_is_one_document_on_each_line() -> Result<()> {
    let (ground, receiver) = following("watch-pods-json").await?;
    let mut watch = Piped::start(&ground, ground.cluster().kubeconfig(), &args(&ground, &["-o", "json"]))?;
    for (kind, state) in [("ADDED", "Going"), ("MODIFIED", "Ended"), ("DELETED", "Ended")] {
        let event: Value = serde_json::from_str(&watch.line().await?)?;
        ensure!(event["type"] == kind && event["object"]["state"] == state, "{event}");
        ensure!(event["object"]["name"] == "first" && event["object"]["namespace"] == ground.name(), "{event}");
        match state {
            "Going" => end(&ground, "first").await?,
            _ => receiver.answer(StatusCode::OK),
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_a_pod_that_is_stuck_and_how_it_went() -> Result<()> {
    let (ground, receiver) = following("watch-pods-tty").await?;
    let command = command(&ground, ground.cluster().kubeconfig(), &args(&ground, &["--stuck-after=0s"]))?;
    let mut terminal = Terminal::open_sized(command, 24, 100)?;
    let row = |screen: &str, words: &[&str]| {
        screen.lines().nth(2).is_some_and(|row| words.iter().all(|word| row.contains(word)))
    };
    terminal
        .screen_is("that it takes longer than it was given", |screen| {
            screen.starts_with("live   1 pod, 1 stuck   namespace ") && row(screen, &["first", "Going", "node-"])
        })
        .await?;
    terminal.resize(6, 40)?;
    let fits = |screen: &str| screen.lines().all(|line| line.chars().count() <= 40);
    let drawn_anew = |screen: &str| fits(screen) && row(screen, &["first", "Going"]);
    terminal.screen_is("the same on less room", drawn_anew).await?;
    end(&ground, "first").await?;
    terminal.screen_is("that it has ended", |screen| row(screen, &["first", "Ended"])).await?;
    receiver.answer(StatusCode::OK);
    terminal.screen_is("that it went", |screen| screen.starts_with("live   0 pods") && screen.contains("Gone")).await?;
    terminal.screen_is("it no more", |screen| !screen.contains("first")).await?;
    terminal.type_in("\u{3}")?;
    ensure!(terminal.ended().await?.0 == 130);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_of_pods_ends_when_none_is_left_or_the_time_is_over() -> Result<()> {
    let (ground, receiver) = following("watch-pods-until").await?;
    let kubeconfig = ground.cluster().kubeconfig();
    let none = Piped::start(&ground, kubeconfig, &args(&ground, &["nobody", "--until=empty"]))?;
    ensure!(none.end().await?.0 == 0, "nobody is called so");
    let late = Piped::start(&ground, kubeconfig, &args(&ground, &["--until=empty", "--timeout=1s"]))?;
    let (code, stderr) = late.end().await?;
    ensure!(code == 124 && stderr.contains("error: timed out waiting for 1 pod to go"), "{code} {stderr}");
    // Without --until, the end of the time is the end that was asked for.
    let timed = Piped::start(&ground, kubeconfig, &args(&ground, &["--timeout=1s"]))?;
    ensure!(timed.end().await?.0 == 0);

    let mut watch = Piped::start(&ground, kubeconfig, &args(&ground, &["--until=empty", "--no-headers"]))?;
    watch.says("ADDED first Going").await?;
    receiver.answer(StatusCode::OK);
    end(&ground, "first").await?;
    let (code, stderr) = watch.end().await?;
    ensure!(code == 0 && stderr.is_empty(), "{code} {stderr}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_told_with_the_pods_and_heals() -> Result<()> {
    let (ground, _receiver) = following("watch-pods-stale").await?;
    let proxy = Proxy::start(ground.cluster()).await?;
    let terminal = Terminal::open(command(&ground, proxy.kubeconfig(), &args(&ground, &[]))?)?;
    let mut piped = Piped::start(&ground, proxy.kubeconfig(), &args(&ground, &["--no-headers"]))?;
    piped.says("ADDED first Going").await?;
    terminal.screen_is("that it is live", |screen| screen.starts_with("live   1 pod")).await?;
    proxy.refuse(|_| Some(Refusal::Broken));
    proxy.cut();
    terminal.screen_is("that it is stale", |screen| screen.starts_with("STALE ") && screen.contains("first")).await?;
    begin_to_end(&ground, "second").await?;
    proxy.refuse_nothing();
    terminal.screen_is("both, live", |screen| screen.contains("second") && screen.starts_with("live   2 pods")).await?;
    // What was heard before the loss is not told again.
    piped.says("ADDED second Going").await?;
    piped.warns("Warning: the connection is lost, what was shown is stale: ").await?;
    piped.warns("Warning: connected again").await
}
