//! Where it happens: a control plane, two replicas between wires, Eno, namespaces, and what is known of all of it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eno_shared::names::{WEBHOOK_NAME, WEBHOOK_NAMESPACE};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, ListParams};
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::fleet::Fleet;
use super::ledger::{Ledger, Outcome};
use super::witness::Witness;
use crate::cluster::Cluster;
use crate::collector::knows_enos_kinds;
use crate::eno::{Eno, real};
use crate::eventually::eventually;
use crate::manifests::ground::Ground;
use crate::manifests::{Manifests, overlay};
use crate::netns;
use crate::receiver::Receiver;
use crate::standin::Parts;

/// The namespace in which nothing changes: it is asked whether the webhook denies.
pub const CALM: &str = "calm";
/// The namespace of the resources of all compositions.
pub const TARGETS: &str = "targets";
/// How long all may take to be well again after a fault: a Lease lapses after 15 s, backoffs go to a minute.
const WELL: Duration = Duration::from_secs(120);
/// So many denials in a row are taken for health: both replicas have most likely answered.
const IN_A_ROW: usize = 12;
/// A client gives up after so long.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// The stage. Dropping it ends all.
pub struct Stage {
    /// The replicas.
    pub fleet: Fleet,
    /// The control plane's processes.
    pub ground: Mutex<Ground>,
    /// Its clients' side; nothing is tried again by itself.
    pub cluster: Cluster,
    /// What was applied.
    pub manifests: Arc<Manifests>,
    /// What became of the calls.
    pub ledger: Arc<Ledger>,
    /// What truly happened.
    pub witness: Witness,
    /// Who is told of destroyed pods.
    pub receiver: Receiver,
    /// Whether the real Eno runs.
    pub real_eno: bool,
    towns: std::sync::Mutex<Vec<Town>>,
    founded: AtomicUsize,
    stranded: std::sync::Mutex<BTreeSet<String>>,
}

/// A namespace with Eno at work in it.
struct Town {
    name: String,
    /// Actors leave it alone.
    aside: bool,
    eno: Option<Eno>,
}

impl Stage {
    /// Sets all up, until the webhook denies what it should.
    ///
    /// # Errors
    /// Something does not start.
    pub async fn set(ground: Ground) -> Result<Self> {
        let mut manifests = ground.apply(&overlay("self-managed"), &[]).await?;
        let receiver = Receiver::at(netns::ADDRESS.parse()?).await?;
        manifests.add_flag(&format!("--sink-url={}", receiver.url()))?;
        let (manifests, ledger) = (Arc::new(manifests), Arc::new(Ledger::default()));
        let etcd = ground.etcd_url();
        let witness = Witness::start(&etcd, Arc::clone(&ledger)).await?;
        let fleet = Fleet::start(ground.place(), Arc::clone(&manifests), Arc::clone(&ledger)).await?;
        let cluster = ground.cluster().without_retries().await?;
        ground.needed_slice(CALM, "web").await?;
        ground.guarded(CALM, "web-0").await?;
        for object in [
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TARGETS}}),
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}),
        ] {
            cluster.apply(&object).await?;
        }
        let accounts = cluster.api("v1", "ServiceAccount", Some(TARGETS));
        eventually("pods to be allowed", WELL, async || Ok(accounts.get("default").await.map(drop)?)).await?;
        knows_enos_kinds(&cluster, CALM).await?;
        let real_eno = Eno::bin_dir().is_some();
        let stage = Self {
            fleet,
            ground: Mutex::new(ground),
            cluster,
            manifests,
            ledger,
            witness,
            receiver,
            real_eno,
            towns: std::sync::Mutex::default(),
            founded: AtomicUsize::new(0),
            stranded: std::sync::Mutex::default(),
        };
        if real_eno {
            stage.cluster.apply(&real::synthesizer("maker")).await?;
            let netns = stage.ground.lock().await.place().netns;
            let eno = Eno::start(&stage.cluster, Some(&netns), &[], Parts::ALL).await?;
            stage.towns().push(Town { name: CALM.to_owned(), aside: true, eno: Some(eno) });
        }
        stage.well().await?;
        Ok(stage)
    }

    fn towns(&self) -> std::sync::MutexGuard<'_, Vec<Town>> {
        self.towns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a namespace for the actors, with Eno at work in it.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn found(&self) -> Result<String> {
        let name = self.found_aside().await?;
        self.towns().iter_mut().filter(|town| town.name == name).for_each(|town| town.aside = false);
        Ok(name)
    }

    /// The same, and actors leave it alone.
    ///
    /// # Errors
    /// As for [`Stage::found`].
    pub async fn found_aside(&self) -> Result<String> {
        let name = self.found_without_eno().await?;
        self.start_eno(&name).await?;
        Ok(name)
    }

    /// The same, and Eno is away until it is [started](Stage::start_eno) there. The real one, which sees all, is not.
    ///
    /// # Errors
    /// As for [`Stage::found`].
    pub async fn found_without_eno(&self) -> Result<String> {
        let name = format!("town-{}", self.founded.fetch_add(1, Ordering::Relaxed));
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.cluster.apply(&namespace).await?;
        self.towns().push(Town { name: name.clone(), aside: true, eno: None });
        Ok(name)
    }

    /// Eno goes to work in a namespace, unless it is there.
    ///
    /// # Errors
    /// It does not start.
    pub async fn start_eno(&self, name: &str) -> Result<()> {
        if !self.real_eno {
            let eno = Eno::start(&self.cluster, None, &[name], Parts::ALL).await?;
            if let Some(town) = self.towns().iter_mut().find(|town| town.name == name) {
                town.eno = Some(eno);
            }
        }
        Ok(())
    }

    /// The namespaces in which actors act.
    pub fn towns_of_actors(&self) -> Vec<String> {
        self.towns().iter().filter(|town| !town.aside).map(|town| town.name.clone()).collect()
    }

    /// The namespaces that are to go at the end.
    pub fn every_town(&self) -> Vec<String> {
        self.towns().iter().map(|town| town.name.clone()).filter(|name| name != CALM).collect()
    }

    /// Forgets namespaces that are gone, and stops Eno there. One that went before what was in it stays, and actors leave it
    /// alone: Eno, which does not ask for namespaces, goes on in it.
    ///
    /// # Errors
    /// They cannot be read.
    pub async fn forget_what_is_gone(&self) -> Result<()> {
        let namespaces = self.cluster.api("v1", "Namespace", None);
        for name in self.every_town() {
            if namespaces.get_metadata_opt(&name).await?.is_some() {
                continue;
            }
            let mut left = 0;
            for kind in ["Composition", "ResourceSlice"] {
                left += self.eno(kind, &name).list_metadata(&ListParams::default()).await?.items.len();
            }
            if left == 0 {
                self.towns().retain(|town| town.name != name);
            } else if self.stranded.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone()) {
                println!("namespace {name} went before {left} compositions and slices in it");
                self.towns().iter_mut().filter(|town| town.name == name).for_each(|town| town.aside = true);
            }
        }
        Ok(())
    }

    /// How many namespaces went before what was in them.
    pub fn stranded(&self) -> usize {
        self.stranded.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Eno's objects of a kind.
    pub fn eno(&self, kind: &str, namespace: &str) -> Api<DynamicObject> {
        self.cluster.eno(kind, namespace)
    }

    /// Makes a call, and notes what became of it.
    pub async fn call<T>(&self, what: &str, call: impl Future<Output = kube::Result<T>>) -> (Outcome, Option<T>) {
        let began = Instant::now();
        let (outcome, value) = match timeout(PATIENCE, call).await {
            Ok(answer) => (Outcome::of(&answer), answer.ok()),
            Err(_) => {
                let message = format!("no answer in {} s", PATIENCE.as_secs());
                (Outcome::Failed(super::ledger::Symptom::Unserved, message), None)
            }
        };
        self.ledger.note(what, began, &outcome);
        (outcome, value)
    }

    /// Asks to delete a slice that is needed, without an effect. It must be denied, or not be answered.
    pub async fn ask(&self) -> Outcome {
        let slices = self.eno("ResourceSlice", CALM);
        let dry_run = DeleteParams { dry_run: true, ..DeleteParams::default() };
        let (outcome, _) = self.call("a dry run that must be denied", slices.delete("web-0", &dry_run)).await;
        if matches!(outcome, Outcome::Done | Outcome::Overtaken) {
            self.ledger.violated(format!("nobody denied the deletion of a needed slice: {outcome:?}"));
        }
        outcome
    }

    /// The process that holds the Lease, where it is one of ours.
    ///
    /// # Errors
    /// The Lease cannot be read.
    pub async fn leader(&self) -> Result<Option<u32>> {
        Ok(holder(&self.lease().await?))
    }

    /// What the Lease says.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn lease(&self) -> Result<LeaseSpec> {
        let leases = Api::<Lease>::namespaced(self.cluster.client(), WEBHOOK_NAMESPACE);
        leases.get(WEBHOOK_NAME).await?.spec.context("an empty Lease")
    }

    /// Waits until all is well: replicas are ready and answer, and one of them leads. Returns how long that took.
    ///
    /// # Errors
    /// It is not in time: says what is not.
    pub async fn well(&self) -> Result<Duration> {
        let began = Instant::now();
        self.fleet.ready().await?;
        let before = eventually("the Lease to be read", WELL, || self.lease()).await?;
        eventually("one replica to lead", WELL, async || {
            let now = self.lease().await?;
            ensure!(holder(&now).is_some() && now.renew_time != before.renew_time, "{now:?} is not renewed");
            Ok(())
        })
        .await?;
        let mut denied = 0;
        eventually("the webhook to answer every time", WELL, async || {
            while denied < IN_A_ROW {
                match self.ask().await {
                    Outcome::Denied(_) => denied += 1,
                    other => {
                        denied = 0;
                        anyhow::bail!("{other:?}");
                    }
                }
            }
            Ok(())
        })
        .await?;
        Ok(began.elapsed())
    }
}

/// The process that a Lease names. A replica's identity is its host, its process and a random number.
fn holder(lease: &LeaseSpec) -> Option<u32> {
    lease.holder_identity.as_deref()?.rsplit('_').nth(1)?.parse().ok()
}
