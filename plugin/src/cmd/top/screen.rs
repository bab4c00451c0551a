//! The terminal: it is taken over, drawn on where something has changed, and given back however the program ends.

use std::process::ExitCode;

use crossterm::event::{Event as Input, EventStream, KeyEventKind};
use futures::StreamExt;
use ratatui::DefaultTerminal;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::model::{Event, Model};
use super::view;

/// A terminal that is taken over. Dropping it gives it back, and so does a panic.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    input: EventStream,
    colored: bool,
    /// What is on it, and where its cursor is.
    shown: (Buffer, Option<(u16, u16)>),
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// There is none.
    pub fn open(colored: bool) -> std::io::Result<Self> {
        let terminal = ratatui::try_init()?;
        Ok(Screen { terminal, input: EventStream::new(), colored, shown: (Buffer::empty(Rect::ZERO), None) })
    }

    /// Its size.
    ///
    /// # Errors
    /// It is gone.
    pub fn resized(&self) -> std::io::Result<Event> {
        let size = self.terminal.size()?;
        Ok(Event::Resized(size.width, size.height))
    }

    /// Draws what differs from what is shown; nothing at all, where nothing does.
    ///
    /// # Errors
    /// It is gone.
    pub fn draw(&mut self, model: &Model) -> std::io::Result<()> {
        let size = self.terminal.size()?;
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.width, size.height));
        let cursor = view::draw(model, self.colored, &mut buffer);
        let next = (buffer, cursor);
        if next != self.shown {
            self.terminal.draw(|frame| {
                // It may have been resized in this very moment: then it is drawn again soon.
                if frame.area() == next.0.area {
                    frame.buffer_mut().clone_from(&next.0);
                    if let Some((x, y)) = cursor {
                        frame.set_cursor_position(Position::new(x, y));
                    }
                }
            })?;
            self.shown = next;
        }
        Ok(())
    }

    /// A key, or another size. `None` where the terminal is gone. Nothing is lost where nobody waits to the end.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.input.next().await {
                Some(Ok(Input::Key(key))) if key.kind != KeyEventKind::Release => return Some(Event::Key(key)),
                Some(Ok(Input::Resize(width, height))) => return Some(Event::Resized(width, height)),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Waits until the program is asked to end from outside; the exit code that a shell gives to that. The terminal must be
/// given back then, too.
pub(super) async fn asked_to_end() -> ExitCode {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()];
        let signals = kinds.into_iter().filter_map(|kind| Some((signal(kind).ok()?, kind.as_raw_value())));
        let waits = signals.map(|(mut signal, number)| {
            Box::pin(async move {
                signal.recv().await;
                ExitCode::from(u8::try_from(128 + number).unwrap_or(u8::MAX))
            })
        });
        futures::future::select_all(waits).await.0
    }
    #[cfg(not(unix))]
    {
        let _ = tokio::signal::ctrl_c().await;
        ExitCode::from(crate::failure::INTERRUPTED)
    }
}
