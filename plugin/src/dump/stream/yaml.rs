//! Takes YAML apart by its lines: documents at `---`, and the items of a list as kubectl writes them.

use std::io::BufRead;

use super::{Keep, OtherShape, Part};

/// Splits documents. Of a document whose `items` are a block sequence, each item comes first and then the document
/// without them. With [`Keep::Facts`], manifests that fill a line or a block of their own are emptied.
pub(super) fn split(
    text: &mut impl BufRead,
    keep: Keep,
    mut each: impl FnMut(Part<'_>) -> Result<(), OtherShape>,
) -> Result<(), OtherShape> {
    let mut splitter = Splitter { cut: keep == Keep::Facts, ..Splitter::default() };
    let mut line = vec![];
    loop {
        line.clear();
        if text.read_until(b'\n', &mut line)? == 0 {
            splitter.end_item(&mut each)?;
            return splitter.end_document(&mut each);
        }
        splitter.line(&line, &mut each)?;
    }
}

#[derive(Default)]
struct Splitter {
    cut: bool,
    document: Vec<u8>,
    item: Vec<u8>,
    items: Items,
    /// Indentation of the key whose block is being dropped.
    dropping: Option<usize>,
}

/// Where the scan is with regard to the list of items.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Items {
    #[default]
    Outside,
    /// The line `items:` was read.
    Announced,
    /// Within, at this indentation of the dashes.
    Within(usize),
}

impl Splitter {
    fn line(
        &mut self,
        line: &[u8],
        each: &mut impl FnMut(Part<'_>) -> Result<(), OtherShape>,
    ) -> Result<(), OtherShape> {
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let content = line[indent..].trim_ascii_end();
        if let Some(key) = self.dropping {
            if content.is_empty() || indent > key {
                return Ok(());
            }
            self.dropping = None;
        }
        if indent == 0 && is_separator(content) {
            self.end_item(each)?;
            self.end_document(each)?;
            // What follows on the line begins the document.
            self.document.extend_from_slice(line);
            return Ok(());
        }
        if self.items == Items::Announced && !content.is_empty() && !content.starts_with(b"#") {
            let begins = is_dash(content);
            self.items = if begins { Items::Within(indent) } else { Items::Outside };
        }
        match self.items {
            Items::Within(dash) if indent == dash && is_dash(content) => {
                self.end_item(each)?;
                // The dash becomes a space: what it leads is a document of its own.
                let mut line = line.to_vec();
                line[indent] = b' ';
                self.keep(&line);
                Ok(())
            }
            Items::Within(dash) if indent > dash || content.is_empty() => {
                self.keep(line);
                Ok(())
            }
            Items::Within(_) => {
                self.end_item(each)?;
                self.items = Items::Outside;
                self.outside(line, content);
                Ok(())
            }
            Items::Outside | Items::Announced => {
                self.outside(line, content);
                Ok(())
            }
        }
    }

    fn outside(&mut self, line: &[u8], content: &[u8]) {
        if line.starts_with(b"items:") && content == b"items:" {
            self.items = Items::Announced;
        }
        self.keep(line);
    }

    /// Keeps a line of the item or of the document. A manifest is emptied.
    fn keep(&mut self, line: &[u8]) {
        let kept = if self.cut { cut(line) } else { Line::Whole };
        let target = if matches!(self.items, Items::Within(_)) { &mut self.item } else { &mut self.document };
        match kept {
            Line::Whole => target.extend_from_slice(line),
            Line::Emptied { until } => {
                target.extend_from_slice(&line[..until]);
                target.extend_from_slice(b" ''\n");
            }
            Line::BlockEmptied { until, indent } => {
                target.extend_from_slice(&line[..until]);
                target.extend_from_slice(b" ''\n");
                self.dropping = Some(indent);
            }
        }
    }

    fn end_item(&mut self, each: &mut impl FnMut(Part<'_>) -> Result<(), OtherShape>) -> Result<(), OtherShape> {
        if !self.item.is_empty() {
            each(Part::YamlItem(std::str::from_utf8(&self.item)?))?;
            self.item.clear();
        }
        Ok(())
    }

    fn end_document(&mut self, each: &mut impl FnMut(Part<'_>) -> Result<(), OtherShape>) -> Result<(), OtherShape> {
        self.items = Items::Outside;
        if !self.document.is_empty() {
            each(Part::YamlDocument(std::str::from_utf8(&self.document)?))?;
            self.document.clear();
        }
        Ok(())
    }
}

fn is_separator(content: &[u8]) -> bool {
    content == b"---" || content.starts_with(b"--- ") || content == b"..."
}

fn is_dash(content: &[u8]) -> bool {
    content == b"-" || content.starts_with(b"- ")
}

/// What becomes of a line where manifests are not kept.
enum Line {
    Whole,
    /// The value after this place is dropped.
    Emptied { until: usize },
    /// So is the block below the key at this indentation.
    BlockEmptied { until: usize, indent: usize },
}

fn cut(line: &[u8]) -> Line {
    const KEY: &[u8] = b"manifest:";
    let spaces = line.iter().take_while(|byte| **byte == b' ').count();
    let indent = if line[spaces..].starts_with(b"- ") { spaces + 2 } else { spaces };
    let Some(value) = line[indent..].strip_prefix(KEY) else { return Line::Whole };
    let until = indent + KEY.len();
    let value = value.trim_ascii();
    match value {
        b"|" | b"|-" | b"|+" | b">" | b">-" | b">+" => Line::BlockEmptied { until, indent },
        [b'\'', within @ .., b'\''] if !has_single_quote(within) => Line::Emptied { until },
        [b'"', within @ .., b'"'] if !has_double_quote(within) => Line::Emptied { until },
        _ => Line::Whole,
    }
}

/// One that is not doubled.
fn has_single_quote(text: &[u8]) -> bool {
    let mut quotes = memchr::memchr_iter(b'\'', text);
    while let Some(first) = quotes.next() {
        if quotes.next() != Some(first + 1) {
            return true;
        }
    }
    false
}

/// One that is not escaped, or an escape of the quote that should end the text.
fn has_double_quote(text: &[u8]) -> bool {
    let mut escaped = false;
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return true,
            _ => {}
        }
    }
    escaped
}
