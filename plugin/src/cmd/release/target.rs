//! Which objects are to be released.

use eno_shared::api::{Composition, Kind as _, ResourceSlice};
use eno_shared::client::ReadError;
use eno_shared::names::{ENO_GROUP, ENO_VERSION};

use crate::failure::Failure;

/// The kinds that can be released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A resource slice.
    Slice,
    /// A composition.
    Composition,
}

/// One object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub kind: Kind,
    pub name: String,
}

impl Target {
    /// Reads `TYPE/NAME…`, or `TYPE NAME…`.
    pub fn parse_all(words: &[String]) -> Result<Vec<Self>, Failure> {
        let malformed = |word: &str| {
            Failure::local(format_args!(
                "expected TYPE/NAME, such as resourceslice/NAME or composition/NAME, not {word:?}"
            ))
        };
        let of = |kind: &str, name: &str| match name {
            "" => Err(Failure::local("arguments in resource/name form must have a single resource and name")),
            name => Ok(Target { kind: Kind::parse(kind)?, name: name.to_owned() }),
        };
        match words {
            [kind, names @ ..] if !kind.contains('/') && !names.is_empty() => {
                match names.iter().find(|name| name.contains('/')) {
                    Some(name) => Err(malformed(name)),
                    None => names.iter().map(|name| of(kind, name)).collect(),
                }
            }
            words => words
                .iter()
                .map(|word| word.split_once('/').ok_or_else(|| malformed(word)).and_then(|(kind, name)| of(kind, name)))
                .collect(),
        }
    }
}

impl Kind {
    fn parse(text: &str) -> Result<Self, Failure> {
        let plain = text.to_ascii_lowercase();
        let plain = plain
            .strip_suffix(&format!(".{ENO_VERSION}.{ENO_GROUP}"))
            .or(plain.strip_suffix(&format!(".{ENO_GROUP}")))
            .unwrap_or(&plain);
        match plain {
            "slice" | "slices" | ResourceSlice::SINGULAR | ResourceSlice::PLURAL => Ok(Kind::Slice),
            "comp" | "comps" | Composition::SINGULAR | Composition::PLURAL => Ok(Kind::Composition),
            _ => Err(Failure::local(format_args!(
                "cannot release a {text:?}: the type must be resourceslice or composition"
            ))),
        }
    }

    /// The singular, as people type it.
    pub fn singular(self) -> &'static str {
        match self {
            Kind::Slice => ResourceSlice::SINGULAR,
            Kind::Composition => Composition::SINGULAR,
        }
    }

    /// The path of the objects of a namespace.
    pub fn path(self, namespace: &str) -> String {
        match self {
            Kind::Slice => ResourceSlice::path(Some(namespace)),
            Kind::Composition => Composition::path(Some(namespace)),
        }
    }

    /// A request about such an object failed.
    pub fn failure(self, error: &ReadError, host: &str) -> Failure {
        match self {
            Kind::Slice => Failure::read::<ResourceSlice>(error, host),
            Kind::Composition => Failure::read::<Composition>(error, host),
        }
    }

    /// It does not exist.
    pub fn not_found(self, name: &str) -> Failure {
        match self {
            Kind::Slice => Failure::not_found::<ResourceSlice>(name, false),
            Kind::Composition => Failure::not_found::<Composition>(name, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Vec<(Kind, String)>, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let targets = Target::parse_all(&words).map_err(|failure| failure.to_string())?;
        Ok(targets.into_iter().map(|target| (target.kind, target.name)).collect())
    }

    #[test]
    fn reads_both_forms() {
        let (slice, composition) = (|name: &str| (Kind::Slice, name.to_owned()), (Kind::Composition, "web".to_owned()));
        assert_eq!(parsed(&["slice/a", "comp/web"]), Ok(vec![slice("a"), composition]));
        assert_eq!(parsed(&["resourceslices.eno.azure.io", "a", "b"]), Ok(vec![slice("a"), slice("b")]));
    }

    #[test]
    fn says_what_it_cannot_release() {
        assert!(parsed(&["pod/x"]).unwrap_err().contains("cannot release a \"pod\""));
        assert!(parsed(&["slice", "slice/a"]).unwrap_err().contains("expected TYPE/NAME"));
        assert!(parsed(&["web"]).unwrap_err().contains("expected TYPE/NAME"));
        assert!(parsed(&["slice/"]).unwrap_err().contains("single resource and name"));
    }
}
