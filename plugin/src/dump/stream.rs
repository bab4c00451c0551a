//! Large files object by object: neither the text of a file nor what nobody asked for is ever in memory as a whole.
//!
//! Only the shapes that kubectl and this plugin write are taken apart here. What is of another shape, or malformed, is
//! nobody's error yet: the caller reads the file as a whole then, and says what is wrong with it.

mod json;
mod yaml;

use std::io::{BufRead, BufReader, Read};

use eno_shared::api::{Kind, ResourceSlice};
use eno_shared::names::{ENO_API_VERSION, ENO_GROUP};
use serde_json::Value;
use serde_json::value::RawValue;

use super::cut::cut;
use super::documents::{Typed, flatten, flatten_typed, yaml_object};

/// How much of the objects is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All objects, whole.
    Objects,
    /// All objects; of manifests, what they are of.
    Names,
    /// Eno's and namespaces, with empty manifests: all that verdicts rest on.
    Facts,
}

/// A buffer for the system's reads.
const BUFFER: usize = 256 << 10;

/// The text is not of a shape that can be taken apart.
#[derive(Debug)]
pub(super) struct OtherShape;

impl<E: std::error::Error> From<E> for OtherShape {
    fn from(_: E) -> Self {
        OtherShape
    }
}

/// Reads the objects of a text.
///
/// # Errors
/// [`OtherShape`], also where the text cannot be read.
pub(super) fn objects(text: impl Read, keep: Keep) -> Result<Vec<Box<RawValue>>, OtherShape> {
    let mut text = BufReader::with_capacity(BUFFER, text);
    if text.fill_buf()?.starts_with("\u{feff}".as_bytes()) {
        text.consume('\u{feff}'.len_utf8());
    }
    let mut kept = Kept { keep, objects: vec![], untyped: vec![], items: false };
    let first = text.fill_buf()?.iter().find(|byte| !byte.is_ascii_whitespace()).copied();
    match first {
        None => {}
        Some(b'{') => json::split(&mut text, keep, |part| kept.part(part))?,
        Some(_) => yaml::split(&mut text, keep, |part| kept.part(part))?,
    }
    Ok(kept.objects)
}

/// What a text is taken apart into.
enum Part<'t> {
    /// An item of a list, as JSON. The list itself follows.
    JsonItem(Vec<u8>),
    /// A document, as JSON: where it is a list, without its items.
    JsonDocument(Vec<u8>),
    /// An item of a list, as YAML. The list itself follows.
    YamlItem(&'t str),
    /// A document, as YAML: where it is a list, without its items.
    YamlDocument(&'t str),
}

struct Kept {
    keep: Keep,
    objects: Vec<Box<RawValue>>,
    /// Items that leave their kind to the list.
    untyped: Vec<Box<RawValue>>,
    /// Were there items? What they are items of follows.
    items: bool,
}

impl Kept {
    fn part(&mut self, part: Part<'_>) -> Result<(), OtherShape> {
        match part {
            Part::JsonItem(json) => self.item(RawValue::from_string(String::from_utf8(json)?)?),
            Part::YamlItem(yaml) => self.item(yaml_object(yaml).map_err(|_| OtherShape)?.ok_or(OtherShape)?),
            Part::JsonDocument(json) => self.document(RawValue::from_string(String::from_utf8(json)?)?),
            Part::YamlDocument(yaml) => match yaml_object(yaml).map_err(|_| OtherShape)? {
                Some(document) => self.document(document),
                None => Ok(()),
            },
        }
    }

    fn item(&mut self, item: Box<RawValue>) -> Result<(), OtherShape> {
        let typed: Typed = serde_json::from_str(item.get())?;
        self.items = true;
        if typed.kind.is_none() {
            self.untyped.push(item);
            return Ok(());
        }
        self.objects(item)
    }

    fn document(&mut self, document: Box<RawValue>) -> Result<(), OtherShape> {
        let Typed { kind, .. } = serde_json::from_str(document.get())?;
        // In an object that is no list, `items` is a field like others: what is in it does not exist for that.
        if std::mem::take(&mut self.items) && kind.is_none_or(|kind| !kind.ends_with("List")) {
            return Err(OtherShape);
        }
        for item in std::mem::take(&mut self.untyped) {
            let typed = flatten_typed(item, &document).map_err(|_| OtherShape)?;
            self.objects(typed)?;
        }
        self.objects(document)
    }

    /// Keeps an object, or those of a list.
    fn objects(&mut self, object: Box<RawValue>) -> Result<(), OtherShape> {
        let before = self.objects.len();
        flatten(object, &mut self.objects).map_err(|_| OtherShape)?;
        let all = self.objects.split_off(before);
        match self.keep {
            Keep::Objects => self.objects.extend(all),
            Keep::Names => self.objects.extend(all.into_iter().map(named)),
            Keep::Facts => self.objects.extend(all.into_iter().filter(|object| decides(object))),
        }
        Ok(())
    }
}

/// Cuts the manifests of a slice of Eno's. What cannot be read stays as it is, to be complained of.
fn named(object: Box<RawValue>) -> Box<RawValue> {
    let is_slice = matches!(
        serde_json::from_str(object.get()),
        Ok(Typed { api_version: Some(api_version), kind: Some(kind) })
            if api_version == ENO_API_VERSION && kind == ResourceSlice::KIND
    );
    // A field that is there twice is not a value of its own any more: then it would read as if it were there once.
    let value = if is_slice { serde_json::from_str::<Value>(object.get()).ok() } else { None };
    let Some(mut slice) = value else { return object };
    if serde_json::from_str::<ResourceSlice>(object.get()).is_err() {
        return object;
    }
    cut(&mut slice, false);
    serde_json::value::to_raw_value(&slice).unwrap_or(object)
}

/// Can a verdict rest on it? What cannot be read may be anything.
fn decides(object: &RawValue) -> bool {
    match serde_json::from_str::<Typed>(object.get()) {
        Ok(Typed { api_version: Some(api_version), kind: Some(kind) }) => {
            let group = api_version.split_once('/').map_or("", |(group, _)| group);
            group == ENO_GROUP
                || super::marker::is_marker(&api_version, &kind)
                || (group.is_empty() && kind == "Namespace")
        }
        Ok(_) | Err(_) => true,
    }
}

#[cfg(test)]
mod tests;
