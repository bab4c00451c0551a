//! Which replica writes: the one that holds the Lease, and only until the time that it was last granted.
//!
//! The known libraries tell of a lost Lease when they next reach the API server. Here a leader that cannot renew, or that was
//! stopped and goes on, knows by its own monotonic clock that its time has passed, and stops writing at once. Others take
//! over only after they have seen the same record for its whole duration, by their own clocks: clocks need not agree.
//! (The way of client-go's `leaderelection`.)

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

mod candidacy;

pub(crate) use candidacy::Candidacy;
pub use candidacy::ElectionOptions;

/// Times of the election.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// For how long a grant holds for others.
    pub lease: Duration,
    /// For how long the leader trusts it: less, so that it stops before others start.
    pub trust: Duration,
    /// How often it is renewed, or asked for.
    pub retry: Duration,
}

impl Default for Times {
    fn default() -> Self {
        // As of kube-controller-manager.
        Times { lease: Duration::from_secs(15), trust: Duration::from_secs(10), retry: Duration::from_secs(2) }
    }
}

/// What the Lease grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Grant {
    until: Instant,
    /// Counts the times without a gap: in a gap, things were missed.
    term: u64,
}

impl Grant {
    /// The next one, after that.
    fn after(before: Option<Self>, until: Instant, last_term: u64) -> Self {
        let goes_on = before.filter(|before| Instant::now() < before.until);
        Grant { until, term: goes_on.map_or(last_term + 1, |before| before.term) }
    }
}

/// Says whether this process leads.
#[derive(Clone)]
pub struct Leadership(watch::Receiver<Option<Grant>>);

impl Leadership {
    /// May this process write now?
    #[must_use]
    pub fn leads(&self) -> bool {
        self.term().is_some()
    }

    /// The term in which this process leads, if it does. Another one means that it did not for a while.
    #[must_use]
    pub fn term(&self) -> Option<u64> {
        self.0.borrow().filter(|grant| Instant::now() < grant.until).map(|grant| grant.term)
    }

    /// Waits until leadership was won, renewed or lost.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            // The election has ended, and with it the last grant.
            std::future::pending::<()>().await;
        }
    }

    /// Waits until this process does not lead (any more).
    pub async fn lost(&self) {
        let mut granted = self.0.clone();
        loop {
            let until = granted.borrow_and_update().map(|grant| grant.until);
            let Some(until) = until.filter(|until| Instant::now() < *until) else { return };
            tokio::select! {
                () = sleep_until(until) => {}
                changed = granted.changed() => if changed.is_err() {
                    // The election has ended: the last grant runs out.
                    sleep_until(until).await;
                }
            }
        }
    }

    /// Always leads: for a process that runs alone, and for tests.
    #[must_use]
    pub fn always() -> Self {
        // A hundred years.
        let until = Instant::now() + Duration::from_secs(60 * 60 * 24 * 365 * 100);
        Leadership(watch::channel(Some(Grant { until, term: 1 })).1)
    }
}

/// Stands for election until told to stop; then the Lease is given back, so that another need not wait.
pub struct Election {
    leases: Api<Lease>,
    name: String,
    identity: String,
    times: Times,
    granted: watch::Sender<Option<Grant>>,
    last_term: u64,
    /// The record of another, and since when it has not changed.
    observed: Option<(LeaseSpec, Instant)>,
}

impl Election {
    /// An election over the Lease `namespace/name`, and its outcome. `identity` must differ between processes.
    #[must_use]
    pub fn new(client: Client, namespace: &str, name: &str, identity: String, times: Times) -> (Self, Leadership) {
        let (granted, outcome) = watch::channel(None);
        let leases = Api::namespaced(client, namespace);
        let election =
            Election { leases, name: name.to_owned(), identity, times, granted, last_term: 0, observed: None };
        (election, Leadership(outcome))
    }

    /// Runs until `stop`.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            let asked = Instant::now();
            match timeout(self.times.trust, self.ask()).await {
                Ok(Ok(true)) => self.grant(Some(asked + self.times.trust)),
                Ok(Ok(false)) => self.grant(None),
                Ok(Err(error)) => warn!(%error, lease = %self.name, "cannot renew or ask for the Lease"),
                Err(_) => warn!(lease = %self.name, "no answer about the Lease in time"),
            }
            let until = self.granted.borrow().map(|grant| grant.until);
            let lapse = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                () = sleep(self.times.retry) => {}
                () = lapse => self.grant(None),
            }
        }
        if self.granted.borrow().is_some() {
            self.grant(None);
            if let Err(error) = self.give_back().await {
                warn!(%error, lease = %self.name, "cannot give the Lease back; it lapses by itself");
            }
        }
    }

    fn grant(&mut self, until: Option<Instant>) {
        let before = *self.granted.borrow();
        let next = until.map(|until| Grant::after(before, until, self.last_term));
        self.last_term = next.map_or(self.last_term, |grant| grant.term);
        self.granted.send_replace(next);
        match (before.is_some(), until.is_some()) {
            (false, true) => info!(identity = %self.identity, lease = %self.name, "leads"),
            (true, false) => info!(identity = %self.identity, lease = %self.name, "does not lead any more"),
            (true, true) | (false, false) => {}
        }
    }

    /// Takes or renews the Lease, if that can be. Every write carries the version that was read: of two, one fails.
    async fn ask(&mut self) -> kube::Result<bool> {
        let Some(lease) = self.leases.get_opt(&self.name).await? else {
            let created = Lease {
                metadata: ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() },
                spec: Some(self.record(None)),
            };
            return won(self.leases.create(&PostParams::default(), &created).await);
        };
        let record = lease.spec.clone().unwrap_or_default();
        if !self.may_take(&record) {
            return Ok(false);
        }
        let taken = Lease { spec: Some(self.record(Some(&record))), ..lease };
        won(self.leases.replace(&self.name, &PostParams::default(), &taken).await)
    }

    fn may_take(&mut self, record: &LeaseSpec) -> bool {
        let holder = record.holder_identity.as_deref().unwrap_or_default();
        if holder.is_empty() || holder == self.identity {
            return true;
        }
        match &self.observed {
            Some((seen, since)) if seen == record => {
                let seconds = record.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
                let duration = seconds.map_or(self.times.lease, Duration::from_secs);
                since.elapsed() >= duration.max(self.times.retry)
            }
            Some(_) | None => {
                self.observed = Some((record.clone(), Instant::now()));
                false
            }
        }
    }

    fn record(&self, before: Option<&LeaseSpec>) -> LeaseSpec {
        let now = Some(MicroTime(Timestamp::now()));
        let mine = before.filter(|before| before.holder_identity.as_ref() == Some(&self.identity));
        let transitions = before.and_then(|before| before.lease_transitions).unwrap_or_default();
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(i32::try_from(self.times.lease.as_secs().max(1)).unwrap_or(i32::MAX)),
            acquire_time: mine.map_or_else(|| now.clone(), |mine| mine.acquire_time.clone()),
            renew_time: now,
            lease_transitions: Some(transitions + i32::from(before.is_some() && mine.is_none())),
            ..LeaseSpec::default()
        }
    }

    async fn give_back(&self) -> kube::Result<()> {
        let lease = self.leases.get(&self.name).await?;
        let holds = |spec: &LeaseSpec| spec.holder_identity.as_ref() == Some(&self.identity);
        let Some(spec) = lease.spec.clone().filter(holds) else { return Ok(()) };
        let empty = Lease { spec: Some(LeaseSpec { holder_identity: None, ..spec }), ..lease };
        self.leases.replace(&self.name, &PostParams::default(), &empty).await.map(drop)
    }
}

/// A conflict means that another was faster.
fn won<T>(written: kube::Result<T>) -> kube::Result<bool> {
    match written {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_grant_that_comes_after_the_last_has_lapsed_is_another_term() {
        let in_10_s = || Instant::now() + Duration::from_secs(10);
        let first = Grant::after(None, in_10_s(), 0);
        tokio::time::advance(Duration::from_secs(9)).await;
        let renewed = Grant::after(Some(first), in_10_s(), first.term);
        assert_eq!((first.term, renewed.term), (1, 1));
        tokio::time::advance(Duration::from_secs(11)).await;
        // Asked for in time, and granted too late: nobody was told that it had lapsed.
        assert_eq!(Grant::after(Some(renewed), in_10_s(), renewed.term).term, 2);
        assert_eq!(Grant::after(None, in_10_s(), renewed.term).term, 2);
    }
}
