//! Tables as kubectl draws them: upper-case headers, three spaces between columns, no borders.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One table.
pub struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
    /// How wide it may be.
    limit: Option<usize>,
}

/// Spaces between columns, and the least width of one: those of kubectl's tab writer.
const PADDING: usize = 3;
const MIN_WIDTH: usize = 6;
/// No column is made narrower than that.
const NARROWEST: usize = 8;

impl Table {
    /// A table of rows that are as long as the headers.
    pub fn new(headers: &[&str], rows: Vec<Vec<String>>) -> Self {
        Table { headers: headers.iter().map(ToString::to_string).collect(), rows, limit: None }
    }

    /// No wider than so many columns.
    pub fn within(self, columns: usize) -> Self {
        Table { limit: Some(columns), ..self }
    }

    /// The lines, indented. `style` may colour the text of a cell, which is padded by its uncoloured width.
    ///
    /// A table without rows has no header either.
    pub fn lines(&self, with_headers: bool, indent: &str, style: impl Fn(&str, &str) -> String) -> Vec<String> {
        if self.rows.is_empty() {
            return vec![];
        }
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|cell| sanitized(cell)).collect()).collect();
        let mut widths = Widths::default();
        if with_headers {
            widths.grow(&self.headers);
        }
        rows.iter().for_each(|row| widths.grow(row));
        let widths = self.limit.map_or(widths.clone(), |limit| widths.fitted(limit.saturating_sub(indent.width())));
        let line = |line: String| (indent.to_owned() + &line).trim_end().to_owned();
        let header = with_headers.then(|| line(widths.line(&self.headers, |_, header| header.to_owned())));
        let styled = |index: usize, cell: &str| style(&self.headers[index], cell);
        let body = rows.iter().map(|row| line(widths.line(row, styled)));
        header.into_iter().chain(body).collect()
    }
}

/// How wide columns are. They only grow, so that lines which come one after the other stay aligned.
#[derive(Debug, Clone, Default)]
pub struct Widths(Vec<usize>);

impl Widths {
    /// Makes room for these cells.
    pub fn grow(&mut self, cells: &[String]) {
        self.0.resize(self.0.len().max(cells.len()), 0);
        for (width, cell) in self.0.iter_mut().zip(cells) {
            *width = cell.width().max(*width);
        }
    }

    /// The same for a terminal of so many columns: the last are left out where there is no room for all, and then the widest
    /// are made narrower.
    pub fn fitted(&self, columns: usize) -> Self {
        let total = |widths: &[usize]| match widths.split_last() {
            None => 0,
            Some((last, rest)) => rest.iter().map(|width| padded(*width)).sum::<usize>() + last,
        };
        let least: Vec<usize> = self.0.iter().map(|width| *width.min(&NARROWEST)).collect();
        let shown = (1..=least.len()).rev().find(|shown| total(&least[..*shown]) <= columns).unwrap_or_default();
        let mut widths = self.0[..shown].to_vec();
        while total(&widths) > columns
            && let Some(widest) = widths.iter_mut().max()
        {
            *widest -= 1;
        }
        Widths(widths)
    }

    /// A line of cells, which are shortened where they do not fit. `style` may colour the text of a cell by its index; it
    /// is padded by its uncoloured width.
    pub fn line(&self, cells: &[String], style: impl Fn(usize, &str) -> String) -> String {
        let mut line = String::new();
        for (index, (cell, width)) in cells.iter().zip(&self.0).enumerate() {
            let shown = shortened(cell, *width);
            line += &style(index, &shown);
            if index + 1 < self.0.len() {
                line += &" ".repeat(padded(*width) - shown.width());
            }
        }
        line
    }
}

fn padded(width: usize) -> usize {
    (width + PADDING).max(MIN_WIDTH)
}

/// What takes no more than so many columns: the middle is left out, for the ends tell names apart.
pub fn shortened(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return text.into();
    }
    let room = columns.saturating_sub(1);
    let (head, tail) = (room.div_ceil(2), room / 2);
    let fitting = |chars: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut left = room;
        chars
            .take_while(|c| {
                let width = c.width().unwrap_or_default();
                left.checked_sub(width).map(|rest| left = rest).is_some()
            })
            .collect()
    };
    let head = fitting(&mut text.chars(), head);
    let tail = fitting(&mut text.chars().rev(), tail);
    head.into_iter().chain(['…']).chain(tail.into_iter().rev()).collect::<String>().into()
}

/// Text that cannot leave its cell nor speak to the terminal: ends at the first line break, control characters made
/// visible. What reconciling says comes from the cluster.
pub fn sanitized(text: &str) -> String {
    let cut = text.find(['\n', '\r', '\u{b}', '\u{c}']);
    let mut shown = String::with_capacity(text.len());
    for c in text[..cut.unwrap_or(text.len())].chars() {
        match c {
            '\t' => shown.push(' '),
            // ESC is ^[, as kubectl writes it; the others follow the same scheme.
            '\0'..='\u{1f}' => shown.extend(['^', char::from(c as u8 + 0x40)]),
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    if cut.is_some() {
        shown += "...";
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(headers: &[&str], rows: &[&[&str]], with_headers: bool) -> String {
        let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        Table::new(headers, rows).lines(with_headers, "", |_, cell| cell.to_owned()).join("\n")
    }

    #[test]
    fn pads_as_tabwriter_does() {
        let table = draw(&["NAME", "A", "AGE"], &[&["web", "1", "5m"], &["longer-name", "", "9d"]], true);
        assert_eq!(table, "NAME          A     AGE\nweb           1     5m\nlonger-name         9d");
    }

    #[test]
    fn no_rows_have_no_header() {
        assert_eq!(draw(&["NAME"], &[], true), "");
    }

    #[test]
    fn leaves_no_trailing_spaces() {
        assert_eq!(draw(&["NAME", "MESSAGE"], &[&["a", ""]], false), "a");
    }

    #[test]
    fn widths_are_of_the_text_without_colour() {
        let table = Table::new(&["V", "N"], vec![vec!["Keep".into(), "x".into()]]);
        assert_eq!(table.lines(false, "", |_, cell| format!("<{cell}>")), ["<Keep>   <x>"]);
    }

    #[test]
    fn fits_a_terminal() {
        let mut widths = Widths::default();
        let cells = ["a-name-that-is-rather-long", "Hold", "Reason", "9d"].map(ToOwned::to_owned);
        widths.grow(&cells);
        let draw = |columns| widths.fitted(columns).line(&cells, |_, cell| cell.to_owned());
        assert_eq!(draw(80), "a-name-that-is-rather-long   Hold   Reason   9d");
        assert_eq!(draw(30), "a-na…long   Hold   Reason   9d");
        assert_eq!(draw(29), "a-na…ong   Hold   Reason   9d");
        assert_eq!(draw(28), "a-name…-long   Hold   Reason");
        assert_eq!(draw(9), "a-na…long");
        assert_eq!(draw(3), "");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(draw(&["NAME", "A"], &[&["错误", "1"], &["four", "2"]], false), "错误   1\nfour   2");
    }

    #[test]
    fn cells_cannot_speak_to_the_terminal() {
        assert_eq!(sanitized("a\u{1b}[31mred"), "a^[[31mred");
        assert_eq!(sanitized("first\nsecond"), "first...");
        assert_eq!(sanitized("\u{202e}x\u{9b}"), "\\u{202e}x\\u{9b}");
    }
}
