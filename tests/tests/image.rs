//! The image, run as a container runtime would run it: its file system is all there is, and it is nobody in particular.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use eno_tests::cluster::Cluster;
use eno_tests::eventually::eventually;
use eno_tests::receiver::Receiver;
use eno_tests::release::{self, image};
use eno_tests::webhook::answer::denial;
use eno_tests::webhook::{Guarded, WebhookOptions};
use kube::ResourceExt;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What this host is called in there; only [`answer_dns`] knows it.
const NAME: &str = "host.image.test";
/// How long a step may take.
const LIMIT: Duration = Duration::from_secs(60);
/// The layers, unpacked, must not be larger.
const LARGEST: u64 = 20 * 1024 * 1024;

/// A namespace guarded by the image, which follows pods and tells this URL. The image goes after what runs in it.
async fn guarded(sink: &str) -> Result<(Guarded, TempDir)> {
    let root = tempfile::tempdir()?;
    image::unpack(&release::dist(), root.path())?;
    assert_eq!(names(root.path())?, ["etc", "eno-webhook"], "there is nothing else in it");
    let size = fs::metadata(root.path().join("eno-webhook"))?.len();
    assert!(size <= LARGEST, "the program has {size} bytes");

    let mut ground = Guarded::unguarded("image").await?;
    let kubeconfig = kubeconfig(ground.cluster(), root.path())?;
    fs::write(root.path().join("etc/resolv.conf"), format!("nameserver {}\n", answer_dns()?))?;
    let options = WebhookOptions {
        root: Some(root.path().to_owned()),
        kubeconfig: Some(kubeconfig),
        controllers: "pods",
        flags: vec![format!("--sink-url={sink}"), "--sink-allow-local".to_owned()],
        ..WebhookOptions::default()
    };
    ground.guard_with(options).await?;
    Ok((ground, root))
}

/// What is judged by a live read is answered.
async fn serves(ground: &Guarded) -> Result<()> {
    ground.live("web", 1).await?;
    let refused = ground.delete_slice("web-0", &[]).await?;
    let denial = denial(&refused, "slices-delete")?;
    ensure!(denial.contains("must stay (ReferencedByCurrent)"), "{denial}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_admissions_and_resolves_names_with_nothing_but_its_own_files() -> Result<()> {
    let receiver = Receiver::start().await?;
    let (mut ground, _root) = guarded(&receiver.url().replace("127.0.0.1", NAME)).await?;
    serves(&ground).await?;

    let metadata = json!({"name": "web", "namespace": ground.name(), "labels": {MANAGED_BY_LABEL: MANAGED_BY_ENO}});
    let spec = json!({"automountServiceAccountToken": false, "containers": [{"name": "c", "image": "none"}]});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    // A new namespace has no service account at first, without which no pod is made.
    let made = eventually("the pod to be made", LIMIT, async || ground.cluster().apply(&pod).await).await?;
    let webhook = ground.webhook();
    eventually("the pod to be followed", LIMIT, async || {
        let followed = webhook.count("eno_webhook_pods_followed", &[]).await?;
        ensure!(followed == 1, "{followed} are; the log:\n{}", webhook.log()?);
        Ok(())
    })
    .await?;
    // On no node, it goes at once.
    ground.kubectl(&["delete", "pod", "web"]).await?.success()?;
    let told = receiver.told(&made.uid().context("no uid")?, 1, LIMIT).await;
    let log = ground.webhook().log()?;
    assert_eq!(told.context(log)?[0].cause(), "Gone");
    Ok(())
}

/// It has none of its own: a rollout stops there, and those that run before go on.
#[tokio::test(flavor = "multi_thread")]
async fn does_not_start_without_the_authorities_that_a_receiver_needs() -> Result<()> {
    let refused = guarded(&format!("https://{NAME}/")).await.err().context("it has started")?;
    let message = format!("{refused:#}");
    assert!(message.contains("the system has no authorities; name them by --sink-ca-file"), "{message}");
    Ok(())
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = vec![];
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().into_string().ok().context("a name that is no text")?);
    }
    names.sort_by_key(|name| name.len());
    Ok(names)
}

/// The administrator's kubeconfig with the files it names, put into the image, and the server by a name to look up.
fn kubeconfig(cluster: &Cluster, root: &Path) -> Result<PathBuf> {
    let path = root.join("kubeconfig");
    let mut config: Value = serde_json::from_str(&fs::read_to_string(cluster.kubeconfig())?)?;
    let put = |value: &mut Value| -> Result<()> {
        let from = Path::new(value.as_str().context("a path")?);
        let name = from.file_name().context("a file")?;
        // Not by copying: who runs in there could not read the key.
        fs::write(root.join(name), fs::read(from)?)?;
        *value = json!(Path::new("/").join(name));
        Ok(())
    };
    let server = &mut config["clusters"][0]["cluster"];
    put(&mut server["certificate-authority"])?;
    let port = server["server"].as_str().and_then(|url| url.rsplit(':').next()).context("a port")?;
    server["server"] = json!(format!("https://{NAME}:{port}"));
    server["tls-server-name"] = json!("127.0.0.1");
    let user = &mut config["users"][0]["user"];
    put(&mut user["client-certificate"])?;
    put(&mut user["client-key"])?;
    fs::write(&path, config.to_string())?;
    Ok(path)
}

/// Answers every question for an IPv4 address with 127.0.0.1, and all others with nothing, until the process ends.
fn answer_dns() -> Result<Ipv4Addr> {
    // All of 127.0.0.0/8 is ours: tests that run beside this one have other addresses.
    let address = Ipv4Addr::new(127, 53, fastrand::u8(..), fastrand::u8(1..255));
    let socket = UdpSocket::bind((address, 53)).context("listening for DNS: the control-plane tests run as root")?;
    thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut query) {
            if let Some(answer) = dns_answer(&query[..length]) {
                // Who asks asks again.
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    Ok(address)
}

/// RFC 1035, 4.1: the header, the one question, and for an A record the answer that points back to its name.
fn dns_answer(query: &[u8]) -> Option<Vec<u8>> {
    const HEADER: usize = 12;
    let name = query.get(HEADER..)?.iter().position(|&byte| byte == 0)?;
    let question = query.get(HEADER..HEADER + name + 5)?;
    let is_a = question.get(name + 1..name + 3)? == [0, 1];
    let mut answer = query.get(..2)?.to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
    answer.extend(question);
    if is_a {
        answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
    }
    Some(answer)
}
