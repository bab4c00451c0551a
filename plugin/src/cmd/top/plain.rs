//! Plain lines instead of a screen: for screen readers, and for terminals that cannot move their cursor.

mod printer;

use std::io::BufRead;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::model::{Effect, Event, Model};
use crate::failure::Failure;
use crate::output;
use printer::Printer;

/// Lines in, lines out.
pub(super) struct Plain {
    typed: UnboundedReceiver<String>,
    printer: Printer,
}

impl Plain {
    /// On stdin and stdout.
    pub fn open() -> Self {
        let (send, typed) = unbounded_channel();
        // A read of stdin cannot be given up: its thread ends with the process.
        std::thread::spawn(move || {
            let lines = std::io::stdin().lock().lines();
            for line in lines.map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Plain { typed, printer: Printer::default() }
    }

    /// The first picture, once it is there.
    ///
    /// # Errors
    /// Stdout fails.
    pub fn begin(&mut self, model: &Model) -> Result<(), Failure> {
        print(self.printer.begin(model))
    }

    /// Takes in what happens, and says what is new about it.
    ///
    /// # Errors
    /// Stdout fails.
    pub fn pass(&mut self, model: &mut Model, event: Event) -> Result<Option<Effect>, Failure> {
        let happened = self.printer.happens(&event, model);
        print(happened)?;
        let effect = model.update(event);
        print(self.printer.happened(model))?;
        Ok(effect)
    }

    /// What is typed; `None` at the end of input.
    pub async fn next(&mut self) -> Option<Event> {
        self.typed.recv().await.map(Event::Typed)
    }
}

fn print(lines: Vec<String>) -> Result<(), Failure> {
    if lines.is_empty() { Ok(()) } else { output::lines(lines) }
}
