//! `-w`: what all commands that watch have in common.

pub(super) mod list;
pub(super) mod until;

use std::collections::BTreeSet;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::age::age;
use crate::failure::{Failure, INTERRUPTED, TIMED_OUT};
use crate::live::{Change, Connection, Feed};
use crate::output;
use crate::output::screen::{Screen, Size};
use crate::output::table::sanitized;
use crate::warnings::{Warnings, say};

/// A watch without `--timeout`.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 86400);
/// Requests are shown on stderr from this verbosity on: a screen would be drawn over them.
const SHOWS_REQUESTS: u8 = 6;

/// What is watched, as it is shown.
pub(super) trait Shown {
    /// Takes in what has changed; nothing may have, but for the time.
    fn update(&mut self, feed: &Feed, change: &Change) -> Result<(), Failure>;
    /// When time alone makes a difference to it.
    fn due(&self) -> Option<Timestamp>;
    /// All of it, as it fits a terminal.
    fn frame(&mut self, feed: &Feed, room: Size) -> Vec<String>;
    /// What is new since it was asked last, as lines to append.
    fn news(&mut self, feed: &Feed) -> Result<String, Failure>;
    /// Is there nothing more to wait for?
    fn is_over(&self) -> bool;
    /// What it still waits for; nothing where it waits for nothing.
    fn awaits(&self) -> Option<String>;
}

/// Where a watch shows what it sees.
pub(super) struct Stage {
    /// A terminal; else lines are appended.
    screen: Option<Screen>,
    /// Where the cluster says what could not be read: a screen is not written over.
    pub warnings: Warnings,
    said: BTreeSet<String>,
    /// Was it told that the connection is lost? One loss is told once, whatever each attempt says of it.
    lost: bool,
}

impl Stage {
    /// A screen where there is one, and text is asked for.
    pub(super) fn open(text: bool, verbosity: u8) -> Self {
        let screen = if text && verbosity < SHOWS_REQUESTS { Screen::open() } else { None };
        let warnings = if screen.is_some() { Warnings::held() } else { Warnings::default() };
        Stage { screen, warnings, said: BTreeSet::new(), lost: false }
    }

    /// Watches until it is over, the time is, or somebody interrupts.
    ///
    /// # Errors
    /// What is waited for will never be, or stdout fails.
    pub(super) async fn watch(
        mut self,
        mut feed: Feed,
        shown: &mut impl Shown,
        timeout: Option<Duration>,
    ) -> Result<ExitCode, Failure> {
        let deadline = Instant::now() + timeout.unwrap_or(FOREVER).min(FOREVER);
        let mut interrupted = pin!(tokio::signal::ctrl_c());
        let mut second = interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut resized = Resized::new()?;
        let on_screen = self.screen.is_some();
        let mut change = Change::default();
        loop {
            feed.tick();
            shown.update(&feed, &change)?;
            self.show(&feed, shown, change.connection)?;
            if shown.is_over() {
                return Ok(ExitCode::SUCCESS);
            }
            change = tokio::select! {
                biased;
                _ = &mut interrupted => return Ok(ExitCode::from(INTERRUPTED)),
                () = sleep_until(deadline) => return Ok(Self::timed_out(shown)),
                change = feed.changed() => change,
                () = sleep_until(instant(shown.due())) => Change::default(),
                _ = second.tick(), if on_screen => Change::default(),
                () = resized.next(), if on_screen => Change::default(),
            };
        }
    }

    fn show(&mut self, feed: &Feed, shown: &mut impl Shown, connection: bool) -> Result<(), Failure> {
        let Some(screen) = &mut self.screen else {
            output::write(&shown.news(feed)?)?;
            if connection {
                match (
                    std::mem::replace(&mut self.lost, matches!(feed.connection(), Connection::Stale { .. })),
                    feed.connection(),
                ) {
                    (true, Connection::Live) => say("Warning: connected again: what is shown is current"),
                    (false, Connection::Stale { why, .. }) => {
                        say(sanitized(&format!("Warning: the connection is lost, what was shown is stale: {why}")));
                    }
                    (true, Connection::Stale { .. }) | (false, Connection::Live) => {}
                }
            }
            return Ok(());
        };
        for warning in self.warnings.take() {
            if self.said.insert(warning.clone()) {
                screen.say(&format!("Warning: {warning}"))?;
            }
        }
        let room = screen.room();
        let mut frame = shown.frame(feed, room);
        frame.truncate(room.rows);
        Ok(screen.draw(frame)?)
    }

    fn timed_out(shown: &impl Shown) -> ExitCode {
        match shown.awaits() {
            None => ExitCode::SUCCESS,
            Some(what) => {
                say(sanitized(&format!("error: timed out waiting for {what}")));
                ExitCode::from(TIMED_OUT)
            }
        }
    }
}

/// Lines below a title, as many as there is room for; in all there are so many.
pub(super) fn titled(title: &str, lines: Vec<String>, all: usize, feed: &Feed, room: Size) -> Vec<String> {
    let height = room.rows.saturating_sub(1);
    let fits = if all > height { height.saturating_sub(1) } else { height };
    let mut frame = vec![headline(title, feed)];
    frame.extend(lines.into_iter().take(fits));
    if all > fits {
        frame.push(format!("… and {} more lines", all - fits));
    }
    frame
}

/// Whether what is shown is true now, and a title. What matters most comes first: a narrow terminal shows no more.
pub(super) fn headline(title: &str, feed: &Feed) -> String {
    sanitized(&match feed.connection() {
        Connection::Live => format!("live   {title}"),
        Connection::Stale { since, why } => {
            format!("STALE {}   {title}   {why}", age(Some(*since), feed.snapshot().now))
        }
    })
}

/// Never, where there is no moment.
fn instant(at: Option<Timestamp>) -> Instant {
    let wait = at.map(|at| Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default());
    Instant::now() + wait.unwrap_or(FOREVER)
}

/// Tells when the terminal has another size. Where nothing tells, each second is soon enough.
struct Resized {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Resized {
    fn new() -> std::io::Result<Self> {
        Ok(Resized {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::window_change())?,
        })
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        std::future::pending().await
    }
}
