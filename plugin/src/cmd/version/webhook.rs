//! The webhook: what the pods behind its Service run. They tell their version by their image, and their mode by their
//! arguments. Of one that is reached by URL, nothing can be told.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::cmd::doctor::ask::{Answer, get, items, text};
use crate::cmd::doctor::webhook::hooks;

/// Says which version an image is of, where its tag does not.
const VERSION_LABEL: &str = "app.kubernetes.io/version";
/// The flag that says how far denials go, and how far they go without it.
const MODE_FLAG: &str = "--mode";
const DEFAULT_MODE: &str = "enforce";

/// What is known of it. A null means that it cannot be told.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Webhook {
    /// Is a webhook configured?
    configured: bool,
    /// Where the API server finds it: `service NAMESPACE/NAME`, or a URL.
    place: Option<String>,
    /// Of its pods; several, in the middle of an update.
    versions: Option<Vec<String>>,
    /// How far denials go: enforce, warn or audit; several, in the middle of an update.
    modes: Option<Vec<String>>,
    /// Why something cannot be told.
    message: Option<String>,
}

impl fmt::Display for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Webhook { configured, place, versions, modes, message } = self;
        if !configured {
            return f.write_str("none is configured");
        }
        let known = |words: &Option<Vec<String>>| words.as_ref().map(|words| words.join(", "));
        f.write_str(known(versions).as_deref().unwrap_or("<unknown>"))?;
        known(modes).iter().try_for_each(|modes| write!(f, ", mode {modes}"))?;
        place.iter().try_for_each(|place| write!(f, ", at {place}"))?;
        message.iter().try_for_each(|message| write!(f, " ({message})"))
    }
}

/// Looks for it.
pub(super) async fn read(cluster: &Cluster) -> Result<Webhook, String> {
    let hooks = hooks(cluster, None).await?;
    let Some(client) = hooks.first().map(|hook| hook.client()) else { return Ok(Webhook::default()) };
    if let Some(url) = client["url"].as_str() {
        // Without the path of the hook.
        let place = url.parse::<http::Uri>().ok().and_then(|url| Some(format!("https://{}", url.authority()?)));
        let message = Some("it is reached by URL, and does not say".to_owned());
        return Ok(Webhook { configured: true, place, message, ..Webhook::default() });
    }
    let (namespace, name) = (text(client, "/service/namespace"), text(client, "/service/name"));
    let known = Webhook { configured: true, place: Some(format!("service {namespace}/{name}")), ..Webhook::default() };
    Ok(match pods(cluster, namespace, name).await {
        Ok(pods) => Webhook { versions: Some(words(&pods, version)), modes: Some(words(&pods, mode)), ..known },
        Err(why) => Webhook { message: Some(why), ..known },
    })
}

/// The pods that the Service selects.
async fn pods(cluster: &Cluster, namespace: &str, name: &str) -> Result<Vec<Value>, String> {
    let read = async |path: &str, what: &str| match get(cluster, path).await {
        Answer::Found(object) => Ok(object),
        other => Err(format!("cannot read {what}: {}", other.reason())),
    };
    let service =
        read(&format!("/api/v1/namespaces/{namespace}/services/{name}"), &format!("service {namespace}/{name}"))
            .await?;
    let selector = service.pointer("/spec/selector").and_then(Value::as_object);
    let selector: Vec<String> = selector
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some(format!("{}%3D{}", key.replace('/', "%2F"), value.as_str()?)))
        .collect();
    if selector.is_empty() {
        return Err(format!("service {namespace}/{name} selects no pods"));
    }
    let path = format!("/api/v1/namespaces/{namespace}/pods?labelSelector={}", selector.join("%2C"));
    let pods: Vec<Value> = items(&read(&path, "its pods").await?).cloned().collect();
    if pods.is_empty() { Err("it has no pods".to_owned()) } else { Ok(pods) }
}

/// What the pods say, each word once.
fn words(pods: &[Value], say: impl Fn(&Value) -> String) -> Vec<String> {
    pods.iter().map(say).collect::<BTreeSet<_>>().into_iter().collect()
}

/// By the tag of its image, which is what runs; else by its label, else by the digest.
fn version(pod: &Value) -> String {
    let image = text(pod, "/spec/containers/0/image");
    let (named, digest) = image.split_once('@').map_or((image, None), |(named, digest)| (named, Some(digest)));
    // A colon before the last slash is that of a port.
    let tag = named.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(_, tag)| tag);
    let label = pod["metadata"]["labels"][VERSION_LABEL].as_str();
    tag.or(label).or(digest).unwrap_or("<untagged>").to_owned()
}

fn mode(pod: &Value) -> String {
    let container = &pod["spec"]["containers"][0];
    let words = ["command", "args"].into_iter().flat_map(|list| container[list].as_array().into_iter().flatten());
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    let given = words.iter().enumerate().find_map(|(index, word)| match word.strip_prefix(MODE_FLAG)? {
        "" => words.get(index + 1).copied(),
        value => value.strip_prefix('='),
    });
    given.unwrap_or(DEFAULT_MODE).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(image: &str, args: &[&str]) -> Value {
        json!({"metadata": {}, "spec": {"containers": [{"image": image, "args": args}]}})
    }

    #[test]
    fn the_image_tells_the_version() {
        for (image, told) in [
            ("ghcr.io/x/eno-webhook:v0.1.0", "v0.1.0"),
            ("localhost:5000/eno-webhook:v0.1.0@sha256:ab", "v0.1.0"),
            ("localhost:5000/eno-webhook", "<untagged>"),
            ("eno-webhook@sha256:ab", "sha256:ab"),
        ] {
            assert_eq!(version(&pod(image, &[])), told);
        }
        for (image, told) in [("eno-webhook@sha256:ab", "v2"), ("eno-webhook:v3", "v3")] {
            let mut labelled = pod(image, &[]);
            labelled["metadata"]["labels"] = json!({VERSION_LABEL: "v2"});
            assert_eq!(version(&labelled), told);
        }
    }

    #[test]
    fn the_arguments_tell_the_mode() {
        for (args, told) in [
            (&["--secure-port=9443"] as &[&str], "enforce"),
            (&["--mode=audit"], "audit"),
            (&["--dry-run", "--mode", "warn"], "warn"),
            (&["--modest"], "enforce"),
        ] {
            assert_eq!(mode(&pod("x", args)), told, "{args:?}");
        }
    }

    #[test]
    fn in_the_middle_of_an_update_both_are_told() {
        let pods = [pod("x:v1", &[]), pod("x:v2", &[]), pod("x:v1", &[])];
        let webhook = Webhook {
            configured: true,
            versions: Some(words(&pods, version)),
            modes: Some(words(&pods, mode)),
            place: Some("service a/b".to_owned()),
            message: None,
        };
        assert_eq!(webhook.to_string(), "v1, v2, mode enforce, at service a/b");
        assert_eq!(Webhook::default().to_string(), "none is configured");
    }
}
