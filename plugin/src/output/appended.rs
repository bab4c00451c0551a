//! A table whose rows come one after the other: the header once, and columns that stay aligned.

use super::table::{Widths, sanitized};

/// What was printed of it so far.
#[derive(Debug)]
pub struct Appended {
    widths: Widths,
    /// Is the header still to be printed?
    header: bool,
}

impl Appended {
    /// A table of which nothing was printed.
    pub fn new(no_headers: bool) -> Self {
        Appended { widths: Widths::default(), header: !no_headers }
    }

    /// The lines of more rows. `style` may colour a cell by its header.
    pub fn rows(&mut self, headers: &[&str], rows: Vec<Vec<String>>, style: impl Fn(&str, &str) -> String) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| sanitized(cell)).collect()).collect();
        let header: Vec<String> = headers.iter().map(ToString::to_string).collect();
        let headed = std::mem::take(&mut self.header);
        if headed {
            self.widths.grow(&header);
        }
        rows.iter().for_each(|row| self.widths.grow(row));
        let header = headed.then(|| self.widths.line(&header, |_, cell| cell.to_owned()));
        let rows = rows.iter().map(|row| self.widths.line(row, |index, cell| style(headers[index], cell)));
        header.into_iter().chain(rows).map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_aligned_and_has_one_header() {
        let mut table = Appended::new(false);
        let mut add = |rows: &[[&str; 2]]| {
            let rows = rows.iter().map(|row| row.map(ToOwned::to_owned).to_vec()).collect();
            table.rows(&["EVENT", "NAME"], rows, |_, cell| cell.to_owned())
        };
        assert_eq!(add(&[]), "");
        assert_eq!(add(&[["ADDED", "a"], ["MODIFIED", "b"]]), "EVENT      NAME\nADDED      a\nMODIFIED   b\n");
        assert_eq!(add(&[["LEFT", "a"]]), "LEFT       a\n");
    }
}
