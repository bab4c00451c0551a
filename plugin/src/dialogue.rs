//! Whom a command that writes talks to: somebody at a terminal or a script, or a person who looks at `top`.
//!
//! Commands do not know which. What they say, ask and do is the same.

use std::fmt;

use tokio::sync::{mpsc, oneshot};

use crate::confirm::{Question, confirm};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::output::table::sanitized;
use crate::warnings;

/// Whom a command talks to.
#[derive(Debug, Clone)]
pub enum Dialogue {
    /// Results go to stdout, all else to stderr; answers come from stdin.
    Terminal,
    /// All goes to whoever draws the screen.
    Screen {
        /// Where it goes.
        said: mpsc::UnboundedSender<Said>,
        /// Its Ctrl-C.
        interrupt: Interrupt,
    },
}

/// What a command has said, for a screen.
#[derive(Debug)]
pub enum Said {
    /// A line.
    Line(String),
    /// A question; dropping the answer is No.
    Asked(Question, oneshot::Sender<bool>),
}

impl Dialogue {
    /// Says something beside the result.
    pub fn say(&self, line: impl fmt::Display) {
        match self {
            Dialogue::Terminal => warnings::say(line),
            Dialogue::Screen { .. } => self.show(&line),
        }
    }

    /// One line of the result.
    ///
    /// # Errors
    /// Stdout fails.
    pub fn result(&self, line: &str) -> Result<(), Failure> {
        match self {
            Dialogue::Terminal => output::lines(vec![sanitized(line)]),
            Dialogue::Screen { .. } => {
                self.show(&line);
                Ok(())
            }
        }
    }

    /// Asks, and says whether the answer was as demanded.
    ///
    /// # Errors
    /// There is nobody to ask. `flag` is the one to pass instead.
    pub async fn confirm(&self, question: &Question, action: &str, flag: &str) -> Result<bool, Failure> {
        match self {
            Dialogue::Terminal => confirm(question, action, flag),
            Dialogue::Screen { said, .. } => {
                let (answer, answered) = oneshot::channel();
                // A screen that is gone answers No.
                let _ = said.send(Said::Asked(question.clone(), answer));
                Ok(answered.await.unwrap_or(false))
            }
        }
    }

    /// Ctrl-C, from now on.
    pub fn interrupt(&self) -> Interrupt {
        match self {
            Dialogue::Terminal => Interrupt::listen(),
            Dialogue::Screen { interrupt, .. } => interrupt.clone(),
        }
    }

    /// Is it a terminal that nothing else is drawn on?
    pub fn owns_terminal(&self) -> bool {
        match self {
            Dialogue::Terminal => true,
            Dialogue::Screen { .. } => false,
        }
    }

    fn show(&self, text: &dyn fmt::Display) {
        let Dialogue::Screen { said, .. } = self else { return };
        for line in text.to_string().split('\n') {
            // Nobody reads what a screen that is gone would show.
            let _ = said.send(Said::Line(sanitized(line)));
        }
    }
}
