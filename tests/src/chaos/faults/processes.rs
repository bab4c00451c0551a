//! Processes that are killed or paused.

use anyhow::Result;
use nix::sys::signal::Signal::{SIGCONT, SIGSTOP};

use crate::chaos::fault::Strike;
use crate::controlplane::Component;

/// Which replicas: the first, the second, or both.
fn chosen(strike: &mut Strike<'_>) -> (Option<usize>, &'static str) {
    match strike.rng.choice([None, Some(0), Some(1)]).flatten() {
        None => (None, "both replicas"),
        one => (one, "one replica"),
    }
}

/// `kill -9`. The kubelet starts them again.
pub async fn kill_replicas(strike: &mut Strike<'_>) -> Result<String> {
    let (chosen, what) = chosen(strike);
    for (index, member) in strike.stage.fleet.members().await.iter_mut().enumerate() {
        if chosen.is_none_or(|chosen| chosen == index) {
            member.kill();
        }
    }
    strike.hold().await;
    Ok(what.to_owned())
}

/// SIGSTOP, and SIGCONT.
pub async fn stop_replicas(strike: &mut Strike<'_>) -> Result<String> {
    let (chosen, what) = chosen(strike);
    for (index, member) in strike.stage.fleet.members().await.iter().enumerate() {
        if chosen.is_none_or(|chosen| chosen == index) {
            member.replica.signal(SIGSTOP)?;
        }
    }
    strike.hold().await;
    for member in strike.stage.fleet.members().await.iter() {
        member.replica.signal(SIGCONT)?;
    }
    Ok(what.to_owned())
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
