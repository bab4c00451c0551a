//! Faults of the network, between API server and webhook, both ways.

use std::time::Duration;

use anyhow::Result;
use futures::future::join_all;
use tokio::time::sleep;

use crate::chaos::fault::Strike;
use crate::chaos::fleet::{Fleet, Member};
use crate::chaos::wire::{Trouble, Wire};

/// Whose connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Those of the API server to the webhook.
    Calls,
    /// Those of the webhook to the API server.
    Reads,
}

/// How many calls are made at once, so that there are as many connections.
const CONNECTIONS: usize = 24;

impl Side {
    fn of(self, member: &Member) -> &Wire {
        match self {
            Side::Calls => &member.calls,
            Side::Reads => &member.reads,
        }
    }
}

/// Troubles the calls to one replica, or to all.
pub async fn calls(strike: &mut Strike<'_>, trouble: Trouble) -> Result<String> {
    troubled(strike, Side::Calls, trouble).await
}

/// Troubles what one replica, or all, read and write.
pub async fn reads(strike: &mut Strike<'_>, trouble: Trouble) -> Result<String> {
    troubled(strike, Side::Reads, trouble).await
}

async fn troubled(strike: &mut Strike<'_>, side: Side, trouble: Trouble) -> Result<String> {
    let fleet = &strike.stage.fleet;
    let chosen = strike.rng.choice([None, Some(0), Some(1)]).flatten();
    let before = count(fleet, side, Wire::troubled).await;
    for (index, member) in fleet.members().await.iter().enumerate() {
        if chosen.is_none_or(|chosen| chosen == index) {
            side.of(member).trouble(trouble);
        }
    }
    strike.hold().await;
    // Those of replicas that came meanwhile, too.
    fleet.members().await.iter().for_each(|member| side.of(member).mend());
    let fooled = count(&strike.stage.fleet, side, Wire::fooled).await;
    if fooled > 0 {
        strike.stage.ledger.violated(format!("{fooled} clients have spoken to an impostor ({side:?})"));
    }
    let of = if chosen.is_none() { "both replicas" } else { "one replica" };
    let ended = count(&strike.stage.fleet, side, Wire::troubled).await.saturating_sub(before);
    let ends = matches!(trouble, Trouble::Reset { .. } | Trouble::Cut | Trouble::Impostor);
    if ended == 0 && ends && chosen.is_none() {
        strike.stage.ledger.violated(format!("{trouble:?} has ended no connection ({side:?}): it did not strike"));
    }
    Ok(format!("{of}, {ended} connections ended"))
}

async fn count(fleet: &Fleet, side: Side, of: impl Fn(&Wire) -> usize) -> usize {
    fleet.members().await.iter().map(|member| of(side.of(member))).sum()
}

/// Half closes what is idle, and then has all of it used again.
pub async fn idle(strike: &mut Strike<'_>, side: Side) -> Result<String> {
    let stage = strike.stage;
    let before = count(&stage.fleet, side, Wire::troubled).await;
    for seconds in strike.pace.idles {
        let idle = Duration::from_secs(*seconds);
        join_all((0..CONNECTIONS).map(|_| stage.ask())).await;
        stage.fleet.members().await.iter().for_each(|member| side.of(member).trouble(Trouble::HalfClose(idle)));
        sleep(idle + Duration::from_millis(500)).await;
        join_all((0..CONNECTIONS).map(|_| stage.ask())).await;
        stage.fleet.members().await.iter().for_each(|member| side.of(member).mend());
    }
    let ended = count(&stage.fleet, side, Wire::troubled).await.saturating_sub(before);
    if ended == 0 {
        stage.ledger.violated(format!("no idle connection was half closed ({side:?}): it did not strike"));
    }
    Ok(format!("after {:?} s, {ended} connections ended", strike.pace.idles))
}
