//! How far a command is: one bar on stderr where that is a terminal. Else the results, one line for each object, say it.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::Failure;
use crate::output::table::sanitized;

/// A bar, or nothing.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Of so many objects.
    pub fn of(objects: usize) -> Self {
        let wanted = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        Progress(ProgressBar::with_draw_target(Some(objects as u64), target).with_style(style))
    }

    /// One more is done: prints its line on stdout.
    ///
    /// # Errors
    /// Stdout fails.
    pub fn result(&self, line: &str) -> Result<(), Failure> {
        self.0.suspend(|| {
            let mut stdout = std::io::stdout().lock();
            writeln!(stdout, "{}", sanitized(line))?;
            Ok(stdout.flush()?)
        })
    }

    /// Says something on stderr.
    pub fn say(&self, line: impl std::fmt::Display) {
        self.0.suspend(|| crate::warnings::say(line));
    }

    /// One more is done.
    pub fn advance(&self) {
        self.0.inc(1);
    }

    /// The bar is taken away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
