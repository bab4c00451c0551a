//! What the Deployment says of its container, as a command that is run in its place.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use eno_shared::names::WEBHOOK_NAME;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use serde_json::Value;

use super::{Conditions, Place};
use crate::cluster::Cluster;
use crate::manifests::{Manifests, list, text};
use crate::workspace;

/// Where a pod finds its token.
const TOKEN_DIR: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Makes the mounts of the pod, in the mount namespace that `ip netns exec` has made, then becomes its user and its program.
/// Arguments: read-only root or not, uid, gid, the number of mounts, those (source and target), the program, its arguments.
const ENTER: &str = r#"
read_only=$1 uid=$2 gid=$3 mounts=$4; shift 4
mount -t tmpfs -o mode=0755 tmpfs /var/run
while [ "$mounts" -gt 0 ]; do
  if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "$(dirname "$2")"; : > "$2"; fi
  mount --bind "$1" "$2"; shift 2; mounts=$((mounts - 1))
done
if [ "$read_only" = true ]; then mount -o remount,bind,ro /; mount -o remount,bind,ro /var/run; fi
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs --pdeathsig KILL -- "$@"
"#;

/// The command of the container; what it mounts is written into `dir`. The first replica has the ports of the manifest.
pub(super) async fn command(
    place: &Place,
    manifests: &Manifests,
    first: bool,
    dir: &Path,
    conditions: &Conditions,
) -> Result<Command> {
    let deployment = manifests.only("Deployment")?;
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let namespace = text(deployment, "/metadata/namespace")?;
    let user = User::of(pod)?;

    let mut mounts = vec![(program()?, PathBuf::from("/var/run/program"))];
    let token = dir.join("serviceaccount");
    write_token(place, namespace, text(pod, "/serviceAccountName")?, &token)?;
    mounts.push((token, PathBuf::from(TOKEN_DIR)));
    for mount in list(container, "/volumeMounts") {
        let name = text(mount, "/name")?;
        let volume = list(pod, "/volumes").iter().find(|volume| volume["name"] == name).context("no such volume")?;
        let source = dir.join(name);
        write_secret(&place.cluster, namespace, volume, &source, &user).await?;
        mounts.push((source, PathBuf::from(text(mount, "/mountPath")?)));
    }
    let outside = mounts.iter().find(|(_, target)| !target.starts_with("/var/run"));
    ensure!(outside.is_none(), "only mounts below /var/run can be made here, not {outside:?}");

    let mut command = Command::new("ip");
    command.args(["netns", "exec", &place.netns, "sh", "-euc", ENTER, "enter"]);
    let read_only = container["securityContext"]["readOnlyRootFilesystem"] == true;
    command.arg(read_only.to_string()).args([user.uid.to_string(), user.gid.to_string()]);
    command.arg(mounts.len().to_string());
    for (source, target) in &mounts {
        command.arg(source).arg(target);
    }
    command.args(conditions.prefix()).arg("/var/run/program").args(flags(container, first)?);
    let (host, port) = place.server.trim_start_matches("https://").rsplit_once(':').context("no port")?;
    command.env("KUBERNETES_SERVICE_HOST", host).env("KUBERNETES_SERVICE_PORT", port).env_remove("RUST_LOG");
    Ok(command)
}

/// The user and group of a pod's process.
struct User {
    uid: u32,
    gid: u32,
}

impl User {
    fn of(pod: &Value) -> Result<Self> {
        let id = |field: &str| -> Result<u32> {
            let id = pod["securityContext"][field].as_u64().with_context(|| format!("no {field}"))?;
            Ok(id.try_into()?)
        };
        ensure!(pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsGroup"], "groups are not imitated");
        Ok(User { uid: id("runAsUser")?, gid: id("runAsGroup")? })
    }
}

/// The program that cargo has built, as it has built this one.
///
/// # Errors
/// It has not.
pub fn program() -> Result<PathBuf> {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let program = workspace::target().join(profile).join(WEBHOOK_NAME);
    ensure!(program.is_file(), "no {}\nhint: build it with `cargo build`", program.display());
    Ok(program)
}

fn flags(container: &Value, first: bool) -> Result<Vec<String>> {
    let mut flags = vec![];
    for flag in list(container, "/args") {
        let flag = flag.as_str().context("a flag is a text")?;
        let own = !first && (flag.starts_with("--secure-port=") || flag.starts_with("--metrics-bind-address="));
        flags.push(match flag.split_once('=') {
            Some((name @ "--secure-port", _)) if own => format!("{name}=0"),
            Some((name, _)) if own => format!("{name}=:0"),
            _ => flag.to_owned(),
        });
    }
    Ok(flags)
}

/// What the kubelet mounts for a pod with `automountServiceAccountToken`.
fn write_token(place: &Place, namespace: &str, account: &str, dir: &Path) -> Result<()> {
    fs::create_dir(dir)?;
    let token = Command::new(place.cluster.kubectl_path())
        .args(["create", "token", account, "--namespace", namespace])
        .env("KUBECONFIG", place.cluster.kubeconfig())
        .output()?;
    ensure!(token.status.success(), "{}", String::from_utf8_lossy(&token.stderr));
    fs::write(dir.join("token"), String::from_utf8(token.stdout)?.trim())?;
    fs::write(dir.join("namespace"), namespace)?;
    fs::copy(&place.ca, dir.join("ca.crt"))?;
    Ok(())
}

/// What the kubelet mounts of a Secret: files behind a link that it swaps.
async fn write_secret(cluster: &Cluster, namespace: &str, volume: &Value, dir: &Path, user: &User) -> Result<()> {
    let name = text(volume, "/secret/secretName")?;
    let mode = volume["secret"]["defaultMode"].as_u64().context("no defaultMode")?;
    let secret = Api::<Secret>::namespaced(cluster.client(), namespace).get(name).await?;
    let data = dir.join("..data-1");
    fs::create_dir_all(&data)?;
    for (key, value) in secret.data.unwrap_or_default() {
        let file = data.join(&key);
        fs::write(&file, value.0)?;
        fs::set_permissions(&file, Permissions::from_mode(mode.try_into()?))?;
        chown(&file, Some(0), Some(user.gid))?;
        symlink(Path::new("..data").join(&key), dir.join(&key))?;
    }
    Ok(symlink("..data-1", dir.join("..data"))?)
}
