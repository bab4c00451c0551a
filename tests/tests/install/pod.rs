//! What the Deployment says of its pods is true of the process, and fits together.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_tests::manifests::ground::on_a_new_cluster;
use eno_tests::manifests::{Manifests, OVERLAYS, list, overlay, text};
use jiff::SignedDuration;
use kube::Client;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::apply::rendered;

/// What ending may take besides the delay and the drain: giving the Lease back, and posting the last Events.
const BESIDES: Duration = Duration::from_secs(3);

fn container(manifests: &Manifests) -> Result<&Value> {
    Ok(&manifests.only("Deployment")?["spec"]["template"]["spec"]["containers"][0])
}

fn seconds(container: &Value, flag: &str) -> Result<Duration> {
    let value = list(container, "/args").iter().filter_map(Value::as_str).find_map(|arg| arg.strip_prefix(flag));
    let duration: SignedDuration = value.with_context(|| format!("no {flag}"))?.parse()?;
    Ok(duration.try_into()?)
}

#[test]
fn its_times_fit() -> Result<()> {
    for name in OVERLAYS {
        let manifests = rendered(name)?;
        let pod = &manifests.only("Deployment")?["spec"]["template"]["spec"];
        let container = container(&manifests)?;
        let number = |value: &Value| value.as_u64().map(Duration::from_secs).context("no number");
        let delay = seconds(container, "--shutdown-delay-duration=")?;
        let drain = seconds(container, "--shutdown-drain-duration=")?;
        let grace = number(&pod["terminationGracePeriodSeconds"])?;
        ensure!(delay + drain + BESIDES < grace, "{name}: it would be killed in its drain");
        let probe = &container["readinessProbe"];
        let failures = u32::try_from(probe["failureThreshold"].as_u64().context("no failureThreshold")?)?;
        let noticed = (number(&probe["periodSeconds"])? + number(&probe["timeoutSeconds"])?) * failures;
        ensure!(noticed * 2 <= delay, "{name}: it would stop answering before others know");
        for webhook in manifests.webhooks()? {
            ensure!(number(&webhook["timeoutSeconds"])? < drain, "{name}: a call may outlast the drain: {webhook}");
        }
    }
    Ok(())
}

/// Who pins the image by its digest has no tag to tell it by.
#[test]
fn its_label_tells_the_version_of_its_image() -> Result<()> {
    for name in OVERLAYS {
        let manifests = rendered(name)?;
        let label =
            &manifests.only("Deployment")?["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/version"];
        assert_eq!(
            text(container(&manifests)?, "/image")?.split_once(':').map(|(_, tag)| tag),
            label.as_str(),
            "{name}"
        );
        assert_eq!(label, concat!("v", env!("CARGO_PKG_VERSION")), "{name}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_may_do_nothing_on_its_node_and_ends_within_its_grace_period() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let mut replica = ground.start(&manifests).await?;
        ground.needed_slice("team-a", "web").await?;
        ground.guarded("team-a", "web-0").await?;

        let status = replica.proc("status")?;
        let of = |field: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
            line.map(str::trim).with_context(|| format!("no {field} in {status}"))
        };
        assert_eq!(of("Uid")?.split_whitespace().collect::<Vec<_>>(), ["65532"; 4]);
        assert_eq!(of("Gid")?.split_whitespace().collect::<Vec<_>>(), ["65532"; 4]);
        for capabilities in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert_eq!(of(capabilities)?, "0000000000000000", "{capabilities}");
        }
        assert_eq!(of("NoNewPrivs")?, "1");
        let root = replica.proc("mountinfo")?;
        let root = root.lines().rfind(|line| line.split(' ').nth(4) == Some("/")).context("no root")?;
        assert!(
            root.split(' ').nth(5).is_some_and(|options| options.split(',').any(|option| option == "ro")),
            "{root}"
        );
        let limit = text(container(&manifests)?, "/resources/limits/memory")?;
        let limit: u64 = limit.strip_suffix("Mi").context("not in Mi")?.parse()?;
        let peak: u64 = of("VmHWM")?.trim_end_matches(" kB").parse()?;
        assert!(peak / 1024 * 2 < limit, "a debug build, idle, takes {peak} kB of {limit} MiB");

        // A connection that the API server keeps open is not waited for.
        let idle = TcpStream::connect((eno_tests::netns::ADDRESS, replica.port())).await?;
        let grace = manifests.only("Deployment")?["spec"]["template"]["spec"]["terminationGracePeriodSeconds"].clone();
        let took = tokio::task::spawn_blocking(move || replica.terminate()).await?;
        drop(idle);
        assert!(took < Duration::from_secs(grace.as_u64().context("a number")?), "it was killed after {took:?}");
        Ok(())
    })
    .await
}

/// The namespace says `restricted`; the API server then warns of a Deployment whose pods it would refuse.
#[tokio::test(flavor = "multi_thread")]
async fn the_api_server_refuses_pods_that_may_more() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        // `apply` fails where the API server warns.
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let mut deployment = manifests.only("Deployment")?.clone();
        let container = &mut deployment["spec"]["template"]["spec"]["containers"][0];
        container["securityContext"]["allowPrivilegeEscalation"] = json!(true);
        let dry = ["apply", "--dry-run=server", "-f", "-"];
        let output = ground.cluster().kubectl_with(&dry, &deployment.to_string()).await?;
        assert!(output.stderr.contains("would violate PodSecurity \"restricted"), "{}", output.stderr);
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "eno-webhook", "namespace": deployment["metadata"]["namespace"]},
            "spec": deployment["spec"]["template"]["spec"],
        });
        let refused = ground.cluster().kubectl_with(&["create", "-f", "-"], &pod.to_string()).await?;
        assert!(refused.stderr.contains("violates PodSecurity \"restricted"), "{}", refused.stderr);
        let spec = &manifests.only("Deployment")?["spec"]["template"]["spec"];
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"], "spec": spec});
        ground.cluster().kubectl_with(&["create", "--dry-run=server", "-f", "-"], &pod.to_string()).await?.success()?;
        Ok(())
    })
    .await
}

/// What an answer waits for has a priority of its own; what the controllers write has not.
#[tokio::test(flavor = "multi_thread")]
async fn its_reads_have_a_priority_level_of_their_own() -> Result<()> {
    on_a_new_cluster(|ground| async move {
        let manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let uid = async |kind: &str| -> Result<String> {
            let of = ["get", kind, "eno-webhook", "-o", "jsonpath={.metadata.uid}"];
            ground.kubectl(&of).await?.success()
        };
        let (schema, level) = (uid("flowschema").await?, uid("prioritylevelconfiguration").await?);
        let account = manifests.only("ServiceAccount")?;
        let (namespace, name) = (text(account, "/metadata/namespace")?, text(account, "/metadata/name")?);
        let token = ground.kubectl(&["create", "token", name, "--namespace", namespace]).await?.success()?;
        let mut kubeconfig = Kubeconfig::read_from(ground.cluster().kubeconfig())?;
        let user = kubeconfig.auth_infos.first_mut().and_then(|user| user.auth_info.as_mut()).context("no user")?;
        *user = serde_json::from_value(json!({"token": token.trim()}))?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        let client = Client::try_from(config)?;
        let classified = async |request: http::Request<Body>| -> Result<[String; 2]> {
            let answer = client.send(request).await?;
            let header = |name: &str| {
                let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
                value.unwrap_or_default().to_owned()
            };
            Ok([header("X-Kubernetes-PF-FlowSchema-UID"), header("X-Kubernetes-PF-PriorityLevel-UID")])
        };
        let ours = [schema, level];
        eno_tests::eventually::eventually("the FlowSchema to be in force", Duration::from_secs(30), async || {
            let read = http::Request::get("/apis/eno.azure.io/v1/compositions?limit=1").body(Body::empty())?;
            let found = classified(read).await?;
            ensure!(found == ours, "{found:?}, not {ours:?}");
            Ok(())
        })
        .await?;
        let slice = "/apis/eno.azure.io/v1/namespaces/default/resourceslices/none";
        let write = classified(http::Request::delete(slice).body(Body::empty())?).await?;
        assert!(!write[0].is_empty() && write != ours, "{write:?}");
        Ok(())
    })
    .await
}
