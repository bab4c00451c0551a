//! docs/performance.md: people write what it says, and each table comes from a run.

use std::fmt::Write;

use anyhow::{Context, Result};

use crate::page;

/// Where it is.
const DOCUMENT: &str = "docs/performance.md";

/// A table in Markdown.
pub struct Table {
    columns: usize,
    text: String,
}

impl Table {
    /// An empty one.
    pub fn new(columns: &[&str]) -> Self {
        let mut table = Self { columns: columns.len(), text: String::new() };
        table.row(columns);
        table.row(&vec!["---"; columns.len()]);
        table
    }

    /// One more row.
    pub fn row(&mut self, cells: &[&str]) {
        debug_assert_eq!(cells.len(), self.columns);
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "| {} |", cells.join(" | "));
    }

    /// What is said below it.
    pub fn say(&mut self, sentence: &str) {
        let _ = writeln!(self.text, "\n{sentence}");
    }
}

/// What a figure must come to, such as `p99 < 25 ms`, and that it is missed where it is: its last comparison is with the figure.
///
/// # Errors
/// It compares with no number.
pub fn must(text: &str, figure: f64) -> Result<String> {
    let (at, how) = text.char_indices().rfind(|(_, char)| "<≤≥".contains(*char)).context("it compares nothing")?;
    let number = text[at + how.len_utf8()..].split_whitespace().next().context("it ends too early")?;
    let bound: f64 = number.parse().with_context(|| format!("{number} in {text:?} is no number"))?;
    let holds = match how {
        '<' => figure < bound,
        '≤' => figure <= bound,
        _ => figure >= bound,
    };
    Ok(if holds { text.to_owned() } else { format!("{text}: **missed**") })
}

/// Prints the table of a part of `cargo xtask bench webhook`, and puts it in its place.
///
/// # Errors
/// The document has no place of that name.
pub fn keep(part: &str, table: &Table) -> Result<()> {
    println!("{part}\n{}", table.text);
    keep_text(part, &table.text)
}

/// The same of what is no table, and need not be printed.
///
/// # Errors
/// As for [`keep`].
pub fn keep_text(part: &str, new: &str) -> Result<()> {
    page::put(DOCUMENT, [&format!("<!-- bench webhook {part} -->"), &format!("<!-- end of {part} -->")], new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_is_said() {
        for (text, figure, holds) in [
            ("≤ 0.20", 0.2, true),
            ("≤ 0.20", 0.21, false),
            ("p99 < 25 ms", 24.9, true),
            ("p99 < 25 ms", 25.0, false),
            ("≥ 15000", 15_000.0, true),
            ("median < 5 ms: ≥ 50 %", 49.0, false),
        ] {
            assert_eq!(must(text, figure).unwrap().ends_with("missed**"), !holds, "{text}, {figure}");
        }
        assert!(must("little", 1.0).is_err() && must("< much", 1.0).is_err());
    }
}
