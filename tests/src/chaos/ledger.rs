//! What became of all calls, and which failures the faults explain.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eno_shared::names::HOOK_DOMAIN;

/// How a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symptom {
    /// The API server got no answer of the webhook, and refused.
    Unanswered,
    /// The webhook answered that it cannot judge now.
    Retry,
    /// The API server could not do it, or did not answer.
    Unserved,
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Symptom::Unanswered => "unanswered",
            Symptom::Retry => "to retry",
            Symptom::Unserved => "unserved",
        })
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// A rule forbids it.
    Denied(String),
    /// What it was about has changed or gone meanwhile, or its namespace is going.
    Overtaken,
    /// It failed.
    Failed(Symptom, String),
}

impl Outcome {
    /// That of an answer.
    pub fn of<T>(answer: &kube::Result<T>) -> Self {
        answer.as_ref().err().map_or(Outcome::Done, Outcome::of_error)
    }

    /// That of an error.
    pub fn of_error(error: &kube::Error) -> Self {
        let kube::Error::Api(status) = error else {
            return Outcome::Failed(Symptom::Unserved, error.to_string());
        };
        let message = status.message.clone();
        if message.contains("failed calling webhook") {
            Outcome::Failed(Symptom::Unanswered, message)
        } else if message.contains(HOOK_DOMAIN) {
            match status.code {
                403 => Outcome::Denied(message),
                _ => Outcome::Failed(Symptom::Retry, message),
            }
        } else if matches!(status.code, 404 | 409 | 422) || message.contains("because it is being terminated") {
            Outcome::Overtaken
        } else {
            Outcome::Failed(Symptom::Unserved, message)
        }
    }
}

/// A time in which a fault explains failures.
#[derive(Debug)]
struct Window {
    explains: &'static [Symptom],
    /// Nobody may have watched.
    blinds: bool,
    from: Instant,
    to: Option<Instant>,
}

#[derive(Debug)]
struct Failure {
    symptom: Symptom,
    what: String,
    began: Instant,
    ended: Instant,
}

/// The ledger.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    calls: usize,
    denied: usize,
    failures: Vec<Failure>,
    windows: Vec<Window>,
    /// What must not be, whatever the fault.
    violations: Vec<String>,
}

/// Sums of a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// Calls.
    pub calls: usize,
    /// Those that a rule forbade.
    pub denied: usize,
    /// Those that failed.
    pub failed: BTreeMap<Symptom, usize>,
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} calls", self.calls)?;
        if self.failed.is_empty() {
            f.write_str(", 0 failed")?;
        }
        self.failed.iter().try_for_each(|(symptom, count)| write!(f, ", {count} {symptom}"))
    }
}

impl Sums {
    /// What has come since.
    pub fn since(&self, before: &Self) -> Self {
        let failed = self
            .failed
            .iter()
            .map(|(symptom, count)| (*symptom, count - before.failed.get(symptom).copied().unwrap_or_default()));
        Self {
            calls: self.calls - before.calls,
            denied: self.denied - before.denied,
            failed: failed.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

impl Ledger {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call that began then and has ended now.
    pub fn note(&self, what: &str, began: Instant, outcome: &Outcome) {
        let mut entries = self.entries();
        entries.calls += 1;
        match outcome {
            Outcome::Done | Outcome::Overtaken => {}
            Outcome::Denied(_) => entries.denied += 1,
            Outcome::Failed(symptom, message) => {
                let what = format!("{what}: {message}");
                entries.failures.push(Failure { symptom: *symptom, what, began, ended: Instant::now() });
            }
        }
    }

    /// Notes what must not be.
    pub fn violated(&self, what: String) {
        eprintln!("VIOLATED: {what}");
        self.entries().violations.push(what);
    }

    /// From now on such failures are explained, until the returned window is [closed](Ledger::close).
    pub fn open(&self, explains: &'static [Symptom], blinds: bool) -> usize {
        let mut entries = self.entries();
        entries.windows.push(Window { explains, blinds, from: Instant::now(), to: None });
        entries.windows.len() - 1
    }

    /// From now on the window explains nothing more.
    pub fn close(&self, window: usize) {
        self.entries().windows[window].to = Some(Instant::now());
    }

    /// Was there somebody who watched, all of that time?
    pub fn was_watched(&self, from: Instant, to: Instant) -> bool {
        let entries = self.entries();
        let mut blinding = entries.windows.iter().filter(|window| window.blinds);
        !blinding.any(|window| window.from <= to && window.to.is_none_or(|end| from <= end))
    }

    /// The sums so far.
    pub fn sums(&self) -> Sums {
        let entries = self.entries();
        let mut failed = BTreeMap::new();
        for failure in &entries.failures {
            *failed.entry(failure.symptom).or_default() += 1;
        }
        Sums { calls: entries.calls, denied: entries.denied, failed }
    }

    /// The failures that no fault explains, and all that was violated.
    pub fn verdict(&self) -> Vec<String> {
        let entries = self.entries();
        let began = entries.windows.first().map(|window| window.from);
        let since = |at: Instant| began.map_or(Duration::ZERO, |began| at.saturating_duration_since(began));
        let explained = |failure: &&Failure| {
            entries.windows.iter().any(|window| {
                window.explains.contains(&failure.symptom)
                    && window.from <= failure.ended
                    && window.to.is_none_or(|to| failure.began <= to)
            })
        };
        let unexplained = entries.failures.iter().filter(|failure| !explained(failure)).map(|failure| {
            let (began, ended) = (since(failure.began).as_secs_f64(), since(failure.ended).as_secs_f64());
            format!("no fault explains {:?} at {began:.1}-{ended:.1} s: {}", failure.symptom, failure.what)
        });
        entries.violations.iter().cloned().chain(unexplained).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(ledger: &Ledger) {
        ledger.note("a call", Instant::now(), &Outcome::Failed(Symptom::Retry, "no".to_owned()));
    }

    #[test]
    fn a_failure_is_explained_by_a_window_of_its_kind_alone() {
        let ledger = Ledger::default();
        let other = ledger.open(&[Symptom::Unanswered], false);
        failed(&ledger);
        ledger.close(other);
        assert_eq!(ledger.verdict().len(), 1, "another kind");
        let window = ledger.open(&[Symptom::Retry], false);
        failed(&ledger);
        ledger.close(window);
        assert_eq!(ledger.verdict().len(), 1, "explained");
        failed(&ledger);
        assert_eq!(ledger.verdict().len(), 2, "too late");
        assert_eq!(ledger.sums().failed, [(Symptom::Retry, 3)].into());
    }

    #[test]
    fn a_time_was_watched_where_no_fault_that_blinds_touches_it() {
        let ledger = Ledger::default();
        let harmless = ledger.open(&[], false);
        let began = Instant::now();
        assert!(ledger.was_watched(began, began));
        let blinding = ledger.open(&[], true);
        let now = Instant::now();
        assert!(!ledger.was_watched(began, now), "it goes on");
        ledger.close(blinding);
        ledger.close(harmless);
        let after = Instant::now() + Duration::from_millis(1);
        assert!(!ledger.was_watched(began, after) && ledger.was_watched(after, after));
    }

    #[test]
    fn answers_are_told_apart() {
        let of = |code: u16, message: &str| {
            let status = kube::core::Status { code, message: message.to_owned(), ..Default::default() };
            Outcome::of::<()>(&Err(kube::Error::Api(Box::new(status))))
        };
        let hook = format!("admission webhook \"slices-delete.{HOOK_DOMAIN}\" denied the request");
        assert!(matches!(of(403, &hook), Outcome::Denied(_)));
        assert!(matches!(of(503, &hook), Outcome::Failed(Symptom::Retry, _)));
        assert!(matches!(of(500, "failed calling webhook \"a\""), Outcome::Failed(Symptom::Unanswered, _)));
        assert!(matches!(of(500, "etcdserver: request timed out"), Outcome::Failed(Symptom::Unserved, _)));
        assert_eq!(of(404, "not found"), Outcome::Overtaken);
        assert_eq!(Outcome::of(&Ok(())), Outcome::Done);
    }
}
