//! What truly happened: each revision of Eno's objects, in order, read from the store itself. What the API server, its caches
//! and its watches tell may be late, and is lost with them; the store's history is not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::StreamExt;
use http_body_util::BodyExt;
use k8s_openapi::ByteString;
use kube::client::Body;
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::history::History;
use super::ledger::Ledger;
use super::truth::{Change, Place, Truth};

/// Where the API server keeps Eno's objects.
const ENO: &str = "/registry/eno.azure.io/";
/// Where it keeps the resources that compositions make. In a list of all keys Eno's objects come soon after them, so that one
/// watch brings both, in their order.
const RESOURCES: &str = "/registry/configmaps/targets/";
/// Pause before the store is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// Watches the store until it is dropped.
pub struct Witness {
    client: Client,
    seen: Arc<Mutex<Seen>>,
    _watching: JoinSet<()>,
}

#[derive(Default)]
struct Seen {
    /// All up to this is known.
    revision: u64,
    slices_gone: usize,
    resources_made: usize,
    /// What there is, and of which revision.
    keys: BTreeMap<String, u64>,
    truth: Truth,
    history: History,
}

impl Witness {
    /// Begins with a store in which there is nothing of Eno's. What must not happen is noted in the ledger.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn start(etcd: &str, ledger: Arc<Ledger>) -> Result<Self> {
        let client = Client::try_from(Config::new(etcd.parse()?))?;
        let (revision, keys) = stored(&client).await?;
        ensure!(keys.is_empty(), "there are objects of Eno's already");
        let seen = Arc::new(Mutex::new(Seen { revision, ..Seen::default() }));
        let mut watching = JoinSet::new();
        let (client_of_watch, shared) = (client.clone(), Arc::clone(&seen));
        watching.spawn(async move {
            loop {
                // A store that was killed or paused is asked again from where it was.
                if let Err(error) = watch(&client_of_watch, &shared, &ledger).await
                    && format!("{error:#}").contains("compacted")
                {
                    return ledger.violated(format!("the witness has not seen all: {error:#}"));
                }
                sleep(PAUSE).await;
            }
        });
        Ok(Self { client, seen, _watching: watching })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names of compositions that went in the moment in which their first synthesis ended: a limit of Kubernetes.
    pub fn overtaken(&self) -> Vec<String> {
        self.seen().truth.overtaken().iter().map(|place| place.name.clone()).collect()
    }

    /// Names of compositions that went with a synthesis before Eno had put its finalizer on them.
    pub fn never_held(&self) -> Vec<String> {
        self.seen().truth.never_held().iter().map(|place| place.name.clone()).collect()
    }

    /// How many slices are gone by now.
    pub fn slices_gone(&self) -> usize {
        self.seen().slices_gone
    }

    /// How many resources were made, or written anew.
    pub fn resources_made(&self) -> usize {
        self.seen().resources_made
    }

    /// Does it know of exactly what there is in the store? Then it has seen all up to the revision that is returned.
    ///
    /// # Errors
    /// The store does not answer, or has other objects: says which.
    pub async fn has_seen_all(&self) -> Result<u64> {
        let (revision, there) = stored(&self.client).await?;
        let mut seen = self.seen();
        let other = there.iter().find(|(key, revision)| seen.keys.get(*key) != Some(revision));
        ensure!(
            other.is_none() && seen.keys.len() == there.len(),
            "{other:?} is in the store, {} are known",
            seen.keys.len()
        );
        seen.revision = seen.revision.max(revision);
        Ok(revision)
    }

    /// What became of a composition and of what is named after it, oldest first.
    pub fn history(&self, composition: &str) -> Vec<String> {
        self.seen().history.of(composition)
    }
}

/// The revision of the store, and of which revision each object is.
async fn stored(client: &Client) -> Result<(u64, BTreeMap<String, u64>)> {
    let mut body = range()?;
    body["keys_only"] = json!(true);
    let now: Value = client.request(post("/v3/kv/range", &body)?).await.context("asking etcd")?;
    let mut there = BTreeMap::new();
    for kv in now["kvs"].as_array().into_iter().flatten() {
        let key = String::from_utf8(bytes(&kv["key"])?)?;
        if address(&key).is_some() {
            there.insert(key, number(&kv["mod_revision"])?);
        }
    }
    Ok((number(&now["header"]["revision"])?, there))
}

/// Follows the store until it ends.
async fn watch(client: &Client, seen: &Mutex<Seen>, ledger: &Ledger) -> Result<()> {
    let next = seen.lock().unwrap_or_else(PoisonError::into_inner).revision + 1;
    let mut wanted = range()?;
    wanted["start_revision"] = json!(next.to_string());
    let request = post("/v3/watch", &json!({"create_request": wanted}))?.map(Body::from);
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
        if let Some((kind, place)) = address(&key) {
            let object = match event["type"] == "DELETE" {
                true => None,
                // Kubernetes' own objects are no JSON, and what they are does not matter.
                false if !key.starts_with(ENO) => Some(Value::Null),
                false => Some(serde_json::from_slice(&bytes(&event["kv"]["value"])?)?),
            };
            match &object {
                Some(_) => _ = seen.keys.insert(key.clone(), revision),
                None => _ = seen.keys.remove(&key),
            }
            seen.slices_gone += usize::from(kind == "resourceslices" && object.is_none());
            seen.resources_made += usize::from(!key.starts_with(ENO) && object.is_some());
            let change = Change { kind, place, object };
            seen.history.note(revision, &change);
            for wrong in seen.truth.apply(change, Instant::now()) {
                ledger.violated(format!("{wrong} (revision {revision})"));
            }
        }
        seen.revision = seen.revision.max(revision);
    }
    Ok(())
}

/// Plural, and where; nothing of what is neither Eno's nor a resource.
fn address(key: &str) -> Option<(&str, Place)> {
    let is_resource = key.starts_with(RESOURCES) && !key.ends_with("/kube-root-ca.crt");
    let of_kind = key.strip_prefix(ENO).or_else(|| key.strip_prefix("/registry/").filter(|_| is_resource))?;
    let mut parts = of_kind.split('/');
    let (kind, namespace, name) = (parts.next()?, parts.next()?, parts.next()?);
    Some((kind, Place { namespace: namespace.to_owned(), name: name.to_owned() }))
}

/// All keys from the first resource to the last of Eno's objects.
fn range() -> Result<Value> {
    // The last byte is `/`, and has one after it.
    let end = format!("{}0", ENO.trim_end_matches('/'));
    Ok(json!({"key": base64(RESOURCES)?, "range_end": base64(&end)?}))
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
