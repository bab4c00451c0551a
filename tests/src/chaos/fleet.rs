//! The replicas behind the Service, each between two wires, and what a kubelet and the controller of EndpointSlices do for them.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::sync::Mutex;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::ledger::Ledger;
use super::wire::Wire;
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::manifests::Manifests;
use crate::manifests::ground::endpoint;
use crate::manifests::replica::{Conditions, Place, Replica};
use crate::netns;

/// How many replicas the Deployment has.
pub const REPLICAS: usize = 2;
/// How often replicas are looked at. A kubelet looks every 3 s, as the manifest says: less here, so that more happens.
const PERIOD: Duration = Duration::from_millis(500);
/// How long a probe may take, as the manifest says.
const PROBE: Duration = Duration::from_secs(2);
/// How long a replica may take to be ready.
const READY: Duration = Duration::from_secs(90);

/// A replica and its wires.
pub struct Member {
    name: String,
    /// The process.
    pub replica: Replica,
    /// Between the API server and the replica.
    pub calls: Wire,
    /// Between the replica and the API server.
    pub reads: Wire,
    is_endpoint: bool,
    killed: bool,
}

impl Member {
    /// Kills it, as a crash would. It is started again soon.
    pub fn kill(&mut self) {
        self.killed = true;
        self.replica.kill();
    }

    /// Is it ready, and do calls come to it?
    pub fn serves(&self) -> bool {
        self.is_endpoint
    }
}

/// All replicas. Dropping it ends them.
pub struct Fleet {
    members: Arc<Mutex<Vec<Member>>>,
    place: Place,
    cluster: Cluster,
    manifests: Arc<Manifests>,
    memory: u64,
    made: Mutex<usize>,
    _kubelet: JoinSet<()>,
}

impl Fleet {
    /// Starts as many as the Deployment has, each with its limit of memory.
    ///
    /// # Errors
    /// One does not start.
    pub async fn start(place: Place, manifests: Arc<Manifests>, ledger: Arc<Ledger>) -> Result<Self> {
        let cluster = place.cluster.without_retries().await?;
        let container = &manifests.only("Deployment")?["spec"]["template"]["spec"]["containers"][0];
        let limit = container["resources"]["limits"]["memory"].as_str().and_then(|limit| limit.strip_suffix("Mi"));
        let memory = limit.context("no limit of memory in Mi")?.parse::<u64>()? << 20;
        let (members, mut kubelet) = (Arc::default(), JoinSet::new());
        kubelet.spawn(keep(Arc::clone(&members), cluster.clone(), Arc::clone(&manifests), ledger));
        let fleet = Self { members, place, cluster, manifests, memory, made: Mutex::new(0), _kubelet: kubelet };
        for _ in 0..REPLICAS {
            fleet.add(Conditions::default()).await?;
        }
        fleet.ready().await?;
        Ok(fleet)
    }

    /// The replicas. Who holds this holds the kubelet, too.
    pub async fn members(&self) -> tokio::sync::MutexGuard<'_, Vec<Member>> {
        self.members.lock().await
    }

    /// The most memory that a replica may have, in bytes.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Adds a replica under these conditions; its limit of memory is that of the manifest.
    async fn add(&self, conditions: Conditions) -> Result<()> {
        let name = {
            let mut made = self.made.lock().await;
            *made += 1;
            format!("replica-{made}")
        };
        let server: SocketAddr = self.place.server.trim_start_matches("https://").parse()?;
        let reads = Wire::to(server, server.ip()).await?;
        let place = Place { server: format!("https://{}", reads.address()), ..self.place.clone() };
        let conditions = Conditions { memory: Some(self.memory), ..conditions };
        let replica = Replica::start_under(&place, &self.manifests, false, &conditions).await?;
        let address: IpAddr = netns::ADDRESS.parse()?;
        let calls = Wire::to(SocketAddr::new(address, replica.port()), address).await?;
        let member = Member { name, replica, calls, reads, is_endpoint: false, killed: false };
        self.members.lock().await.push(member);
        Ok(())
    }

    /// Replaces all replicas as the Deployment's strategy does: a new one is ready before an old one is told to end.
    ///
    /// # Errors
    /// A replica does not start, or does not end within its grace period.
    pub async fn roll(&self, conditions: &Conditions) -> Result<()> {
        for _ in 0..REPLICAS {
            self.add(conditions.clone()).await?;
            self.ready().await?;
            let oldest = self.members.lock().await.remove(0);
            // Kubelet and the controller of EndpointSlices do not wait for each other.
            let (name, mut replica) = (oldest.name.clone(), oldest.replica);
            let terminated = spawn_blocking(move || replica.terminate());
            endpoint(&self.cluster, &self.manifests, &name, None).await?;
            terminated.await?;
            oldest.calls.mend();
        }
        Ok(())
    }

    /// Waits until all replicas are ready, and behind the Service.
    ///
    /// # Errors
    /// They are not in time: shows the log of one that is not.
    pub async fn ready(&self) -> Result<()> {
        eventually("all replicas to be ready", READY, async || {
            let members = self.members.lock().await;
            let unready = members.iter().find(|member| !member.serves());
            if let Some(member) = unready {
                let log = member.replica.log()?;
                let tail: Vec<_> = log.lines().rev().take(5).collect();
                anyhow::bail!("{} is not; it logged {tail:#?}", member.name);
            }
            ensure!(members.len() >= REPLICAS, "{} are there", members.len());
            Ok(())
        })
        .await
    }
}

/// Starts what has ended, and has calls come to what is ready.
async fn keep(members: Arc<Mutex<Vec<Member>>>, cluster: Cluster, manifests: Arc<Manifests>, ledger: Arc<Ledger>) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        for member in members.lock().await.iter_mut() {
            if let Err(error) = look(member, &cluster, &manifests, &ledger).await {
                // The API server may be away: the next look tries again.
                eprintln!("kubelet: {}: {error:#}", member.name);
            }
        }
    }
}

async fn look(member: &mut Member, cluster: &Cluster, manifests: &Manifests, ledger: &Ledger) -> Result<()> {
    if let Err(ended) = member.replica.check() {
        if !std::mem::take(&mut member.killed) {
            let ended = ended.to_string();
            ledger.violated(format!("{}: {}", member.name, ended.lines().next().unwrap_or_default()));
        }
        member.replica.start_again().await?;
        let port = member.replica.port();
        member.calls.turn_to(SocketAddr::new(netns::ADDRESS.parse()?, port));
    }
    let is_ready = timeout(PROBE, member.replica.probe()).await.is_ok_and(|probe| probe.is_ok());
    if is_ready != member.is_endpoint {
        let port = is_ready.then(|| member.calls.address().port());
        timeout(PROBE, endpoint(cluster, manifests, &member.name, port)).await??;
        member.is_endpoint = is_ready;
    }
    Ok(())
}
