//! The terminal: it is taken over, drawn on where something has changed, and given back however the program ends.

use std::future::poll_fn;
use std::process::ExitCode;
use std::task::Poll;

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

    /// What is typed, and all that was typed since. Empty where the terminal is gone.
    pub async fn next(&mut self) -> Vec<Event> {
        let mut events = vec![];
        let mut input = self.input.next().await;
        loop {
            match input {
                Some(Ok(Input::Key(key))) if key.kind != KeyEventKind::Release => events.push(Event::Key(key)),
                Some(Ok(Input::Resize(width, height))) => events.push(Event::Resized(width, height)),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return vec![],
            }
            // Asked with the waker of this task: the stream keeps the first that it gets.
            match poll_fn(|context| Poll::Ready(self.input.poll_next_unpin(context))).await {
                Poll::Ready(more) => input = more,
                Poll::Pending if events.is_empty() => input = self.input.next().await,
                Poll::Pending => return events,
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
