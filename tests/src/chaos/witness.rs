//! What truly happened: each revision of Eno's objects, in order, read from the store itself. What the API server, its caches
//! and its watches tell may be late, and is lost with them; the store's history is not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures::StreamExt;
use http_body_util::BodyExt;
use k8s_openapi::ByteString;
use kube::client::Body;
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::ledger::Ledger;
use super::truth::{Change, Place, Truth};

/// Where the API server keeps Eno's objects.
const PREFIX: &str = "/registry/eno.azure.io/";
/// Pause before the store is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// Watches the store until it is dropped.
pub struct Witness {
    seen: Arc<Mutex<Seen>>,
    _watching: JoinSet<()>,
}

#[derive(Default)]
struct Seen {
    revision: u64,
    slices_gone: usize,
    truth: Truth,
}

impl Witness {
    /// Begins with a store in which there is nothing of Eno's. What must not happen is noted in the ledger.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn start(etcd: &str, ledger: Arc<Ledger>) -> Result<Self> {
        let client = Client::try_from(Config::new(etcd.parse()?))?;
        let range = json!({"key": base64(PREFIX)?, "range_end": base64(&end_of(PREFIX))?, "count_only": true});
        let now: Value = client.request(post("/v3/kv/range", &range)?).await.context("asking etcd")?;
        ensure!(now["count"].is_null(), "there are objects of Eno's already");
        let revision = number(&now["header"]["revision"])?;
        let seen = Arc::new(Mutex::new(Seen { revision, ..Seen::default() }));
        let mut watching = JoinSet::new();
        let shared = Arc::clone(&seen);
        watching.spawn(async move {
            loop {
                // A store that was killed or paused is asked again from where it was.
                if let Err(error) = watch(&client, &shared, &ledger).await
                    && format!("{error:#}").contains("compacted")
                {
                    return ledger.violated(format!("the witness has not seen all: {error:#}"));
                }
                sleep(PAUSE).await;
            }
        });
        Ok(Self { seen, _watching: watching })
    }

    /// Names of compositions that went in the moment in which their first synthesis ended: a limit of Kubernetes.
    pub fn overtaken(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.truth.overtaken().iter().map(|place| place.name.clone()).collect()
    }

    /// Names of compositions that went with a synthesis before Eno had put its finalizer on them.
    pub fn never_held(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.truth.never_held().iter().map(|place| place.name.clone()).collect()
    }

    /// How many slices are gone by now.
    pub fn slices_gone(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).slices_gone
    }
}

/// Follows the store until it ends.
async fn watch(client: &Client, seen: &Mutex<Seen>, ledger: &Ledger) -> Result<()> {
    let next = seen.lock().unwrap_or_else(PoisonError::into_inner).revision + 1;
    let range = json!({
        "key": base64(PREFIX)?, "range_end": base64(&end_of(PREFIX))?, "start_revision": next.to_string(),
    });
    let request = post("/v3/watch", &json!({"create_request": range}))?.map(Body::from);
    let mut body = client.send(request).await?.into_body().into_data_stream();
    let mut received = vec![];
    while let Some(piece) = body.next().await {
        received.extend_from_slice(&piece?);
        while let Some(end) = received.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = received.drain(..=end).collect();
            follow(&serde_json::from_slice(&line)?, seen, ledger)?;
        }
    }
    bail!("the store ended the watch")
}

fn follow(message: &Value, seen: &Mutex<Seen>, ledger: &Ledger) -> Result<()> {
    let result = &message["result"];
    ensure!(result["compact_revision"].is_null(), "compacted at {}", result["compact_revision"]);
    ensure!(result.is_object() && result["canceled"] != true, "{message}");
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    for event in result["events"].as_array().into_iter().flatten() {
        let revision = number(&event["kv"]["mod_revision"])?;
        let key = String::from_utf8(bytes(&event["kv"]["key"])?)?;
        let Some((kind, place)) = address(&key) else { continue };
        let object = match event["type"] == "DELETE" {
            true => None,
            false => Some(serde_json::from_slice(&bytes(&event["kv"]["value"])?)?),
        };
        seen.slices_gone += usize::from(kind == "resourceslices" && object.is_none());
        for wrong in seen.truth.apply(Change { kind, place, object }) {
            ledger.violated(format!("{wrong} (revision {revision})"));
        }
        seen.revision = seen.revision.max(revision);
    }
    Ok(())
}

/// Plural, and where.
fn address(key: &str) -> Option<(&str, Place)> {
    let mut parts = key.strip_prefix(PREFIX)?.split('/');
    let (kind, namespace, name) = (parts.next()?, parts.next()?, parts.next()?);
    Some((kind, Place { namespace: namespace.to_owned(), name: name.to_owned() }))
}

fn post(path: &str, body: &Value) -> Result<http::Request<Vec<u8>>> {
    Ok(http::Request::post(path).body(body.to_string().into_bytes())?)
}

/// etcd's gateway writes numbers as texts.
fn number(value: &Value) -> Result<u64> {
    value.as_str().and_then(|text| text.parse().ok()).with_context(|| format!("{value} is no number"))
}

fn base64(text: &str) -> Result<Value> {
    Ok(serde_json::to_value(ByteString(text.as_bytes().to_vec()))?)
}

fn bytes(value: &Value) -> Result<Vec<u8>> {
    Ok(serde_json::from_value::<ByteString>(value.clone())?.0)
}

/// The key after all that begin with this.
fn end_of(prefix: &str) -> String {
    // The last byte is `/`, and has one after it.
    let mut end = prefix.to_owned();
    end.pop();
    end.push('0');
    end
}
