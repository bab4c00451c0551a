//! A text that is longer than the screen, and wider.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A text, and how far it is scrolled.
#[derive(Debug, Default)]
pub(super) struct Pane {
    lines: Vec<String>,
    top: usize,
}

impl Pane {
    /// At its beginning.
    pub fn new(lines: Vec<String>) -> Self {
        Pane { lines, top: 0 }
    }

    /// Another text, as far down as this one.
    pub fn replace(&mut self, lines: Vec<String>) {
        self.lines = lines;
    }

    /// One line more.
    pub fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    /// The text.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Moves by so many lines; a screen has this size.
    pub fn step(&mut self, by: isize, width: usize, height: usize) {
        let last = self.broken(width).len().saturating_sub(height);
        self.top = self.top.min(last).saturating_add_signed(by).min(last);
    }

    /// The lines on a screen of that size, and how many there are above and below.
    pub fn visible(&self, width: usize, height: usize) -> (Vec<String>, usize, usize) {
        let all = self.broken(width);
        let top = self.top.min(all.len().saturating_sub(height));
        let below = all.len().saturating_sub(top + height);
        (all.into_iter().skip(top).take(height).collect(), top, below)
    }

    fn broken(&self, width: usize) -> Vec<String> {
        self.lines.iter().flat_map(|line| broken(line, width)).collect()
    }
}

/// Breaks a line at spaces, and words that are longer than the screen anywhere. What follows is indented as the line is; in
/// a line of columns, as the second is.
pub(super) fn broken(line: &str, width: usize) -> Vec<String> {
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let indent = " ".repeat(indent(line, width));
    let mut lines = vec![];
    let mut current = String::new();
    for word in line.split_inclusive(' ') {
        // A gap between columns is none at the beginning of a line.
        if word == " " && !lines.is_empty() && current.trim().is_empty() {
            continue;
        }
        if !current.trim().is_empty() && current.width() + word.trim_end().width() > width {
            lines.push(std::mem::replace(&mut current, indent.clone()));
        }
        for c in word.chars() {
            if current.width() + c.width().unwrap_or_default() > width {
                if c == ' ' {
                    continue;
                }
                lines.push(std::mem::replace(&mut current, indent.clone()));
            }
            current.push(c);
        }
    }
    lines.push(current);
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Half of the screen is left for the text.
fn indent(line: &str, width: usize) -> usize {
    let text = line.trim_start_matches(' ');
    let own = spaces(line);
    let second = text.find("  ").map(|gap| own + text[..gap].width() + spaces(&text[gap..]));
    second.filter(|second| *second <= width / 2).unwrap_or(own.min(width / 2))
}

/// How many spaces a text begins with.
fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_and_keeps_the_indent() {
        assert_eq!(broken("  one two three", 9), ["  one two", "  three"]);
        assert_eq!(broken("short", 9), ["short"]);
        assert_eq!(broken("", 9), [""]);
    }

    #[test]
    fn columns_go_on_below_the_second() {
        assert_eq!(broken("  j k   up and down", 16), ["  j k   up and", "        down"]);
        assert_eq!(broken("web-0   web   Keep", 16), ["web-0   web", "        Keep"]);
        // Too far to the right: no room would be left.
        assert_eq!(broken("resourceslice/web-0   Keep: needed", 24), ["resourceslice/web-0", "Keep: needed"]);
    }

    #[test]
    fn breaks_long_words_anywhere() {
        assert_eq!(broken("a-name-that-is-long", 8), ["a-name-t", "hat-is-l", "ong"]);
        assert_eq!(broken("  错误错误错误", 6), ["  错误", "  错误", "  错误"]);
        assert!(broken("      deep", 4).iter().all(|line| line.width() <= 4));
    }

    #[test]
    fn scrolls_to_the_end_and_no_further() {
        let mut pane = Pane::new((0..10).map(|line| line.to_string()).collect());
        let on_screen = |pane: &Pane| pane.visible(10, 4);
        assert_eq!(on_screen(&pane), (["0", "1", "2", "3"].map(str::to_owned).to_vec(), 0, 6));
        pane.step(99, 10, 4);
        assert_eq!(on_screen(&pane), (["6", "7", "8", "9"].map(str::to_owned).to_vec(), 6, 0));
        pane.step(-1, 10, 4);
        pane.replace(vec!["only".to_owned()]);
        assert_eq!(on_screen(&pane), (vec!["only".to_owned()], 0, 0));
    }
}
