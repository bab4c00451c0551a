//! The faults: what each does, what must hold meanwhile, and which failures of calls it explains.

use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use fastrand::Rng;
use tokio::time::sleep;

use super::faults::{bursts, cluster, processes, wires};
use super::ledger::Symptom::{self, Retry, Unanswered, Unserved};
use super::stage::Stage;
use super::wire::Trouble;

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs)] // `Fault::row` says it
pub enum Fault {
    CallsDelayed,
    CallsReset,
    CallsTruncated,
    CallsTrickle,
    CallsHang,
    CallsIdle,
    CallsImpostor,
    ReadsDelayed,
    ReadsReset,
    ReadsTruncated,
    ReadsTrickle,
    ReadsHang,
    ReadsCut,
    ReadsIdle,
    ReadsImpostor,
    ReplicaKilled,
    ReplicaStopped,
    ApiserverKilled,
    ApiserverStopped,
    EtcdKilled,
    EtcdStopped,
    EtcdCompacted,
    LeaseTaken,
    RightsRevoked,
    CertificateEnded,
    ClockWrong,
    LogDiskFull,
    RollingRestart,
    Flood,
    DeletesAtOnce,
    NamespaceDeleted,
    NamespacesInRestart,
}

/// What is said of a fault.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What it does.
    pub does: &'static str,
    /// What must hold meanwhile, besides the invariants.
    pub holds: &'static str,
    /// The failures of calls that it explains, until all is well again.
    pub explains: &'static [Symptom],
}

/// How long and how large faults are.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long a fault lasts, in milliseconds: from, to.
    pub hold: (u64, u64),
    /// Idle times after which connections are half closed, in seconds.
    pub idles: &'static [u64],
    /// By how much clocks are wrong, in seconds.
    pub clocks: &'static [i64],
    /// How many slices are deleted at once.
    pub deletes: usize,
    /// How many slices the namespace has that is deleted.
    pub slices: usize,
    /// For how many seconds a Lease holds that another took.
    pub lease: u64,
    /// The leader, the other replica and both are killed or stopped in turn; else one of these, at random.
    pub each_replica: bool,
}

impl Pace {
    /// Each fault in full, as the table of docs/reliability.md has it.
    pub const FULL: Self = Self {
        hold: (10_000, 10_000),
        idles: &[31, 61, 91],
        clocks: &[10, -10, 3600, -3600],
        deletes: 2000,
        slices: 5000,
        lease: 15,
        each_replica: true,
    };
    /// Many faults, one after the other.
    pub const BRISK: Self = Self {
        hold: (2_000, 12_000),
        idles: &[5, 31],
        clocks: &[10, -10, 3600, -3600],
        deletes: 300,
        slices: 500,
        lease: 15,
        each_replica: false,
    };
    /// As little as shows something.
    pub const SHORT: Self = Self {
        hold: (1_500, 1_500),
        idles: &[2],
        clocks: &[3600],
        deletes: 100,
        slices: 100,
        lease: 3,
        each_replica: false,
    };
}

/// A fault that strikes.
pub struct Strike<'a> {
    /// Where.
    pub stage: &'a Stage,
    /// What is chosen, is by this.
    pub rng: Rng,
    /// How long and how large.
    pub pace: Pace,
}

impl Strike<'_> {
    /// Lets the fault last.
    pub async fn hold(&mut self) {
        let (from, to) = self.pace.hold;
        sleep(Duration::from_millis(self.rng.u64(from..=to))).await;
    }
}

const ALL_SYMPTOMS: &[Symptom] = &[Unanswered, Retry, Unserved];

impl Fault {
    /// The row of the table.
    pub fn row(self) -> Row {
        let row = |does, holds, explains| Row { does, holds, explains };
        match self {
            Fault::CallsDelayed => row(
                "each piece between API server and webhook comes 150-400 ms late",
                "no call fails: that is within its timeout",
                &[],
            ),
            Fault::CallsReset => {
                row("calls are reset in mid-body, after 100-3,000 bytes", "the next calls are answered", &[Unanswered])
            }
            Fault::CallsTruncated => row(
                "answers end after 100-3,000 bytes, in the middle of a TLS record",
                "half an answer is none",
                &[Unanswered],
            ),
            Fault::CallsTrickle => {
                row("calls come byte by byte, each 20 ms (slow loris)", "others are answered", &[Unanswered])
            }
            Fault::CallsHang => row("nothing passes, and nothing ends", "a call costs its timeout", &[Unanswered]),
            Fault::CallsIdle => row(
                "connections on which no answer came for so long are half closed",
                "no call fails: who calls again has noticed",
                &[],
            ),
            Fault::CallsImpostor => {
                row("another answers, with a certificate of his own", "the API server does not ask him", &[Unanswered])
            }
            Fault::ReadsDelayed => row(
                "each piece between webhook and API server comes 150-400 ms late",
                "no call fails: answers wait for their reads",
                &[],
            ),
            Fault::ReadsReset => row("reads are reset in mid-answer", "an answer that says why, in time", &[Retry]),
            Fault::ReadsTruncated => {
                row("what is read ends in the middle", "half an object is unknown, and frees nothing", &[Retry])
            }
            Fault::ReadsTrickle => row("reads are sent byte by byte", "an answer that says why, in time", &[Retry]),
            Fault::ReadsHang => row("reads hang", "an answer that says why, in time", &[Retry]),
            Fault::ReadsCut => row("the webhook does not reach the API server", "an answer that says why", &[Retry]),
            Fault::ReadsIdle => row("the webhook's idle connections are half closed", "no call fails", &[]),
            Fault::ReadsImpostor => row(
                "another answers in place of the API server, with a certificate of his own",
                "the webhook tells him nothing: no token",
                &[Retry],
            ),
            Fault::ReplicaKilled => {
                row("kill -9 of the leader, of the other replica, of both", "one leads again by itself", &[Unanswered])
            }
            Fault::ReplicaStopped => row(
                "SIGSTOP of the leader, of the other replica, of both",
                "what a leader does that goes on after its time is held to the same rules",
                &[Unanswered, Retry],
            ),
            Fault::ApiserverKilled => row("kill -9 of the API server", "all is well again by itself", ALL_SYMPTOMS),
            Fault::ApiserverStopped => row("SIGSTOP of the API server", "the same", ALL_SYMPTOMS),
            Fault::EtcdKilled => row("kill -9 of etcd", "the same", ALL_SYMPTOMS),
            Fault::EtcdStopped => row("SIGSTOP of etcd", "the same", ALL_SYMPTOMS),
            Fault::EtcdCompacted => row("etcd forgets all history, again and again", "no call fails", &[]),
            Fault::LeaseTaken => {
                row("another takes the Lease", "no call fails; when it has lapsed, a replica leads again", &[])
            }
            Fault::RightsRevoked => {
                row("its right to read is taken, and given back", "an answer that says why", &[Retry])
            }
            Fault::CertificateEnded => row(
                "the Secret holds a serving certificate that has ended",
                "no call fails: the good one is served until there is another",
                &[],
            ),
            Fault::ClockWrong => row(
                "the clocks of both replicas are wrong, by 10 s and by an hour, forwards and back",
                "no call fails, and nothing is lost by it",
                &[],
            ),
            Fault::LogDiskFull => row("each line of the log meets a full disk", "no call fails", &[]),
            Fault::RollingRestart => row("both replicas are replaced, under load", "no call fails", &[]),
            Fault::Flood => row(
                "64 bodies of 7 MB at once, and 200 connections that say nothing",
                "no replica is killed for its memory",
                &[Unanswered],
            ),
            Fault::DeletesAtOnce => row(
                "needed slices are deleted, all at once",
                "each is denied, or refused for want of an answer: none passes",
                ALL_SYMPTOMS,
            ),
            Fault::NamespacesInRestart => row(
                "the API server is killed while namespaces are being deleted, each with a live composition",
                "what Kubernetes leaves behind in namespaces that are gone is cleaned up once its compositions are deleted",
                ALL_SYMPTOMS,
            ),
            Fault::NamespaceDeleted => {
                row("a namespace of many slices is deleted", "it goes, by and by; no call fails", &[])
            }
        }
    }

    /// What `--fault` calls it.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |name| name.get_name().to_owned())
    }

    /// How its row of the page begins: all that is known before it strikes.
    pub fn line(self) -> String {
        let Row { does, holds, explains } = self.row();
        let explains = match explains {
            [] => "none".to_owned(),
            all if *all == *ALL_SYMPTOMS => "all".to_owned(),
            some => some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        format!("| `{}` | {does} | {holds} | {explains} | ", self.name())
    }

    /// May nobody watch, or lead, for a while?
    pub(super) fn blinds(self) -> bool {
        match self {
            Fault::LeaseTaken | Fault::RightsRevoked | Fault::Flood => true,
            Fault::ReadsDelayed | Fault::ReadsIdle => false,
            _ => matches!(self.group(), "reads" | "server" | "roll" | "replica"),
        }
    }

    /// Faults of one group are not struck at once.
    pub(super) fn group(self) -> &'static str {
        let name = format!("{self:?}");
        match self {
            Fault::ApiserverKilled
            | Fault::ApiserverStopped
            | Fault::EtcdKilled
            | Fault::EtcdStopped
            | Fault::NamespacesInRestart => "server",
            Fault::ClockWrong | Fault::LogDiskFull | Fault::RollingRestart => "roll",
            Fault::DeletesAtOnce | Fault::NamespaceDeleted | Fault::Flood => "burst",
            Fault::ReplicaKilled | Fault::ReplicaStopped => "replica",
            _ if name.starts_with("Calls") => "calls",
            _ if name.starts_with("Reads") => "reads",
            _ => "objects",
        }
    }

    /// Strikes, lasts, and is mended. Returns what was measured besides the calls.
    ///
    /// # Errors
    /// It cannot be made, or not be mended.
    pub async fn strike(self, mut strike: Strike<'_>) -> Result<String> {
        let strike = &mut strike;
        let delay = Duration::from_millis(strike.rng.u64(150..400));
        let after = strike.rng.usize(100..3000);
        let pause = Duration::from_millis(20);
        match self {
            Fault::CallsDelayed => wires::calls(strike, Trouble::Delay(delay)).await,
            Fault::CallsReset => wires::calls(strike, Trouble::Reset { after }).await,
            Fault::CallsTruncated => wires::calls(strike, Trouble::Truncate { after }).await,
            Fault::CallsTrickle => wires::calls(strike, Trouble::Trickle(pause)).await,
            Fault::CallsHang => wires::calls(strike, Trouble::Hang).await,
            Fault::CallsIdle => wires::idle(strike, wires::Side::Calls).await,
            Fault::CallsImpostor => wires::calls(strike, Trouble::Impostor).await,
            Fault::ReadsDelayed => wires::reads(strike, Trouble::Delay(delay)).await,
            Fault::ReadsReset => wires::reads(strike, Trouble::Reset { after }).await,
            Fault::ReadsTruncated => wires::reads(strike, Trouble::Truncate { after }).await,
            Fault::ReadsTrickle => wires::reads(strike, Trouble::Trickle(pause)).await,
            Fault::ReadsHang => wires::reads(strike, Trouble::Hang).await,
            Fault::ReadsCut => wires::reads(strike, Trouble::Cut).await,
            Fault::ReadsIdle => wires::idle(strike, wires::Side::Reads).await,
            Fault::ReadsImpostor => wires::reads(strike, Trouble::Impostor).await,
            Fault::ReplicaKilled => processes::kill_replicas(strike).await,
            Fault::ReplicaStopped => processes::stop_replicas(strike).await,
            Fault::ApiserverKilled => processes::kill_apiserver(strike).await,
            Fault::ApiserverStopped => processes::stop_apiserver(strike).await,
            Fault::EtcdKilled => processes::kill_etcd(strike).await,
            Fault::EtcdStopped => processes::stop_etcd(strike).await,
            Fault::EtcdCompacted => cluster::compact(strike).await,
            Fault::LeaseTaken => cluster::take_lease(strike).await,
            Fault::RightsRevoked => cluster::revoke_rights(strike).await,
            Fault::CertificateEnded => cluster::end_certificate(strike).await,
            Fault::ClockWrong => cluster::set_clocks(strike).await,
            Fault::LogDiskFull => cluster::fill_log_disk(strike).await,
            Fault::RollingRestart => cluster::roll(strike).await,
            Fault::Flood => bursts::flood(strike).await,
            Fault::DeletesAtOnce => bursts::delete_at_once(strike).await,
            Fault::NamespaceDeleted => bursts::delete_namespace(strike).await,
            Fault::NamespacesInRestart => bursts::delete_namespaces_in_restart(strike).await,
        }
    }
}
