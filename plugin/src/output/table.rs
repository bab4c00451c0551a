//! Tables as kubectl draws them: upper-case headers, three spaces between columns, no borders.

use unicode_width::UnicodeWidthStr;

/// One table.
pub struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Spaces between columns, and the least width of one: those of kubectl's tab writer.
const PADDING: usize = 3;
const MIN_WIDTH: usize = 6;

impl Table {
    /// A table of rows that are as long as the headers.
    pub fn new(headers: &[&str], rows: Vec<Vec<String>>) -> Self {
        Table { headers: headers.iter().map(ToString::to_string).collect(), rows }
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
        let width_of = |text: &str| (text.width() + PADDING).max(MIN_WIDTH);
        let widths: Vec<usize> = (0..self.headers.len())
            .map(|column| {
                let header = if with_headers { width_of(&self.headers[column]) } else { 0 };
                rows.iter().map(|row| width_of(&row[column])).max().unwrap_or_default().max(header)
            })
            .collect();
        let line = |cells: &mut dyn Iterator<Item = (String, usize)>| {
            let mut line = indent.to_owned();
            for ((cell, length), width) in cells.zip(&widths) {
                line += &cell;
                line += &" ".repeat(width - length);
            }
            line.trim_end().to_owned()
        };
        let header =
            with_headers.then(|| line(&mut self.headers.iter().map(|header| (header.clone(), header.width()))));
        let body = rows.iter().map(|row| {
            line(&mut self.headers.iter().zip(row).map(|(header, cell)| (style(header, cell), cell.width())))
        });
        header.into_iter().chain(body).collect()
    }
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
