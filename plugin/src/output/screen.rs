//! The last lines of a terminal, drawn again and again. What was there before stays, and can be scrolled to.

use std::io::{IsTerminal, Write};

use terminal_size::{Height, Width, terminal_size_of};
use unicode_width::UnicodeWidthChar;

use super::table::sanitized;

/// Between these two the terminal shows nothing of what it gets: no half of a frame is seen.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// Erases the rest of the line.
const TO_END_OF_LINE: &str = "\x1b[K";
/// Erases all below.
const BELOW: &str = "\x1b[J";
/// Goes to the top, and erases all that is shown.
const ALL: &str = "\x1b[H\x1b[J";

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// How many characters a line has.
    pub columns: usize,
    /// How many lines there are.
    pub rows: usize,
}

/// What is drawn at the end of a terminal.
#[derive(Debug)]
pub struct Screen {
    shown: Vec<String>,
    size: Size,
}

impl Screen {
    /// Of stdout, where that is a terminal that can move its cursor.
    pub fn open() -> Option<Self> {
        let able = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let size = size().filter(|_| able && std::io::stdout().is_terminal())?;
        Some(Screen { shown: vec![], size })
    }

    /// Where a frame must fit: no line may fill the last column, nor the frame the last line.
    pub fn room(&self) -> Size {
        let now = size().unwrap_or(self.size);
        Size { columns: now.columns.saturating_sub(1), rows: now.rows.saturating_sub(1) }
    }

    /// Draws a frame over the last one: only lines that differ are written.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, lines: Vec<String>) -> std::io::Result<()> {
        let size = size().unwrap_or(self.size);
        let resized = std::mem::replace(&mut self.size, size) != size;
        let lines: Vec<String> = lines.iter().map(|line| cut(line, self.room().columns)).collect();
        write(&frame(&self.shown, &lines, resized))?;
        self.shown = lines;
        Ok(())
    }

    /// Says something above the frame, which must be drawn again then.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn say(&mut self, line: &str) -> std::io::Result<()> {
        let over = back(self.shown.len());
        self.shown.clear();
        write(&format!("{over}{BELOW}{}\r\n", sanitized(line)))
    }
}

fn write(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

fn size() -> Option<Size> {
    let (Width(columns), Height(rows)) = terminal_size_of(std::io::stdout())?;
    Some(Size { columns: columns.into(), rows: rows.into() })
}

/// To the first of so many lines above.
fn back(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\x1b[{lines}A\r") }
}

/// What makes a terminal that shows the one frame show the other; nothing where they are the same.
fn frame(shown: &[String], lines: &[String], resized: bool) -> String {
    if shown == lines && !resized {
        return String::new();
    }
    // Terminals break lines that have become too long, or do not: nobody knows where the frame is now.
    let (mut text, shown) = if resized { (ALL.to_owned(), &[][..]) } else { (back(shown.len()), shown) };
    for (index, line) in lines.iter().enumerate() {
        if shown.get(index) != Some(line) {
            text += line;
            text += TO_END_OF_LINE;
        }
        text += "\r\n";
    }
    if shown.len() > lines.len() {
        text += BELOW;
    }
    format!("{BEGIN}{text}{END}")
}

/// A line, colour or not, as far as it fits.
fn cut(line: &str, columns: usize) -> String {
    let (mut shown, mut used, mut coloured) = (String::new(), 0, false);
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\x1b' {
            // What colours ends with an m.
            coloured = true;
            shown.push(c);
            for c in rest.by_ref() {
                shown.push(c);
                if c == 'm' {
                    break;
                }
            }
            continue;
        }
        used += c.width().unwrap_or_default();
        if used > columns {
            return if coloured { shown + "\x1b[0m" } else { shown };
        }
        shown.push(c);
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn terminal() -> vt100::Parser {
        let size = |cells| NonZero::new(cells).unwrap();
        vt100::Parser::new(size(6), size(20), 0)
    }

    /// What a terminal of 20 columns and 6 rows shows after these frames.
    fn shown(frames: &[&[&str]]) -> String {
        let mut terminal = terminal();
        terminal.process(b"$ kubectl\r\n");
        let mut last = vec![];
        for next in frames {
            let next = lines(next);
            terminal.process(frame(&last, &next, false).as_bytes());
            last = next;
        }
        terminal.screen().contents()
    }

    #[test]
    fn draws_over_the_last_frame_and_over_nothing_else() {
        assert_eq!(shown(&[&["a", "b"]]), "$ kubectl\na\nb");
        assert_eq!(shown(&[&["a", "bbbb"], &["a", "c"]]), "$ kubectl\na\nc");
        assert_eq!(shown(&[&["a", "b", "c"], &["b"]]), "$ kubectl\nb");
        assert_eq!(shown(&[&["a"], &["a", "b", "c"], &["a", "b"]]), "$ kubectl\na\nb");
    }

    #[test]
    fn scrolls_what_was_before_away_and_not_the_frame() {
        let five = &["1", "2", "3", "4", "5"][..];
        assert_eq!(shown(&[five, &["1", "2", "x", "4", "5"]]), "1\n2\nx\n4\n5");
    }

    #[test]
    fn no_line_is_broken() {
        assert_eq!(cut("short", 8), "short");
        assert_eq!(cut("much too long", 8), "much too");
        assert_eq!(cut("a \x1b[31mred\x1b[0m word", 4), "a \x1b[31mre\x1b[0m");
        assert_eq!(cut("a \x1b[31mred\x1b[0m word", 10), "a \x1b[31mred\x1b[0m word");
        assert_eq!(cut("错误", 3), "错");
    }

    #[test]
    fn writes_only_what_differs() {
        let (one, two) = (lines(&["the first", "the second"]), lines(&["the first", "another"]));
        assert_eq!(frame(&one, &one, false), "");
        let text = frame(&one, &two, false);
        assert!(!text.contains("the first") && text.contains("another"), "{text:?}");
    }

    #[test]
    fn draws_all_again_after_a_resize() {
        let one = lines(&["a"]);
        let mut terminal = terminal();
        terminal.process(b"left over\r\n");
        terminal.process(frame(&one, &one, true).as_bytes());
        assert_eq!(terminal.screen().contents(), "a");
    }
}
