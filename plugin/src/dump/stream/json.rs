//! Takes JSON apart without parsing it: brackets are counted, and strings are skipped.

use std::io::BufRead;

use memchr::memchr2;

use super::{Keep, OtherShape, Part};

/// Splits objects that follow each other. Of an object with `items`, each item comes first and then the object without
/// them. Whitespace is dropped; with [`Keep::Facts`], so is the content of each string that is called `manifest`.
pub(super) fn split(
    text: &mut impl BufRead,
    keep: Keep,
    mut each: impl FnMut(Part<'_>) -> Result<(), OtherShape>,
) -> Result<(), OtherShape> {
    let mut splitter = Splitter { cut: keep == Keep::Facts, ..Splitter::default() };
    loop {
        let buffer = text.fill_buf()?;
        if buffer.is_empty() {
            return if splitter.depth == 0 { Ok(()) } else { Err(OtherShape) };
        }
        let length = buffer.len();
        splitter.feed(buffer, &mut each)?;
        text.consume(length);
    }
}

/// Where the scan is.
#[derive(Default)]
struct Splitter {
    cut: bool,
    /// How many brackets are open.
    depth: usize,
    /// The document, without items.
    document: Vec<u8>,
    /// The item, while one is open.
    item: Vec<u8>,
    /// Are we in the list `items` of a document?
    in_items: bool,
    string: Option<Text>,
    /// The bytes of the last string, as far as they can be a key that matters.
    last: Vec<u8>,
    /// Was the last token a colon, and so `last` the key of what comes?
    after_colon: bool,
}

/// A string that is open.
#[derive(Default, Clone, Copy)]
struct Text {
    /// The next byte is escaped.
    escaped: bool,
    /// Its content is dropped.
    dropped: bool,
}

/// No key that matters is longer.
const LONGEST_KEY: usize = 8;

impl Splitter {
    fn feed(
        &mut self,
        mut bytes: &[u8],
        each: &mut impl FnMut(Part<'_>) -> Result<(), OtherShape>,
    ) -> Result<(), OtherShape> {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.string.is_some() {
                bytes = self.within_string(bytes);
                continue;
            }
            bytes = rest;
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                // A document, and an item, is an object.
                b'"' if self.depth == 0 || (self.in_items && self.depth == 2) => return Err(OtherShape),
                b'"' => {
                    let dropped = self.cut && self.after_colon && self.last == b"manifest";
                    self.after_colon = false;
                    self.last.clear();
                    self.string = Some(Text { escaped: false, dropped });
                    self.push(b'"');
                }
                b'{' | b'[' => self.open(byte)?,
                b'}' | b']' => self.close(byte, each)?,
                b':' => {
                    self.after_colon = true;
                    self.push(byte);
                }
                // Between the items.
                b',' if self.in_items && self.depth == 2 => {}
                byte => {
                    if self.depth == 0 || (self.in_items && self.depth == 2) {
                        return Err(OtherShape);
                    }
                    self.after_colon = false;
                    self.push(byte);
                }
            }
        }
        Ok(())
    }

    /// Takes what belongs to the string, and returns the rest.
    fn within_string<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(mut text) = self.string else { return bytes };
        if text.escaped {
            text.escaped = false;
            self.string = Some(text);
            self.extend(&bytes[..1], text.dropped);
            return &bytes[1..];
        }
        let Some(end) = memchr2(b'"', b'\\', bytes) else {
            self.extend(bytes, text.dropped);
            return &[];
        };
        self.extend(&bytes[..end], text.dropped);
        if bytes[end] == b'"' {
            self.string = None;
            self.push(b'"');
        } else {
            self.string = Some(Text { escaped: true, ..text });
            self.extend(b"\\", text.dropped);
        }
        &bytes[end + 1..]
    }

    fn open(&mut self, byte: u8) -> Result<(), OtherShape> {
        let begins_items = byte == b'[' && self.depth == 1 && self.after_colon && self.last == b"items";
        let within_items = self.in_items && self.depth == 2;
        if (self.depth == 0 || within_items) && byte != b'{' {
            return Err(OtherShape);
        }
        self.after_colon = false;
        self.push(byte);
        self.depth += 1;
        if begins_items {
            self.in_items = true;
        }
        Ok(())
    }

    fn close(&mut self, byte: u8, each: &mut impl FnMut(Part<'_>) -> Result<(), OtherShape>) -> Result<(), OtherShape> {
        if self.in_items && self.depth == 2 {
            self.in_items = false;
        }
        // Before the depth falls: it says where the bracket belongs.
        self.push(byte);
        self.depth = self.depth.checked_sub(1).ok_or(OtherShape)?;
        self.after_colon = false;
        if self.depth == 0 {
            return each(Part::JsonDocument(std::mem::take(&mut self.document)));
        }
        if self.in_items && self.depth == 2 {
            return each(Part::JsonItem(std::mem::take(&mut self.item)));
        }
        Ok(())
    }

    fn push(&mut self, byte: u8) {
        self.target().push(byte);
    }

    fn extend(&mut self, bytes: &[u8], dropped: bool) {
        if dropped {
            return;
        }
        self.target().extend_from_slice(bytes);
        let room = (LONGEST_KEY + 1).saturating_sub(self.last.len());
        self.last.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// What is within the list of items belongs to an item.
    fn target(&mut self) -> &mut Vec<u8> {
        if self.in_items { &mut self.item } else { &mut self.document }
    }
}
