//! Which object is asked about.

use eno_shared::api::{Composition, Kind as _, ResourceSlice, Symphony};
use eno_shared::names::{ENO_GROUP, ENO_VERSION};

use crate::failure::Failure;

/// The kinds that can be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd) enum Kind {
    /// A resource slice.
    Slice,
    /// A composition.
    Composition,
    /// A symphony.
    Symphony,
    /// A namespace.
    Namespace,
    /// The pod of a synthesizer.
    Pod,
}

/// One object.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cmd) struct Target {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
}

impl Target {
    /// Reads `TYPE/NAME`, or `TYPE` and `NAME`.
    pub(in crate::cmd) fn parse(words: &[String]) -> Result<Self, Failure> {
        let (kind, name) = match words {
            [one] => one.split_once('/').ok_or_else(|| {
                Failure::local(format_args!(
                    "expected TYPE/NAME, such as resourceslice/NAME or composition/NAME, not {one:?}"
                ))
            })?,
            [kind, name] if !kind.contains('/') && !name.contains('/') => (kind.as_str(), name.as_str()),
            _ => {
                return Err(Failure::local(
                    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl eno why resource/<resource_name>' instead of 'kubectl eno why resource resource/<resource_name>')",
                ));
            }
        };
        if name.is_empty() {
            return Err(Failure::local("arguments in resource/name form must have a single resource and name"));
        }
        let plain = kind.to_ascii_lowercase();
        let plain = plain
            .strip_suffix(&format!(".{ENO_VERSION}.{ENO_GROUP}"))
            .or(plain.strip_suffix(&format!(".{ENO_GROUP}")))
            .unwrap_or(&plain);
        let kind = match plain {
            "slice" | "slices" | ResourceSlice::SINGULAR | ResourceSlice::PLURAL => Kind::Slice,
            "comp" | "comps" | Composition::SINGULAR | Composition::PLURAL => Kind::Composition,
            Symphony::SINGULAR | Symphony::PLURAL => Kind::Symphony,
            "ns" | "namespace" | "namespaces" if !kind.contains('.') => Kind::Namespace,
            "po" | "pod" | "pods" if !kind.contains('.') => Kind::Pod,
            _ => {
                return Err(Failure::local(format_args!(
                    "unknown type {kind:?}: it must be resourceslice, composition, symphony, namespace or pod"
                )));
            }
        };
        Ok(Target { kind, name: name.to_owned() })
    }
}

impl Kind {
    /// The singular, as people type it.
    pub(in crate::cmd) fn singular(self) -> &'static str {
        match self {
            Kind::Slice => ResourceSlice::SINGULAR,
            Kind::Composition => Composition::SINGULAR,
            Kind::Symphony => Symphony::SINGULAR,
            Kind::Namespace => "namespace",
            Kind::Pod => "pod",
        }
    }

    /// The singular with its group, as `kubectl -o name` prints it.
    pub(in crate::cmd) fn full_name(self) -> String {
        match self {
            Kind::Slice | Kind::Composition | Kind::Symphony => format!("{}.{ENO_GROUP}", self.singular()),
            Kind::Namespace | Kind::Pod => self.singular().to_owned(),
        }
    }

    /// It does not exist.
    pub(in crate::cmd) fn not_found(self, name: &str, offline: bool) -> Failure {
        match self {
            Kind::Slice => Failure::not_found::<ResourceSlice>(name, offline),
            Kind::Composition => Failure::not_found::<Composition>(name, offline),
            Kind::Symphony => Failure::not_found::<Symphony>(name, offline),
            Kind::Namespace | Kind::Pod if offline => {
                Failure::local(format_args!("{}s \"{name}\" not found in the dump", self.singular()))
            }
            Kind::Namespace | Kind::Pod => {
                Failure::verbatim(format!("Error from server (NotFound): {}s \"{name}\" not found", self.singular()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Target, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Target::parse(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn knows_the_spellings_of_kubectl() {
        for kind in [
            "slice",
            "slices",
            "resourceslice",
            "ResourceSlices",
            "resourceslices.eno.azure.io",
            "resourceslices.v1.eno.azure.io",
        ] {
            let target = Target { kind: Kind::Slice, name: "x".into() };
            assert_eq!(parse(&[&format!("{kind}/x")]), Ok(target), "{kind}");
        }
        assert_eq!(parse(&["comp", "x"]), Ok(Target { kind: Kind::Composition, name: "x".into() }));
    }

    #[test]
    fn says_what_it_cannot_explain() {
        assert!(parse(&["node/x"]).unwrap_err().contains("unknown type \"node\""));
        assert!(parse(&["pods.metrics.k8s.io/x"]).is_err());
        assert!(parse(&["resourceslices.resource.k8s.io/x"]).is_err());
        assert!(parse(&["web"]).unwrap_err().contains("expected TYPE/NAME"));
        assert!(parse(&["comp/"]).unwrap_err().contains("single resource and name"));
        assert!(parse(&["comp", "comp/x"]).is_err());
    }
}
