//! JSON without the manifests in it.

use std::sync::LazyLock;

use memchr::memchr_iter;
use memchr::memmem::Finder;

/// What a manifest begins with, as the API server writes it. Where it is written in another way the manifest stays, and
/// nothing else is different.
const KEY: &[u8] = br#""manifest":""#;

static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(KEY));

/// The most that is set aside for a body before it arrives.
const FIRST: usize = 16 * 1024;

/// JSON that arrives in pieces, without the text of the strings that are called `manifest`: those are a megabyte of a slice,
/// and no rule reads them. What is valid stays valid, with the empty string in their place. What is not may become so: nobody
/// looks into the text that is dropped.
///
/// A key is told by its text alone. In JSON a string cannot hold [`KEY`] but at its end: the quote after `manifest` would be
/// escaped. Neither can an escaped quote begin it.
#[derive(Debug, Default)]
pub struct Skimmed {
    kept: Vec<u8>,
    within: Within,
}

/// Where the last piece has ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Within {
    #[default]
    Json,
    Manifest {
        /// The next byte is escaped.
        escaped: bool,
    },
}

impl Skimmed {
    /// For so many bytes, of which most may be dropped.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Skimmed { kept: Vec::with_capacity(bytes.min(FIRST)), within: Within::Json }
    }

    /// The next piece.
    pub fn push(&mut self, mut piece: &[u8]) {
        if self.within == Within::Json {
            piece = self.key_across(piece);
        }
        while !piece.is_empty() {
            piece = match self.within {
                Within::Json => self.json(piece),
                Within::Manifest { escaped } => self.manifest(piece, escaped),
            };
        }
    }

    /// How many bytes are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Is nothing kept?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// What is kept.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.kept
    }

    /// Keeps the rest of a key that has begun in the piece before; returns what follows.
    fn key_across<'p>(&mut self, piece: &'p [u8]) -> &'p [u8] {
        let before = &self.kept[self.kept.len().saturating_sub(KEY.len() - 1)..];
        let begun = (1..=before.len())
            .rev()
            .find(|&begun| KEY.starts_with(&before[before.len() - begun..]) && piece.starts_with(&KEY[begun..]));
        let Some(begun) = begun else { return piece };
        let (rest, piece) = piece.split_at(KEY.len() - begun);
        self.kept.extend_from_slice(rest);
        self.key_ended();
        piece
    }

    /// Keeps all up to the next manifest; returns what follows.
    fn json<'p>(&mut self, piece: &'p [u8]) -> &'p [u8] {
        let end = FINDER.find(piece).map(|at| at + KEY.len());
        let (kept, piece) = piece.split_at(end.unwrap_or(piece.len()));
        self.kept.extend_from_slice(kept);
        if end.is_some() {
            self.key_ended();
        }
        piece
    }

    /// A manifest begins, unless the quote is escaped that seems to begin its key.
    fn key_ended(&mut self) {
        if self.kept[..self.kept.len() - KEY.len()].last() != Some(&b'\\') {
            self.within = Within::Manifest { escaped: false };
        }
    }

    /// Drops all up to the end of the manifest; returns what follows, its last quote included.
    fn manifest<'p>(&mut self, piece: &'p [u8], escaped: bool) -> &'p [u8] {
        match end_of_text(piece, escaped) {
            Some(end) => {
                self.within = Within::Json;
                &piece[end..]
            }
            None => {
                self.within = Within::Manifest { escaped: is_escaped(piece, escaped) };
                &[]
            }
        }
    }
}

/// How much is looked at at once.
const BLOCK: usize = 64;

/// Where the first quote is that is not escaped. `escaped` says that of the first byte.
///
/// A manifest is JSON in a string, so every tenth byte of it is an escaped quote: whole blocks are passed over in which each
/// quote follows a backslash, and no backslash does.
fn end_of_text(text: &[u8], escaped: bool) -> Option<usize> {
    let mut from = 0;
    while from < text.len() {
        let to = text.len().min(from + BLOCK);
        let mut quotes = memchr_iter(b'"', &text[from..to]).map(|at| from + at);
        if let Some(end) = quotes.find(|at| !is_escaped(&text[..*at], escaped)) {
            return Some(end);
        }
        from = to;
        while let (Some(before), Some(block)) = (text[from - 1..].first_chunk(), text[from..].first_chunk())
            && !may_end(before, block)
        {
            from += BLOCK;
        }
    }
    None
}

/// Is there a quote that no backslash comes before, or a backslash that one does? `before` is the block one byte earlier.
/// Without branches: the compiler makes vector instructions of it.
fn may_end(before: &[u8; BLOCK], block: &[u8; BLOCK]) -> bool {
    let odd = before.iter().zip(block).fold(0, |odd, (before, byte)| {
        let follows = u8::from(*before == b'\\');
        odd | (u8::from(*byte == b'"') & (follows ^ 1)) | (u8::from(*byte == b'\\') & follows)
    });
    odd != 0
}

/// Is what follows these bytes escaped? `first` says that of the first of them.
fn is_escaped(bytes: &[u8], first: bool) -> bool {
    let backslashes = bytes.iter().rev().take_while(|byte| **byte == b'\\').count();
    (backslashes % 2 == 1) != (first && backslashes == bytes.len())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn skim(pieces: &[&[u8]]) -> String {
        let mut skimmed = Skimmed::default();
        pieces.iter().for_each(|piece| skimmed.push(piece));
        String::from_utf8(skimmed.into_bytes()).unwrap()
    }

    /// Manifests, and what looks like one.
    fn slice() -> Value {
        json!({
            "metadata": {"name": "s1", "annotations": {"a\"manifest": "kept", "manifest\\": "kept", "b": "\"manifest\":\"kept\""}},
            "spec": {"resources": [
                {"manifest": json!({"kind": "A", "data": {"quoted": "\"\\\"", "nested": json!({"a": "\\"}).to_string()}}).to_string()},
                {"manifest": "", "deleted": true}, {"manifest": "\\"}, {"manifest": "\\\\\""}, {"manifest": null}, {"other": "manifest"},
            ]},
        })
    }

    fn without_manifests(mut slice: Value) -> Value {
        for resource in slice["spec"]["resources"].as_array_mut().unwrap() {
            if resource["manifest"].is_string() {
                resource["manifest"] = json!("");
            }
        }
        slice
    }

    #[test]
    fn drops_the_text_of_manifests_and_nothing_else() {
        let skimmed = skim(&[slice().to_string().as_bytes()]);
        assert_eq!(serde_json::from_str::<Value>(&skimmed).unwrap(), without_manifests(slice()));
    }

    #[test]
    fn a_manifest_may_be_cut_anywhere_by_the_pieces_it_arrives_in() {
        let whole = slice().to_string();
        let expected = skim(&[whole.as_bytes()]);
        for first in 0..=whole.len() {
            let (left, right) = whole.as_bytes().split_at(first);
            assert_eq!(skim(&[left, right]), expected, "cut at {first}");
        }
        let single: Vec<_> = whole.as_bytes().chunks(1).collect();
        assert_eq!(skim(&single), expected);
    }

    #[test]
    fn blocks_that_are_passed_over_hold_no_end() {
        let texts = ["", "\"", "\\", "\\\"", "\\\\", "\"\\\"\"", "{\"a\":\"\\\"\"}"];
        for (before, text, after) in (0..3 * BLOCK).flat_map(|n| texts.map(|text| (n, text, n % 7))) {
            let manifest = format!("{}{text}{}", "\"x".repeat(before), "y\"".repeat(after * 13));
            let whole = json!({"manifest": manifest, "then": "kept"}).to_string();
            let expected = r#"{"manifest":"","then":"kept"}"#;
            assert_eq!(skim(&[whole.as_bytes()]), expected, "{whole}");
            let pieces: Vec<_> = whole.as_bytes().chunks(BLOCK + 1).collect();
            assert_eq!(skim(&pieces), expected, "{whole}");
        }
    }

    #[test]
    fn what_is_cut_short_stays_so() {
        let whole = slice().to_string();
        for length in 0..whole.len() {
            assert!(serde_json::from_str::<Value>(&skim(&[&whole.as_bytes()[..length]])).is_err(), "{length}");
        }
    }

    #[test]
    fn a_key_that_is_written_in_another_way_stays() {
        for body in
            [r#"{"manifest" : "x"}"#, r#"{"mani\u0066est":"x"}"#, r#"{"a\"manifest":"x"}"#, r#"["manifest","x"]"#]
        {
            assert_eq!(skim(&[body.as_bytes()]), body);
        }
    }
}
