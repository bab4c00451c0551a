//! How far a command is: one bar on stderr where that is a terminal. Else the results, one line for each object, say it.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::dialogue::Dialogue;
use crate::failure::Failure;

/// A bar, or nothing; and whoever reads the lines beside it.
#[derive(Debug)]
pub struct Progress(ProgressBar, Dialogue);

impl Progress {
    /// Of so many objects.
    pub fn of(objects: usize, dialogue: &Dialogue) -> Self {
        let wanted = dialogue.owns_terminal() && std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        Progress(ProgressBar::with_draw_target(Some(objects as u64), target).with_style(style), dialogue.clone())
    }

    /// One more is done: one line of the result.
    ///
    /// # Errors
    /// Stdout fails.
    pub fn result(&self, line: &str) -> Result<(), Failure> {
        self.0.suspend(|| self.1.result(line))
    }

    /// Says something beside the result.
    pub fn say(&self, line: impl std::fmt::Display) {
        self.0.suspend(|| self.1.say(line));
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
