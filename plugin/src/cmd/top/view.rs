//! How the model looks: a pure function onto a buffer. Whatever colour says is said by a mark or a word as well.

mod columns;
mod header;

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::keys::{BINDINGS, Tab};
use super::list::List;
use super::model::{Asked, Link, Model, Page};
use super::pane::{Pane, broken};
use super::row::Shows;
use crate::age::age;
use crate::output;
use crate::output::table::shortened;

/// Draws it. Returns where the cursor stands, if a text is being typed.
pub(super) fn draw(model: &Model, colored: bool, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let mut canvas = Canvas { buffer, colored };
    match model.pages.last() {
        Some(page) => canvas.page(page),
        None => canvas.lists(model),
    }
}

/// Where is drawn, and with what.
struct Canvas<'b> {
    buffer: &'b mut Buffer,
    colored: bool,
}

impl Canvas<'_> {
    fn area(&self) -> Rect {
        self.buffer.area
    }

    /// One line of text, cut at the edge.
    fn line(&mut self, y: u16, text: &str, style: Style) {
        self.text(0, y, text, style);
    }

    fn text(&mut self, x: u16, y: u16, text: &str, style: Style) {
        let Rect { width, height, .. } = self.area();
        if y < height && x < width {
            self.buffer.set_stringn(x, y, text, usize::from(width - x), style);
        }
    }

    /// A style that is worth nothing without colour.
    fn color(&self, color: Color) -> Style {
        if self.colored { Style::new().fg(color) } else { Style::new() }
    }

    fn alarm(&self) -> Style {
        self.color(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn lists(&mut self, model: &Model) -> Option<(u16, u16)> {
        let height = self.area().height;
        self.header(model);
        match model.list(model.tab) {
            Some(list) => self.rows(model, list),
            None => self.pane(&Pane::new(model.webhook.lines.clone()), 2, height.saturating_sub(4)),
        }
        self.hints(height.saturating_sub(1));
        self.below(model, height.saturating_sub(2))
    }

    fn rows(&mut self, model: &Model, list: &List) {
        let room = usize::from(self.area().width).saturating_sub(MARKS);
        let columns = columns::fit(list.heads, list.widths(), room, model.scope.namespace.is_none());
        let heads = columns.iter().map(|column| (list.heads[column.index].text.to_owned(), column.width));
        let heads = joined(heads, columns::gap(room));
        self.text(MARKS as u16, 2, &heads, Style::new().add_modifier(Modifier::BOLD));
        for (y, (row, chosen)) in (3..).zip(list.visible(model.rows())) {
            let style = if chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
            self.buffer.set_style(Rect { y, height: 1, ..self.area() }, style);
            self.text(0, y, if chosen { ">" } else { " " }, style);
            if row.stuck {
                self.text(1, y, "!", style.patch(self.alarm()));
            }
            let mut x = MARKS;
            for column in &columns {
                let head = &list.heads[column.index];
                let cell = row.cell(column.index, head, model.now);
                let cell = shortened(&cell, column.width);
                let mut cell_style = style;
                if head.shows == Shows::State
                    && self.colored
                    && let Some(color) = output::word_color(&cell)
                {
                    cell_style = cell_style.fg(terminal_color(color));
                }
                self.text(x as u16, y, &cell, cell_style);
                x += column.width + columns::gap(room);
            }
        }
        if list.shown().is_empty() {
            let nothing = if model.filter.0.is_empty() { "  Nothing here." } else { "  Nothing matches the filter." };
            self.line(3, nothing, Style::new());
        }
    }

    /// The line below the rows: the filter, or what happened last.
    fn below(&mut self, model: &Model, y: u16) -> Option<(u16, u16)> {
        let (filter, typing) = &model.filter;
        if *typing {
            let text = format!("/{filter}");
            self.line(y, &text, Style::new());
            return Some((self.edge(&text), y));
        }
        let mut parts: Vec<String> = vec![];
        let width = usize::from(self.area().width);
        if !filter.is_empty() && model.tab != Tab::Webhook {
            parts.push(if width < NARROW { format!("/{filter}") } else { format!("filter: {filter} (Esc: none)") });
        }
        parts.extend(model.order());
        match &model.link {
            _ if !model.notice.is_empty() => parts.push(model.notice.clone()),
            Link::Stale { since, why } => {
                parts.push(format!("as of {} ago: {why}", age(Some(*since), model.now)));
            }
            // What the chosen row is about, where nothing else is to be said.
            Link::Live | Link::Offline => parts.extend(model.chosen().map(|row| row.message.clone())),
        }
        self.line(y, &begun(&parts.join("   "), width), Style::new());
        None
    }

    /// Where the cursor stands after a text.
    fn edge(&self, text: &str) -> u16 {
        u16::try_from(text.width()).unwrap_or(u16::MAX).min(self.area().width.saturating_sub(1))
    }

    /// The keys, as many as there is room for.
    fn hints(&mut self, y: u16) {
        let hints = BINDINGS.iter().filter(|binding| !binding.short.is_empty()).map(|binding| {
            let key = binding.keys.split(',').next().unwrap_or_default();
            format!("{key} {}", binding.short)
        });
        let mut hints: Vec<String> = hints.collect();
        // How to get out is always said; all else is found by ?.
        let quit = hints.pop().unwrap_or_default();
        let mut text = String::new();
        for hint in hints {
            if text.width() + hint.width() + 2 + quit.width() <= usize::from(self.area().width) {
                text += &format!("{hint}  ");
            }
        }
        text += &quit;
        self.line(y, &text, self.color(Color::DarkGray));
    }

    fn pane(&mut self, pane: &Pane, from: u16, height: u16) {
        let (lines, _, _) = pane.visible(usize::from(self.area().width), usize::from(height));
        for (y, line) in (from..).zip(&lines) {
            let loud = line.split_whitespace().next_back() == Some("STUCK");
            self.line(y, line, if loud { self.alarm() } else { Style::new() });
        }
    }

    /// A title, and a note at its right.
    fn title(&mut self, title: &str, note: &str) {
        let style = Style::new().add_modifier(Modifier::REVERSED);
        self.buffer.set_style(Rect { height: 1, ..self.area() }, style);
        let width = usize::from(self.area().width);
        let at = width.saturating_sub(note.width());
        let room = if note.is_empty() { width } else { at.saturating_sub(2) };
        // Whose commands these are, everybody knows.
        let title = if title.width() > room { title.strip_prefix("kubectl eno ").unwrap_or(title) } else { title };
        self.line(0, &shortened(title, room), style);
        self.text(u16::try_from(at).unwrap_or(u16::MAX), 0, note, style);
    }

    fn page(&mut self, page: &Page) -> Option<(u16, u16)> {
        let Rect { width, height, .. } = self.area();
        let last = height.saturating_sub(1);
        let asked = match page {
            Page::Talk(talk) => Some(&talk.asked),
            Page::Help(_) | Page::Why { .. } => None,
        };
        if let Some(Asked::Question(question, typed)) = asked {
            // A question may be longer than the screen is wide.
            let lines = broken(&format!("{question}{typed}"), usize::from(width));
            let first = height.saturating_sub(lines.len() as u16);
            let room = first.saturating_sub(1);
            let (_, above, _) = page.pane().visible(usize::from(width), usize::from(room));
            let above = if above > 0 { format!("{above} above   ") } else { String::new() };
            self.title(&page.title(), &format!("{above}Esc: no"));
            self.pane(page.pane(), 1, room);
            for (y, line) in (first..).zip(&lines) {
                self.line(y, line, Style::new().add_modifier(Modifier::BOLD));
            }
            // The space after the question is typed, too.
            let end = lines.last().map_or(0, |line| line.width()) + usize::from(typed.is_empty());
            return Some((u16::try_from(end).unwrap_or(u16::MAX).min(width.saturating_sub(1)), last));
        }
        self.title(&page.title(), "");
        let room = last.saturating_sub(1);
        self.pane(page.pane(), 1, room);
        let (_, above, below) = page.pane().visible(usize::from(width), usize::from(room));
        let lines = |count| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        let more = match (above, below) {
            (0, 0) => String::new(),
            (above, 0) => format!("   {} above", lines(above)),
            (_, below) => format!("   {} below", lines(below)),
        };
        let hint = match asked {
            None => "Esc back",
            Some(Asked::Nothing) => "at work; Ctrl-C stops",
            Some(Asked::ToStop) => "stops after this request; Ctrl-C: do not wait",
            Some(Asked::ToBeRead | Asked::Question(..)) => "ended; Enter back",
        };
        self.line(last, &format!("{hint}{more}"), self.color(Color::DarkGray));
        None
    }
}

/// Columns for the marks before a row: chosen, and stuck.
const MARKS: usize = 2;
/// Below so many columns, less is said.
const NARROW: usize = 60;

/// As much of a sentence as there is room for: its beginning says most.
fn begun(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let left = room.checked_sub(c.width().unwrap_or_default());
        left.map(|left| room = left).is_some()
    };
    (text.chars().take_while(fits).collect::<String>() + "…").into()
}

fn joined(cells: impl Iterator<Item = (String, usize)>, gap: usize) -> String {
    let padded = cells.map(|(cell, width)| {
        let padding = " ".repeat((width + gap).saturating_sub(cell.width()));
        cell + &padding
    });
    padded.collect::<String>()
}

fn terminal_color(color: anstyle::AnsiColor) -> Color {
    Color::Indexed(anstyle::Ansi256Color::from(color).index())
}

#[cfg(test)]
mod tests;
