//! The offline source: objects in files, as `kubectl get -o yaml` and friends write them. No server is ever contacted.

pub mod cut;
mod documents;
mod files;
#[cfg(test)]
mod fuzz;
pub mod marker;
mod said;
mod stream;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eno_shared::Lookup;
use eno_shared::api::{Composition, DecodeError, Kind, Metadata, ResourceRef, ResourceSlice, decode};
use eno_shared::names::ENO_GROUP;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::outbox::Outbox;
use crate::query::{Depth, Query};
use crate::selector::Selection;
use crate::snapshot::{Namespaces, Read, Seen, Snapshot};
use crate::warnings::Warnings;
use crate::whole::WholeSlice;
use said::Said;
use stream::Keep;

/// Why nobody can say of what is not among the objects of a dump.
const NOT_IN_DUMP: &str = "the dump may be incomplete (see --complete)";

/// The objects of files.
pub struct Dump {
    documents: Vec<Box<RawValue>>,
    now: Timestamp,
    complete: bool,
    said: Said,
    /// The namespace of objects that name none.
    namespace: String,
    warnings: Warnings,
}

/// What a dump is read with.
pub struct Options {
    /// Files, folders, `-`.
    pub paths: Vec<PathBuf>,
    /// Folders with what is below them.
    pub recursive: bool,
    /// The moment at which it is judged.
    pub now: Timestamp,
    /// Is missing what is not in it?
    pub complete: bool,
    /// The namespace of objects that name none.
    pub namespace: String,
}

impl Dump {
    /// Reads the files.
    ///
    /// # Errors
    /// Where a file cannot be read, or holds something else than objects.
    pub fn read(options: Options, warnings: Warnings) -> Result<Self, Failure> {
        Self::keeping(Keep::Objects, options, warnings)
    }

    /// Reads the files, and keeps of manifests only what they are of.
    ///
    /// # Errors
    /// As for [`Dump::read`].
    pub fn read_names(options: Options, warnings: Warnings) -> Result<Self, Failure> {
        Self::keeping(Keep::Names, options, warnings)
    }

    /// Reads the files, and keeps only what verdicts rest on: no manifests, and no objects of others.
    ///
    /// # Errors
    /// As for [`Dump::read`].
    pub fn read_facts(options: Options, warnings: Warnings) -> Result<Self, Failure> {
        Self::keeping(Keep::Facts, options, warnings)
    }

    fn keeping(keep: Keep, options: Options, warnings: Warnings) -> Result<Self, Failure> {
        let Options { paths, recursive, now, complete, namespace } = options;
        let (mut documents, mut said) = (vec![], Said::default());
        for file in files::find(&paths, recursive)? {
            let objects = objects(&file, keep)?;
            said.of(&file, &objects);
            documents.extend(objects);
        }
        if complete && let Some(lacks) = said.lacks.first() {
            warnings.warn(format!("--complete is ignored: {lacks}"));
        }
        let complete = said.lacks.is_empty() && (complete || said.all());
        Ok(Dump { documents, now, complete, said, namespace, warnings })
    }

    /// Judges it as of the moment at which it was taken, where it says when that was.
    pub fn judged_as_taken(self) -> Self {
        Dump { now: self.said.taken.unwrap_or(self.now), ..self }
    }

    /// Selects what is asked for.
    ///
    /// # Errors
    /// Where the selectors are malformed.
    pub fn snapshot(&self, query: &Query) -> Result<Snapshot, Failure> {
        let selection = Selection::parse(query.labels.as_deref(), query.fields.as_deref()).map_err(Failure::local)?;
        let Found { read, slices, terminating } = self.sort(query.depth);
        let namespaces = Namespaces::new(read, terminating);
        let mut slices: Vec<Seen> = slices
            .into_values()
            .filter(|seen| {
                let metadata = seen.metadata();
                query.namespace.as_ref().is_none_or(|namespace| *namespace == metadata.namespace)
                    && selection.matches(metadata)
                    && query.wants(metadata, namespaces.compositions(&metadata.namespace))
            })
            .collect();
        slices.sort_by(|a, b| a.place().cmp(&b.place()));
        let seen: BTreeSet<&str> = slices.iter().map(|seen| seen.metadata().name.as_str()).collect();
        let missing = query.names.iter().filter(|name| !seen.contains(name.as_str())).cloned().collect();
        let whole = query.namespace.as_ref().is_some_and(|namespace| self.said.namespaces.contains(namespace));
        let slices_incomplete = (!self.complete && !whole).then(|| NOT_IN_DUMP.to_owned());
        Ok(Snapshot {
            now: self.now,
            slices,
            slices_incomplete,
            missing,
            namespaces,
            pods: BTreeMap::new(),
            outbox: Outbox::default(),
        })
    }

    /// The objects of a kind: namespace, name and JSON.
    pub fn objects(&self, group: &str, kind: &str) -> impl Iterator<Item = (String, String, &str)> {
        self.heads().filter_map(move |(head, json)| {
            let of_kind =
                head.api_version.rsplit_once('/').map_or("", |(group, _)| group) == group && head.kind == kind;
            let (namespace, name) = self.place(&head);
            of_kind.then_some((namespace, name, json))
        })
    }

    /// All objects that are not Eno's: what Eno may have made.
    pub fn resources(&self) -> BTreeSet<ResourceRef> {
        let others = self.heads().filter(|(head, _)| !head.api_version.starts_with(ENO_GROUP));
        others
            .map(|(Head { api_version, kind, metadata: HeadMetadata { namespace, name, .. }, .. }, _)| ResourceRef {
                api_version,
                kind,
                namespace,
                name,
            })
            .collect()
    }

    fn heads(&self) -> impl Iterator<Item = (Head, &str)> {
        self.documents.iter().filter_map(|document| Some((serde_json::from_str(document.get()).ok()?, document.get())))
    }

    /// Why there may be objects that are not in it; `None` where it is said to hold all.
    pub fn incomplete(&self) -> Option<String> {
        (!self.complete).then(|| NOT_IN_DUMP.to_owned())
    }

    /// What an object is that is not in it.
    pub fn absent<T>(&self) -> Lookup<T> {
        self.incomplete().map_or(Lookup::Missing, Lookup::Unknown)
    }

    /// Sorts the documents by what they are. What is not Eno's is passed over, but for namespaces.
    fn sort(&self, depth: Depth) -> Found {
        let mut found = Found::default();
        found.read.otherwise = (!self.complete).then(|| NOT_IN_DUMP.to_owned());
        if !self.complete {
            found.read.incomplete.extend(self.said.namespaces.iter().map(|namespace| (namespace.clone(), None)));
        }
        for document in &self.documents {
            let json = document.get();
            let head = match serde_json::from_str::<Head>(json) {
                Ok(head) => head,
                // A field that is there twice, say. It may be a composition, of any name and namespace.
                Err(error) => {
                    let why = self.warned(format!("an object of the dump: {}", without_place(&error.to_string())));
                    found.anywhere(why);
                    continue;
                }
            };
            let group = head.api_version.split_once('/').map_or("", |(group, _)| group);
            match (group, head.kind.as_str()) {
                (ENO_GROUP, Composition::KIND) => self.composition(&mut found, &head, json),
                (ENO_GROUP, ResourceSlice::KIND) => self.slice(&mut found, &head, json, depth),
                ("", "Namespace") => {
                    let terminating = head.metadata.deletion_timestamp.is_some() || head.status.phase == "Terminating";
                    found.terminating.insert(head.metadata.name, terminating);
                }
                _ => {}
            }
        }
        found
    }

    fn composition(&self, found: &mut Found, head: &Head, json: &str) {
        let (namespace, name) = self.place(head);
        let lookup = match decode::<Composition>(json.as_bytes()) {
            Ok(mut composition) => {
                composition.metadata.namespace.clone_from(&namespace);
                Lookup::Found(Arc::new(composition))
            }
            Err(error) => Lookup::Unknown(self.undecodable::<Composition>(head, &error)),
        };
        // Of a composition whose name cannot be read, any namespace may be the home.
        if name.is_empty() {
            found.anywhere(self.warned("a composition in the dump has no name".to_owned()));
        }
        found.read.compositions.push((namespace, name, lookup));
    }

    fn slice(&self, found: &mut Found, head: &Head, json: &str, depth: Depth) {
        let (namespace, name) = self.place(head);
        let decoded = if depth >= Depth::Manifests {
            decode::<WholeSlice>(json.as_bytes()).map(|WholeSlice { slice, manifests }| (slice, Some(manifests)))
        } else {
            decode::<ResourceSlice>(json.as_bytes()).map(|slice| (slice, None))
        };
        let seen = match decoded {
            Ok((mut slice, manifests)) => {
                slice.metadata.namespace.clone_from(&namespace);
                Seen { slice, manifests, unreadable: None }
            }
            Err(error) => {
                let unreadable = Some(self.undecodable::<ResourceSlice>(head, &error));
                let metadata = Metadata { namespace: namespace.clone(), name: name.clone(), ..Metadata::default() };
                Seen { unreadable, ..Seen::of_metadata(metadata) }
            }
        };
        if found.slices.insert((namespace, name.clone()), seen).is_some() {
            self.warnings.warn(format!("resourceslice {name} is in the dump more than once; the last one counts"));
        }
    }

    fn place(&self, head: &Head) -> (String, String) {
        let HeadMetadata { namespace, name, .. } = &head.metadata;
        (if namespace.is_empty() { self.namespace.clone() } else { namespace.clone() }, name.clone())
    }

    /// Warns, and says why it is unknown.
    fn undecodable<K: Kind>(&self, head: &Head, error: &DecodeError) -> String {
        self.warned(format!("{} {}: {}", K::SINGULAR, head.metadata.name, without_place(&error.to_string())))
    }

    fn warned(&self, why: String) -> String {
        self.warnings.warn(&why);
        why
    }
}

/// The objects of a file.
fn objects(file: &Path, keep: Keep) -> Result<Vec<Box<RawValue>>, Failure> {
    let malformed = |error| Failure::local(format_args!("cannot read {}: {error}", files::shown(file)));
    if let Some(open) = files::open(file)?
        && let Ok(objects) = stream::objects(open, keep)
    {
        return Ok(objects);
    }
    let text = files::read(file)?;
    match stream::objects(text.as_bytes(), keep) {
        Ok(objects) => Ok(objects),
        Err(stream::OtherShape) => documents::parse(&text).map_err(malformed),
    }
}

/// The place is one in the JSON that an object was turned into: nobody finds it in the file.
fn without_place(error: &str) -> &str {
    error.rsplit_once(" at line ").map_or(error, |(error, _)| error)
}

#[derive(Default)]
struct Found {
    read: Read,
    slices: BTreeMap<(String, String), Seen>,
    terminating: BTreeMap<String, bool>,
}

impl Found {
    /// There may be a composition that nobody can read, in any namespace.
    fn anywhere(&mut self, why: String) {
        self.read.otherwise.get_or_insert(why);
        self.read.incomplete.clear();
    }
}

/// What tells objects apart. Anything may be malformed in a dump: what is reads as absent.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Head {
    #[serde(deserialize_with = "loose")]
    api_version: String,
    #[serde(deserialize_with = "loose")]
    kind: String,
    #[serde(deserialize_with = "loose")]
    metadata: HeadMetadata,
    #[serde(deserialize_with = "loose")]
    status: HeadStatus,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct HeadMetadata {
    #[serde(deserialize_with = "loose")]
    namespace: String,
    #[serde(deserialize_with = "loose")]
    name: String,
    #[serde(deserialize_with = "loose")]
    deletion_timestamp: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HeadStatus {
    #[serde(deserialize_with = "loose")]
    phase: String,
}

fn loose<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + serde::de::DeserializeOwned,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}
