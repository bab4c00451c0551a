//! Processes that are killed or paused.

use anyhow::Result;
use nix::sys::signal::Signal::{SIGCONT, SIGSTOP};

use crate::chaos::fault::Strike;
use crate::chaos::fleet::Member;
use crate::chaos::stage::Stage;
use crate::controlplane::Component;

/// Which replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Leader,
    Other,
    Both,
}

impl Which {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Leader, "the leader"), (Self::Other, "the other one"), (Self::Both, "both replicas")];

    /// The processes of these.
    async fn pids(self, stage: &Stage) -> Result<Vec<u32>> {
        let leader = stage.leader().await?;
        let members = stage.fleet.members().await;
        let pids = members.iter().filter_map(|member| member.replica.pid());
        Ok(pids.filter(|pid| self == Self::Both || (self == Self::Leader) == (Some(*pid) == leader)).collect())
    }
}

/// One of them at random; where a fault is struck in full, one after the other.
fn chosen(strike: &mut Strike<'_>) -> Vec<(Which, &'static str)> {
    match strike.pace.each_replica {
        true => Which::ALL.to_vec(),
        false => strike.rng.choice(Which::ALL).into_iter().collect(),
    }
}

/// `kill -9`. The kubelet starts them again.
pub async fn kill_replicas(strike: &mut Strike<'_>) -> Result<String> {
    let kill = |member: &mut Member| {
        member.kill();
        Ok(())
    };
    strike_replicas(strike, kill, |_| Ok(())).await
}

/// SIGSTOP, and SIGCONT.
pub async fn stop_replicas(strike: &mut Strike<'_>) -> Result<String> {
    strike_replicas(strike, |member| member.replica.signal(SIGSTOP), |member| member.replica.signal(SIGCONT)).await
}

/// Strikes those that are chosen, and mends all.
async fn strike_replicas(
    strike: &mut Strike<'_>,
    hit: impl Fn(&mut Member) -> Result<()>,
    mend: impl Fn(&mut Member) -> Result<()>,
) -> Result<String> {
    let chosen = chosen(strike);
    for (which, _) in &chosen {
        let pids = which.pids(strike.stage).await?;
        for member in strike.stage.fleet.members().await.iter_mut() {
            if member.replica.pid().is_some_and(|pid| pids.contains(&pid)) {
                hit(member)?;
            }
        }
        strike.hold().await;
        strike.stage.fleet.members().await.iter_mut().try_for_each(&mend)?;
        strike.stage.well().await?;
    }
    Ok(chosen.iter().map(|(_, what)| *what).collect::<Vec<_>>().join(", "))
}

pub async fn kill_apiserver(strike: &mut Strike<'_>) -> Result<String> {
    strike.stage.ground.lock().await.controlplane().kill(Component::KubeApiserver);
    strike.hold().await;
    strike.stage.ground.lock().await.controlplane().revive_apiserver().await?;
    Ok(String::new())
}

pub async fn stop_apiserver(strike: &mut Strike<'_>) -> Result<String> {
    stop(strike, Component::KubeApiserver).await
}

pub async fn kill_etcd(strike: &mut Strike<'_>) -> Result<String> {
    strike.stage.ground.lock().await.controlplane().kill(Component::Etcd);
    strike.hold().await;
    strike.stage.ground.lock().await.controlplane().revive_etcd()?;
    Ok(String::new())
}

pub async fn stop_etcd(strike: &mut Strike<'_>) -> Result<String> {
    stop(strike, Component::Etcd).await
}

async fn stop(strike: &mut Strike<'_>, component: Component) -> Result<String> {
    strike.stage.ground.lock().await.controlplane().signal(component, SIGSTOP)?;
    strike.hold().await;
    strike.stage.ground.lock().await.controlplane().signal(component, SIGCONT)?;
    Ok(String::new())
}
