//! What became of a composition, its slices and its resources: told where something of it is left behind.

use jiff::Timestamp;
use serde_json::Value;

use super::truth::{Change, Place};

/// Of each revision what matters, in the order of the store.
#[derive(Debug, Default)]
pub struct History(Vec<Line>);

#[derive(Debug)]
struct Line {
    revision: u64,
    /// When it was seen here.
    at: Timestamp,
    kind: String,
    place: Place,
    what: String,
}

impl History {
    /// Keeps a revision.
    pub fn note(&mut self, revision: u64, change: &Change<'_>) {
        let what = match (change.kind, &change.object) {
            (_, None) => "gone".to_owned(),
            ("compositions", Some(object)) => composition(object),
            ("resourceslices", Some(object)) => slice(object),
            _ => "written".to_owned(),
        };
        let (kind, place) = (change.kind.to_owned(), change.place.clone());
        self.0.push(Line { revision, at: Timestamp::now(), kind, place, what });
    }

    /// All of a composition and of what is named after it, oldest first.
    pub fn of(&self, composition: &str) -> Vec<String> {
        let mut lines: Vec<_> = self.0.iter().filter(|line| is_named_after(&line.place.name, composition)).collect();
        lines.sort_by_key(|line| line.revision);
        lines
            .iter()
            .map(|Line { revision, at, kind, place, what }| {
                format!("{at:.3} {revision} {kind} {}/{}: {what}", place.namespace, place.name)
            })
            .collect()
    }
}

/// Eno names slices so, and the actors resources.
pub fn is_named_after(name: &str, composition: &str) -> bool {
    name.strip_prefix(composition).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn composition(object: &Value) -> String {
    let (metadata, status) = (&object["metadata"], &object["status"]);
    let synthesis = |name: &str| match &status[name] {
        Value::Null => String::new(),
        it => {
            let slices: Vec<_> = it["resourceSlices"].as_array().into_iter().flatten().map(|it| &it["name"]).collect();
            format!(
                ", {name} {} of generation {} synthesized {} reconciled {} slices {slices:?}",
                it["uuid"], it["observedCompositionGeneration"], it["synthesized"], it["reconciled"]
            )
        }
    };
    format!(
        "{}{}{}{}",
        life(metadata),
        synthesis("inFlightSynthesis"),
        synthesis("currentSynthesis"),
        synthesis("previousSynthesis")
    )
}

fn slice(object: &Value) -> String {
    format!("{}, states {}", life(&object["metadata"]), object["status"]["resources"])
}

fn life(metadata: &Value) -> String {
    format!(
        "generation {}, finalizers {}, deleted {}",
        metadata["generation"], metadata["finalizers"], metadata["deletionTimestamp"]
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_told_of_a_composition_and_what_is_named_after_it_in_the_order_of_the_store() {
        let mut history = History::default();
        let mut note = |revision, kind, name: &str, object| {
            let place = Place { namespace: "ns".to_owned(), name: name.to_owned() };
            history.note(revision, &Change { kind, place, object });
        };
        note(4, "configmaps", "c1-0", Some(json!({})));
        note(
            2,
            "compositions",
            "c1",
            Some(json!({"metadata": {"generation": 1}, "status": {"currentSynthesis": {"uuid": "u"}}})),
        );
        note(3, "resourceslices", "c1-x", None);
        note(1, "compositions", "c12", None);
        let lines = history.of("c1");
        let expected = [
            "2 compositions ns/c1: generation 1, finalizers null, deleted null, currentSynthesis \"u\" of generation null",
            "3 resourceslices ns/c1-x: gone",
            "4 configmaps ns/c1-0: written",
        ];
        assert_eq!(lines.len(), expected.len(), "{lines:?}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.contains(expected), "{line}");
        }
    }
}
