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
            if splitter.dropping.is_some_and(|dropping| dropping.quote.is_some()) {
                return Err(OtherShape);
            }
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
    dropping: Option<Dropping>,
}

/// A value of several lines that is being dropped.
#[derive(Clone, Copy)]
struct Dropping {
    /// Indentation of its key: all lines of the value are deeper.
    key: usize,
    /// What ends it; a block ends with the indentation.
    quote: Option<u8>,
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
        if let Some(Dropping { key, quote }) = self.dropping {
            match quote {
                None if content.is_empty() || indent > key => return Ok(()),
                None => self.dropping = None,
                Some(_) if content.is_empty() => return Ok(()),
                // The text in quotes is none: whatever this is, nothing may be lost of it.
                Some(_) if indent <= key => return Err(OtherShape),
                Some(quote) => {
                    match closing(content, quote) {
                        None => {}
                        Some(end) if end + 1 == content.len() => self.dropping = None,
                        Some(_) => return Err(OtherShape),
                    }
                    return Ok(());
                }
            }
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
            Line::Emptied { until, rest } => {
                target.extend_from_slice(&line[..until]);
                target.extend_from_slice(b" ''\n");
                self.dropping = rest;
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
    /// The value after this place is dropped, and the rest of it, where it has more lines.
    Emptied {
        until: usize,
        rest: Option<Dropping>,
    },
}

fn cut(line: &[u8]) -> Line {
    const KEY: &[u8] = b"manifest:";
    let spaces = line.iter().take_while(|byte| **byte == b' ').count();
    let key = if line[spaces..].starts_with(b"- ") { spaces + 2 } else { spaces };
    let Some(value) = line[key..].strip_prefix(KEY) else { return Line::Whole };
    let until = key + KEY.len();
    let value = value.trim_ascii();
    match value {
        b"|" | b"|-" | b"|+" | b">" | b">-" | b">+" => {
            Line::Emptied { until, rest: Some(Dropping { key, quote: None }) }
        }
        [quote @ (b'\'' | b'"'), text @ ..] => match closing(text, *quote) {
            Some(end) if end + 1 == text.len() => Line::Emptied { until, rest: None },
            Some(_) => Line::Whole,
            None => Line::Emptied { until, rest: Some(Dropping { key, quote: Some(*quote) }) },
        },
        _ => Line::Whole,
    }
}

/// Where the text in quotes ends. A quote within is doubled (`'`), or escaped (`"`).
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut from = 0;
    while from < text.len() {
        let found = if quote == b'"' {
            memchr::memchr2(b'"', b'\\', &text[from..])
        } else {
            memchr::memchr(b'\'', &text[from..])
        };
        let at = from + found?;
        let within = text[at] == b'\\' || (quote == b'\'' && text.get(at + 1) == Some(&b'\''));
        if !within {
            return Some(at);
        }
        from = at + 2;
    }
    None
}
