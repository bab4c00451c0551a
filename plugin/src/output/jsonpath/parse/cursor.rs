//! Words, numbers and quoted texts of a template.

use serde_json::Value;

/// What is left to be read.
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
}

impl Cursor<'_> {
    /// A quoted text, a number, `true` or `false`.
    pub(super) fn literal(&mut self) -> Result<Option<Value>, String> {
        if let Some(text) = self.quoted()? {
            return Ok(Some(Value::String(text)));
        }
        for (word, value) in [("true", true), ("false", false)] {
            if self.keyword(word) {
                return Ok(Some(Value::Bool(value)));
            }
        }
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && !"-.".contains(c)).unwrap_or(self.rest.len());
        let number = &self.rest[..end];
        if !number.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Ok(None);
        }
        self.rest = &self.rest[end..];
        serde_json::from_str(number).map(Some).map_err(|_| format!("cannot parse number {number}"))
    }

    /// A text in single or double quotes.
    pub(super) fn quoted(&mut self) -> Result<Option<String>, String> {
        let Some(quote) = self.rest.chars().next().filter(|c| "'\"".contains(*c)) else { return Ok(None) };
        let mut text = String::new();
        let mut characters = self.rest[1..].char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    // Stays escaped: within brackets a dot would end the field.
                    Some((_, '.')) => text.push_str("\\."),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                c if c == quote => {
                    self.rest = &self.rest[at + 2..];
                    return Ok(Some(text));
                }
                c => text.push(c),
            }
        }
        Err("unterminated quoted string".to_owned())
    }

    pub(super) fn integer(&mut self) -> Option<i64> {
        let digits = self.rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(self.rest.len());
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    pub(super) fn keyword(&mut self, word: &str) -> bool {
        let whole = self.rest.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
        whole && self.take(word)
    }

    pub(super) fn take(&mut self, prefix: &str) -> bool {
        let stripped = self.rest.strip_prefix(prefix);
        self.rest = stripped.unwrap_or(self.rest);
        stripped.is_some()
    }

    pub(super) fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }
}
