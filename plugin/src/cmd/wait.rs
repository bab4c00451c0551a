//! `kubectl eno wait`: until an object is deleted or reconciled, saying what it waits for.

mod changes;
pub(super) mod state;

use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use eno_shared::api::{Composition, Kind, ResourceSlice};
use eno_shared::names::ENO_GROUP;
use tokio::time::{Instant, sleep_until};

use crate::cli::{Cli, WaitFlags, WaitFor};
use crate::cluster::Cluster;
use crate::failure::{CANNOT_TELL, Failure, INTERRUPTED, TIMED_OUT};
use crate::output;
use crate::output::table::sanitized;
use crate::query::{Depth, Query};
use crate::warnings::{Warnings, say};
use changes::Changes;
use state::{State, Waiting};

/// How many requests run at once.
const CONCURRENCY: u16 = 8;
/// Changes come in bursts: the next look is not before this.
const PAUSE: Duration = Duration::from_millis(500);
/// A `--timeout` beyond this is without end.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 86400);

/// What is waited for.
struct Awaited<'a> {
    cluster: &'a Cluster,
    namespace: String,
    slice: bool,
    name: String,
    state: WaitFor,
}

/// Runs the command.
///
/// # Errors
/// Where the object cannot be read, or will never be in that state.
pub(super) async fn run(flags: &WaitFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let warnings = Warnings::default();
    let (slice, name) = state::target(&flags.object)?;
    let (cluster, namespace) = super::cluster(cli, CONCURRENCY, &warnings)?;
    let awaited = Awaited { cluster: &cluster, namespace, slice, name, state: flags.state };
    let begun = Instant::now();
    let deadline = begun + flags.timeout.min(FOREVER);
    let mut interrupted = pin!(tokio::signal::ctrl_c());
    let mut last: Option<Waiting> = None;
    let outcome = tokio::select! {
        ended = awaited.ended(begun, flags.timeout.is_zero(), &mut last) => ended?,
        () = sleep_until(deadline), if !flags.timeout.is_zero() => false,
        _ = &mut interrupted => {
            awaited.report("interrupted while waiting", begun, last.as_ref());
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    if outcome {
        output::lines(vec![sanitized(&format!("{} {}", awaited.object(), awaited.word()))])?;
        return Ok(ExitCode::SUCCESS);
    }
    awaited.report("timed out waiting", begun, last.as_ref());
    Ok(ExitCode::from(TIMED_OUT))
}

impl Awaited<'_> {
    /// Looks at each change until the state is there: true. Looking once, false means that it is not.
    async fn ended(&self, begun: Instant, once: bool, last: &mut Option<Waiting>) -> Result<bool, Failure> {
        // Before the first look, so that no change falls between.
        let mut changes = Changes::of(self);
        let mut uid: Option<String> = None;
        loop {
            let look = Instant::now();
            match self.look(uid.as_deref()).await? {
                State::Reached => return Ok(true),
                State::Never(why) => return Err(Failure::local(format_args!("{}: {why}", self.object()))),
                // What can be read no more may be readable again; what never could be is not waited for.
                State::Waiting(waiting) if waiting.unreadable && uid.is_none() => {
                    let failure = Failure::local(format_args!("{}: {}", self.object(), waiting.text));
                    return Err(failure.with_code(CANNOT_TELL));
                }
                State::Waiting(waiting) => {
                    uid.get_or_insert_with(|| waiting.uid.clone());
                    if last.as_ref().is_none_or(|last| last.text != waiting.text) {
                        let since = shown(begun.elapsed());
                        say(sanitized(&format!("waiting: {} ({since})", waiting.text)));
                    }
                    *last = Some(waiting);
                }
            }
            if once {
                return Ok(false);
            }
            changes.next().await;
            sleep_until(look + PAUSE).await;
            changes.forget();
        }
    }

    /// One look: what the rules say of it now. `uid` is that of the first look.
    async fn look(&self, uid: Option<&str>) -> Result<State, Failure> {
        let query = Query {
            namespace: Some(self.namespace.clone()),
            names: if self.slice { vec![self.name.clone()] } else { vec![] },
            composition: (!self.slice).then(|| self.name.clone()),
            // The state of all its slices says how far it is.
            depth: Depth::Content,
            slices_may_fail: !self.slice,
            ..Query::default()
        };
        let snapshot = self.cluster.snapshot(&query).await?;
        let asked = state::Asked { snapshot: &snapshot, namespace: &self.namespace, name: &self.name, uid };
        Ok(if self.slice { state::of_slice(&asked, self.state) } else { state::of_composition(&asked, self.state) })
    }

    /// How the wait ended, and what it waited for at last.
    fn report(&self, how: &str, begun: Instant, last: Option<&Waiting>) {
        say(sanitized(&format!(
            "error: {how} for {} to be {} ({})",
            self.object(),
            self.word(),
            shown(begun.elapsed())
        )));
        for line in last.iter().flat_map(|last| &last.why) {
            say(sanitized(&format!("  {line}")));
        }
        let kind = if self.slice { ResourceSlice::SINGULAR } else { Composition::SINGULAR };
        say(sanitized(&format!("next: kubectl eno why {kind}/{} -n {}", self.name, self.namespace)));
    }

    fn object(&self) -> String {
        let kind = if self.slice { ResourceSlice::SINGULAR } else { Composition::SINGULAR };
        format!("{kind}.{ENO_GROUP}/{}", self.name)
    }

    fn word(&self) -> &'static str {
        match self.state {
            WaitFor::Deleted => "deleted",
            WaitFor::Reconciled => "reconciled",
        }
    }
}

/// Whole seconds, as kubectl shows times.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, _) => format!("{hours}h{minutes}m"),
    }
}
