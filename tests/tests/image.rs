//! The image, run as a container runtime would run it: its file system is all there is, and it is nobody in particular.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result};
use eno_tests::cluster::Cluster;
use eno_tests::release::{self, image};
use eno_tests::webhook::answer::denial;
use eno_tests::webhook::{Guarded, WebhookOptions};
use serde_json::{Value, json};

/// What the API server is called in there; only [`answer_dns`] knows it.
const NAME: &str = "apiserver.image.test";
/// The layers, unpacked, must not be larger.
const LARGEST: u64 = 20 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn serves_admissions_and_resolves_names_with_nothing_but_its_own_files() -> Result<()> {
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
        ..WebhookOptions::default()
    };
    ground.guard_with(options).await?;
    ground.live("web", 1).await?;
    let refused = ground.delete_slice("web-0", &[]).await?;
    let denial = denial(&refused, "slices-delete")?;
    assert!(denial.contains("must stay (ReferencedByCurrent)"), "judged by a live read: {denial}");
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
