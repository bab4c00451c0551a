//! `kubectl eno pods` against a server that answers as an API server would.

mod letters;
mod list;
mod release;
mod watch;

use serde_json::{Value, json};

use super::api_server::{Request, Response};

const MAPS: &str = "/api/v1/namespaces/eno-webhook-system/configmaps";
const PODS: &str = "/api/v1/namespaces/team-a/pods";
const LETTER: &str = "11111111-1111-5111-8111-111111111111";

/// A pod that lives, one that is going, and one that has ended and that one sink would not take.
fn shard() -> Value {
    let labels = "eno.azure.io/composition-name=web,eno.azure.io/composition-namespace=team-a";
    let entries = [
        ("u-lives", json!({"namespace": "team-a", "name": "lives", "following": {"node": "node-1"}})),
        (
            "u-going",
            json!({"namespace": "team-a", "name": "going", "following": {
                "goingSince": "2026-03-01T10:00:00Z",
                "record": {
                    "node": "node-2", "labels": labels, "deletedAt": "2026-03-01T10:00:30Z",
                    "sandboxes": [{"source": "calico", "id": "abc"}],
                },
            }}),
        ),
        (
            "u-ended",
            json!({"namespace": "team-a", "name": "ended", "undelivered": [{
                "destroy": {
                    "id": LETTER, "sequence": 1, "cause": "Replaced", "node": "node-1",
                    "pod": {"namespace": "team-a", "name": "ended", "uid": "u-ended"},
                    "observedAt": "2026-03-01T11:00:00Z", "confirmed": true,
                },
                "sinks": {
                    "http": {"state": "dead", "why": "400 Bad Request", "at": "2026-03-01T11:00:01Z"},
                    "log": {"state": "pending"},
                },
            }]}),
        ),
    ];
    let data: serde_json::Map<_, _> =
        entries.into_iter().map(|(uid, entry)| (uid.to_owned(), json!(entry.to_string()))).collect();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {
            "name": "pods-0", "namespace": "eno-webhook-system",
            "annotations": {"kubectl-eno.dev/outbox-format": "1", "kubectl-eno.dev/cluster-uid": "this-cluster"},
        },
    })
}

/// The pod that is going, as the API server has it.
fn going() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": "node-2"},
        "metadata": {
            "name": "going", "namespace": "team-a", "uid": "u-going", "resourceVersion": "7",
            "deletionTimestamp": "2026-03-01T10:00:30Z",
        },
    })
}

fn node(taints: &Value) -> Response {
    let status = json!({"conditions": [{"type": "Ready", "status": "Unknown"}]});
    Response::ok(json!({"kind": "Node", "metadata": {"name": "node-2"}, "spec": {"taints": taints}, "status": status}))
}

fn healthy(request: &Request) -> Response {
    match request.path.as_str() {
        "/api/v1/namespaces/kube-system" => Response::ok(json!({"metadata": {"uid": "this-cluster"}})),
        MAPS => Response::list(&[shard()]),
        "/api/v1/pods" | PODS => Response::list(&[]),
        path => Response::not_found(path.rsplit('/').next().unwrap_or_default()),
    }
}
