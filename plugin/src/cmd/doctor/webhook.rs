//! The webhook's configurations: are all hooks there, with the policy they were made with, and is anybody behind them?

use std::collections::BTreeMap;

use eno_shared::names::{HOOK_DOMAIN, WEBHOOK_NAME};
use serde_json::Value;

use super::ask::{Answer, get, items, text};
use super::check::Check;
use super::id::Id;
use crate::cluster::Cluster;

/// The hooks, each with its failure policy. Those with `Fail` protect.
const HOOKS: [(&str, &str); 7] = [
    ("slices-delete", "Fail"),
    ("slices-update", "Fail"),
    ("slices-create", "Ignore"),
    ("compositions-update", "Fail"),
    ("compositions-delete", "Ignore"),
    ("symphonies-delete", "Ignore"),
    ("definitions-delete", "Fail"),
];

/// A hook of the configurations.
#[derive(Debug, Clone)]
pub(in crate::cmd) struct Hook(Value);

impl Hook {
    /// `slices-delete`, say.
    pub(super) fn name(&self) -> &str {
        text(&self.0, "/name").strip_suffix(HOOK_DOMAIN).unwrap_or_default().trim_end_matches('.')
    }

    /// Where the API server finds it.
    pub(in crate::cmd) fn client(&self) -> &Value {
        &self.0["clientConfig"]
    }

    /// The PEM of who signed its certificate.
    pub(super) fn bundle(&self) -> Option<Vec<u8>> {
        let encoded = self.client()["caBundle"].as_str().filter(|encoded| !encoded.is_empty())?;
        Some(base64(encoded))
    }

    /// Are objects of a namespace with these labels its business? `None` where the selector is not of a kind that
    /// eno-webhook writes.
    pub(super) fn guards(&self, labels: &BTreeMap<String, String>) -> Option<bool> {
        let selector = &self.0["namespaceSelector"];
        if selector["matchExpressions"].as_array().is_some_and(|expressions| !expressions.is_empty()) {
            return None;
        }
        let wanted = selector["matchLabels"].as_object();
        Some(wanted.into_iter().flatten().all(|(key, value)| labels.get(key).map(String::as_str) == value.as_str()))
    }
}

/// The hooks there are, by whatever name their configuration has; those alone that guard this namespace, where one is
/// named.
pub(in crate::cmd) async fn hooks(
    cluster: &Cluster,
    labels: Option<&BTreeMap<String, String>>,
) -> Result<Vec<Hook>, String> {
    let mut hooks = vec![];
    for plural in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
        match get(cluster, &format!("/apis/admissionregistration.k8s.io/v1/{plural}")).await {
            Answer::Found(list) => {
                let all = items(&list).flat_map(|config| config["webhooks"].as_array().into_iter().flatten());
                hooks.extend(all.filter(|hook| text(hook, "/name").ends_with(HOOK_DOMAIN)).cloned().map(Hook));
            }
            other => return Err(format!("cannot list {plural}: {}", other.reason())),
        }
    }
    let guards = |hook: &Hook| labels.is_none_or(|labels| hook.guards(labels).unwrap_or(true));
    hooks.retain(guards);
    Ok(hooks)
}

/// Are all hooks there?
pub(super) fn configuration(hooks: &[Hook], namespace: Option<&str>) -> Check {
    let missing = |policy: &str| {
        let of = HOOKS.iter().filter(move |(_, wanted)| *wanted == policy);
        of.map(|(name, _)| *name).filter(|name| hooks.iter().all(|hook| hook.name() != *name)).collect::<Vec<_>>()
    };
    if hooks.is_empty() {
        let place = namespace.map_or_else(String::new, |namespace| format!(" for namespace {namespace}"));
        return Check::failed(
            Id::WebhookConfig,
            format!("no webhook configuration of {WEBHOOK_NAME}{place}: nothing is protected"),
        );
    }
    let (mut protecting, helping) = (missing("Fail"), missing("Ignore"));
    // The CRDs may be guarded by other means.
    let definitions =
        protecting.iter().position(|name| *name == "definitions-delete").map(|index| protecting.remove(index));
    let lacks = |names: &[&str]| format!("hooks are missing: {}", names.join(", "));
    if !protecting.is_empty() {
        return Check::failed(Id::WebhookConfig, lacks(&protecting));
    }
    let rest: Vec<&str> = helping.into_iter().chain(definitions).collect();
    if !rest.is_empty() {
        return Check::warning(Id::WebhookConfig, lacks(&rest));
    }
    Check::passed(Id::WebhookConfig, format!("all {} hooks are configured", HOOKS.len()))
}

/// Have they the policy they were made with?
pub(super) fn policy(hooks: &[Hook]) -> Check {
    let wrong: Vec<String> = hooks.iter().filter_map(wrong_policy).collect();
    if wrong.is_empty() {
        return Check::passed(
            Id::WebhookPolicy,
            "failurePolicy is Fail where a hook protects, and Ignore where it helps",
        );
    }
    Check::warning(Id::WebhookPolicy, "failurePolicy is not as eno-webhook prints it").with(wrong)
}

fn wrong_policy(hook: &Hook) -> Option<String> {
    let (name, wanted) = HOOKS.iter().find(|(name, _)| *name == hook.name())?;
    let policy = text(&hook.0, "/failurePolicy");
    (policy != *wanted).then(|| format!("{name} has failurePolicy {policy}, and should have {wanted}"))
}

/// Where the webhook listens, as the API server sees it.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The name that its certificate must have.
    pub name: String,
    /// Where to connect to: `HOST:PORT`.
    pub addresses: Vec<String>,
}

/// Is anybody there, and where?
pub(super) async fn endpoint(cluster: &Cluster, hook: &Hook) -> (Check, Place) {
    let client = hook.client();
    if let Some(url) = client["url"].as_str() {
        let url: http::Uri = url.parse().unwrap_or_default();
        let host = url.host().unwrap_or_default();
        let place = Place {
            name: host.trim_matches(['[', ']']).to_owned(),
            addresses: vec![format!("{host}:{}", url.port_u16().unwrap_or(443))],
        };
        return (
            Check::skipped(Id::WebhookEndpoint, format!("it is reached by URL, at {}", place.addresses[0])),
            place,
        );
    }
    let (namespace, name) = (text(client, "/service/namespace"), text(client, "/service/name"));
    let port = client["service"]["port"].as_u64().unwrap_or(443);
    let mut place = Place { name: format!("{name}.{namespace}.svc"), addresses: vec![] };
    let shown = format!("service {namespace}/{name}");
    let service = match get(cluster, &format!("/api/v1/namespaces/{namespace}/services/{name}")).await {
        Answer::Found(service) => service,
        Answer::Missing => {
            return (Check::failed(Id::WebhookEndpoint, format!("{shown} does not exist")), place);
        }
        other => {
            return (Check::skipped(Id::WebhookEndpoint, format!("cannot read {shown}: {}", other.reason())), place);
        }
    };
    if service["spec"]["ports"].as_array().into_iter().flatten().all(|known| known["port"] != port) {
        return (Check::failed(Id::WebhookEndpoint, format!("{shown} has no port {port}")), place);
    }
    let path = format!(
        "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D{name}"
    );
    let slices = match get(cluster, &path).await {
        Answer::Found(slices) => slices,
        other => {
            let why = other.reason();
            return (Check::skipped(Id::WebhookEndpoint, format!("cannot list endpoints of {shown}: {why}")), place);
        }
    };
    for slice in items(&slices) {
        place.addresses.extend(ready(slice));
    }
    let check = match place.addresses.len() {
        0 => Check::failed(Id::WebhookEndpoint, format!("{shown} has no ready endpoint")),
        1 => Check::passed(Id::WebhookEndpoint, format!("{shown} has 1 ready endpoint")),
        count => Check::passed(Id::WebhookEndpoint, format!("{shown} has {count} ready endpoints")),
    };
    (check, place)
}

/// Addresses of an EndpointSlice that are ready; one of which that is not said is.
fn ready(slice: &Value) -> Vec<String> {
    let Some(port) = slice.pointer("/ports/0/port").and_then(Value::as_u64) else { return vec![] };
    let endpoints = slice["endpoints"].as_array().into_iter().flatten();
    let ready = endpoints.filter(|endpoint| endpoint["conditions"]["ready"] != false);
    let addresses = ready.filter_map(|endpoint| endpoint.pointer("/addresses/0").and_then(Value::as_str));
    addresses
        .map(|host| if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
        .collect()
}

/// Standard base64; what is none is left out.
fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sextets = text.bytes().filter_map(|byte| ALPHABET.iter().position(|letter| *letter == byte));
    let (mut bytes, mut bits, mut count) = (vec![], 0, 0);
    for sextet in sextets {
        bits = bits << 6 | sextet as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::check::Outcome;
    use super::*;

    #[test]
    fn decodes_base64() {
        for (encoded, plain) in
            [("", ""), ("aA==", "h"), ("aGk=", "hi"), ("aGkh", "hi!"), ("LS0tLS1CRUdJTg==", "-----BEGIN")]
        {
            assert_eq!(base64(encoded), plain.as_bytes());
        }
    }

    fn hook(name: &str, policy: &str) -> Hook {
        Hook(json!({"name": format!("{name}.{HOOK_DOMAIN}"), "failurePolicy": policy}))
    }

    #[test]
    fn all_hooks_must_be_there() {
        let all: Vec<Hook> = HOOKS.iter().map(|(name, policy)| hook(name, policy)).collect();
        assert_eq!(configuration(&all, None).outcome, Outcome::Passed);
        assert_eq!(policy(&all).outcome, Outcome::Passed);
        assert_eq!(configuration(&[], None).outcome, Outcome::Failed);
        assert_eq!(configuration(&all[1..], None).outcome, Outcome::Failed);
        let helped: Vec<Hook> = all.into_iter().filter(|hook| hook.name() != "slices-create").collect();
        assert_eq!(configuration(&helped, None).message, "hooks are missing: slices-create");
    }

    #[test]
    fn a_protecting_hook_must_fail_closed() {
        let found = policy(&[hook("slices-delete", "Ignore"), hook("slices-create", "Ignore")]);
        assert_eq!(found.outcome, Outcome::Warning);
        assert_eq!(found.details, ["slices-delete has failurePolicy Ignore, and should have Fail"]);
    }

    #[test]
    fn guards_by_labels() {
        let labels = |text: &str| BTreeMap::from([("team".to_owned(), text.to_owned())]);
        let selecting = |selector: Value| Hook(json!({"namespaceSelector": selector})).guards(&labels("a"));
        assert_eq!(selecting(json!({})), Some(true));
        assert_eq!(selecting(json!({"matchLabels": {"team": "a"}})), Some(true));
        assert_eq!(selecting(json!({"matchLabels": {"team": "b"}})), Some(false));
        assert_eq!(selecting(json!({"matchExpressions": [{"key": "team", "operator": "Exists"}]})), None);
    }

    #[test]
    fn endpoints_that_are_not_ready_are_none() {
        let slice = json!({
            "ports": [{"port": 9443}],
            "endpoints": [
                {"addresses": ["10.0.0.1"], "conditions": {"ready": true}},
                {"addresses": ["10.0.0.2"], "conditions": {"ready": false}},
                {"addresses": ["fd00::1"]},
            ],
        });
        assert_eq!(ready(&slice), ["10.0.0.1:9443", "[fd00::1]:9443"]);
    }
}
