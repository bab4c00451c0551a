//! What must not happen to Eno's objects, told from their history alone. It shares no code with the rules that it tests, and is
//! simpler: it knows what was, and need not be careful about what may be.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use eno_shared::names::CLEANUP_FINALIZER;
use serde_json::Value;

/// The synthesis that decides.
const CURRENT: &str = "currentSynthesis";
/// A slice lost its finalizer.
const STRIPPED: &str = "was stripped";
/// For how long admission may answer: the longest timeout of a webhook, and some time for the write.
const MOMENT: Duration = Duration::from_secs(15);

/// Where an object is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// One revision of an object.
#[derive(Debug)]
pub struct Change<'a> {
    /// Plural of its kind.
    pub kind: &'a str,
    /// Where it is.
    pub place: Place,
    /// What it is now; `None` where it is gone.
    pub object: Option<Value>,
}

/// The objects at a revision.
///
/// # Caveat
/// Kubernetes deletes an object whose last finalizer is taken off without comparing versions: what was written while admission
/// answered is lost with it. So a composition that was deleted before its first synthesis ended, and is let go for having none, may
/// go together with a synthesis that ends in that moment. No webhook can see it: such compositions are counted, and not judged.
///
/// A composition that is deleted before Eno has put its finalizer on it goes at once, and what Eno has made of it by then is
/// orphaned; its deletion is warned of, and not denied (C5). Such are named where resources are orphaned, which is not excused.
#[derive(Debug, Default)]
pub struct Truth {
    slices: BTreeMap<Place, Value>,
    compositions: BTreeMap<Place, Value>,
    /// Compositions whose first synthesis ended after they were deleted, and when.
    late: BTreeMap<Place, Instant>,
    overtaken: Vec<Place>,
    /// Compositions that Eno has put its finalizer on.
    held: BTreeSet<Place>,
    never_held: Vec<Place>,
}

impl Truth {
    /// Takes the next change, seen at that time, and says what about it must not be.
    pub fn apply(&mut self, change: Change<'_>, at: Instant) -> Vec<String> {
        let Change { kind, place, object } = change;
        match kind {
            "resourceslices" => {
                let wrong = self.of_slice(&place, object.as_ref());
                put(&mut self.slices, place, object);
                wrong.into_iter().collect()
            }
            "compositions" => {
                let wrong = self.of_composition(&place, object.as_ref());
                self.note_late(&place, object.as_ref(), at);
                self.note_held(&place, object.as_ref());
                let since = if object.is_none() { self.late.remove(&place) } else { None };
                if !wrong.is_empty() && since.is_some_and(|since| at.duration_since(since) < MOMENT) {
                    self.compositions.remove(&place);
                    self.overtaken.push(place);
                    return vec![];
                }
                put(&mut self.compositions, place, object);
                wrong
            }
            _ => vec![],
        }
    }

    /// Compositions that went in the moment in which their first synthesis ended: see the caveat.
    pub fn overtaken(&self) -> &[Place] {
        &self.overtaken
    }

    /// Compositions that went with a synthesis before Eno had put its finalizer on them: see the caveat.
    pub fn never_held(&self) -> &[Place] {
        &self.never_held
    }

    fn note_held(&mut self, place: &Place, object: Option<&Value>) {
        match object {
            Some(object) if has_finalizer(object) => _ = self.held.insert(place.clone()),
            Some(_) => {}
            None => {
                let before = self.compositions.get(place);
                let synthesized = before.is_some_and(|before| before["status"]["currentSynthesis"].is_object());
                if !self.held.remove(place) && synthesized {
                    self.never_held.push(place.clone());
                }
            }
        }
    }

    fn note_late(&mut self, place: &Place, object: Option<&Value>, at: Instant) {
        let has_current = |composition: &Value| composition["status"]["currentSynthesis"].is_object();
        let had_none = self.compositions.get(place).is_some_and(|before| !has_current(before));
        if had_none && object.is_some_and(|after| has_current(after) && is_deleting(after)) {
            self.late.insert(place.clone(), at);
        }
    }

    /// A slice that a composition needs must not go, begin to go, or lose its finalizer.
    fn of_slice(&self, place: &Place, object: Option<&Value>) -> Option<String> {
        let before = self.slices.get(place)?;
        let what = match object {
            None => "was lost",
            Some(after) if is_deleting(after) && !is_deleting(before) => "was condemned",
            Some(after) if has_finalizer(before) && !has_finalizer(after) => STRIPPED,
            Some(_) => return None,
        };
        let of_namespace = self.compositions.iter().filter(|(other, _)| other.namespace == place.namespace);
        let (other, why) = of_namespace.into_iter().find_map(|(other, composition)| {
            // Those of the synthesis before are kept while it lives, and hold no resources any more.
            let is_kept = || {
                let mut previous = names(composition, "previousSynthesis");
                !is_deleting(composition) && what != STRIPPED && previous.any(|name| name == place.name)
            };
            let needs = lists(composition, &place.name) && !is_finished(composition) || is_kept();
            let why = match is_deleting(composition) {
                false => "live",
                true if !(has_seen_deletion(composition) && all_deleted(before)) => "not done with it",
                true => return None,
            };
            needs.then_some((other, why))
        })?;
        Some(format!("slice {}/{} {what}: composition {} is {why}", place.namespace, place.name, other.name))
    }

    /// A synthesis that becomes current must have all of its slices; a composition must not go before all of its are done.
    fn of_composition(&self, place: &Place, object: Option<&Value>) -> Vec<String> {
        let at = |name: &str| Place { namespace: place.namespace.clone(), name: name.to_owned() };
        let before = self.compositions.get(place);
        let current = |composition: &Value| composition["status"]["currentSynthesis"]["uuid"].clone();
        match (before, object) {
            (_, Some(after)) if before.map(current) != Some(current(after)) && !is_deleting(after) => {
                let lost = names(after, CURRENT).filter(|name| !self.slices.contains_key(&at(name)));
                lost.map(|name| format!("slice {}/{name} was lost before its synthesis was current", place.namespace))
                    .collect()
            }
            // In the foreground it is there for a while after Eno has let it go.
            (Some(before), after)
                if before["status"]["currentSynthesis"].is_object()
                    && has_finalizer(before)
                    && after.is_none_or(|after| !has_finalizer(after)) =>
            {
                let undone =
                    names(before, CURRENT).filter(|name| self.slices.get(&at(name)).is_some_and(|it| !all_deleted(it)));
                let mut undone: Vec<_> = undone.map(ToOwned::to_owned).collect();
                if !has_seen_deletion(before) {
                    undone.push("its deletion, which Eno had not seen".to_owned());
                }
                let Place { namespace, name } = place;
                undone.iter().map(|what| format!("composition {namespace}/{name} went before {what}")).collect()
            }
            _ => vec![],
        }
    }
}

fn put(objects: &mut BTreeMap<Place, Value>, place: Place, object: Option<Value>) {
    match object {
        Some(object) => objects.insert(place, object),
        None => objects.remove(&place),
    };
}

fn is_deleting(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

fn has_finalizer(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|all| all.iter().any(|one| one == CLEANUP_FINALIZER))
}

/// Eno has let the composition go.
fn is_finished(composition: &Value) -> bool {
    is_deleting(composition) && !has_finalizer(composition)
}

/// Eno says that all is deleted, and has known that it should be.
fn has_seen_deletion(composition: &Value) -> bool {
    let current = &composition["status"]["currentSynthesis"];
    let observed = current["observedCompositionGeneration"].as_i64();
    current["reconciled"].is_string() && observed >= composition["metadata"]["generation"].as_i64()
}

fn names<'a>(composition: &'a Value, synthesis: &str) -> impl Iterator<Item = &'a str> {
    let slices = composition["status"][synthesis]["resourceSlices"].as_array();
    slices.into_iter().flatten().filter_map(|slice| slice["name"].as_str())
}

fn lists(composition: &Value, slice: &str) -> bool {
    names(composition, CURRENT).any(|name| name == slice)
}

fn all_deleted(slice: &Value) -> bool {
    let length = |list: &Value| list.as_array().map_or(0, Vec::len);
    let states = &slice["status"]["resources"];
    length(states) >= length(&slice["spec"]["resources"])
        && states.as_array().is_none_or(|states| states.iter().all(|state| state["deleted"] == true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FINALIZERS: [&str; 1] = [CLEANUP_FINALIZER];

    fn at(name: &str) -> Place {
        Place { namespace: "ns".to_owned(), name: name.to_owned() }
    }

    fn slice(deleted: bool) -> Value {
        json!({
            "metadata": {"finalizers": FINALIZERS}, "spec": {"resources": [{}]},
            "status": {"resources": [{"deleted": deleted}]},
        })
    }

    fn composition(slices: &[&str]) -> Value {
        let slices: Vec<_> = slices.iter().map(|name| json!({"name": name})).collect();
        let current = json!({
            "uuid": "u", "resourceSlices": slices, "observedCompositionGeneration": 1, "reconciled": "2026-01-01T00:00:00Z",
        });
        json!({"metadata": {"generation": 1, "finalizers": FINALIZERS}, "status": {"currentSynthesis": current}})
    }

    fn apply(truth: &mut Truth, kind: &str, name: &str, object: Option<Value>) -> Vec<String> {
        truth.apply(Change { kind, place: at(name), object }, Instant::now())
    }

    fn deleting(mut object: Value, generation: i64) -> Value {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        object["metadata"]["generation"] = json!(generation);
        object
    }

    /// With these objects at first, what is said of the change.
    fn said(composition: Value, slice: Value, kind: &str, name: &str, object: Option<Value>) -> Vec<String> {
        let mut truth = Truth::default();
        assert!(apply(&mut truth, "resourceslices", "s", Some(slice)).is_empty());
        assert!(apply(&mut truth, "compositions", "c", Some(composition)).is_empty());
        apply(&mut truth, kind, name, object)
    }

    #[test]
    fn a_slice_that_a_live_composition_lists_is_missed_whichever_way_it_goes() {
        let mut stripped = slice(true);
        stripped["metadata"]["finalizers"] = json!([]);
        for (object, what) in [
            (None, "slice ns/s was lost: composition c is live"),
            (Some(deleting(slice(true), 1)), "slice ns/s was condemned: composition c is live"),
            (Some(stripped), "slice ns/s was stripped: composition c is live"),
        ] {
            assert_eq!(said(composition(&["s"]), slice(true), "resourceslices", "s", object), [what]);
        }
        assert!(said(composition(&[]), slice(true), "resourceslices", "s", None).is_empty(), "nothing lists it");
    }

    #[test]
    fn a_slice_of_a_deleting_composition_may_go_when_all_is_deleted_and_not_before() {
        let not_done = ["slice ns/s was lost: composition c is not done with it"];
        let unseen = deleting(composition(&["s"]), 2);
        assert_eq!(said(unseen, slice(true), "resourceslices", "s", None), not_done);
        let seen = deleting(composition(&["s"]), 1);
        assert_eq!(said(seen.clone(), slice(false), "resourceslices", "s", None), not_done);
        assert!(said(seen.clone(), slice(true), "resourceslices", "s", None).is_empty());
        let mut finished = deleting(composition(&["s"]), 2);
        finished["metadata"]["finalizers"] = json!([]);
        assert!(said(finished, slice(false), "resourceslices", "s", None).is_empty());
    }

    #[test]
    fn a_composition_must_not_go_before_its_slices_are_done_nor_list_what_is_gone() {
        let seen = deleting(composition(&["s"]), 1);
        assert_eq!(said(seen.clone(), slice(false), "compositions", "c", None), ["composition ns/c went before s"]);
        assert!(said(seen, slice(true), "compositions", "c", None).is_empty());
        let mut next = composition(&["s", "gone"]);
        next["status"]["currentSynthesis"]["uuid"] = json!("v");
        assert_eq!(
            said(composition(&["s"]), slice(true), "compositions", "c", Some(next)),
            ["slice ns/gone was lost before its synthesis was current"]
        );
    }

    #[test]
    fn a_composition_that_goes_before_its_finalizer_is_on_is_counted_and_no_other() {
        let mut truth = Truth::default();
        let mut bare = composition(&["s"]);
        bare["metadata"]["finalizers"] = json!([]);
        apply(&mut truth, "compositions", "held", Some(composition(&[])));
        for name in ["bare", "held"] {
            apply(&mut truth, "compositions", name, Some(bare.clone()));
            apply(&mut truth, "compositions", name, None);
        }
        assert_eq!(truth.never_held(), [at("bare")]);
    }

    #[test]
    fn a_slice_of_the_synthesis_before_is_missed_while_its_composition_lives() {
        let mut next = composition(&["new"]);
        next["status"]["previousSynthesis"] = json!({"resourceSlices": [{"name": "s"}]});
        let lost = ["slice ns/s was lost: composition c is live"];
        let mut truth = Truth::default();
        for name in ["s", "new"] {
            apply(&mut truth, "resourceslices", name, Some(slice(true)));
        }
        assert!(apply(&mut truth, "compositions", "c", Some(next.clone())).is_empty());
        let mut stripped = slice(true);
        stripped["metadata"]["finalizers"] = json!([]);
        assert!(apply(&mut truth, "resourceslices", "s", Some(stripped)).is_empty(), "it holds nothing");
        assert_eq!(apply(&mut truth, "resourceslices", "s", None), lost);
        assert!(said(deleting(next, 1), slice(true), "resourceslices", "s", None).is_empty());
    }

    #[test]
    fn a_synthesis_that_ends_in_the_moment_of_the_end_is_counted_and_later_it_is_missed() {
        let mut unsynthesized = deleting(composition(&[]), 2);
        unsynthesized["status"] = json!({});
        for (passed, wrong) in [(Duration::ZERO, 0), (MOMENT, 1)] {
            let (mut truth, began) = (Truth::default(), Instant::now());
            for object in [unsynthesized.clone(), deleting(composition(&["s"]), 2)] {
                let change = Change { kind: "compositions", place: at("c"), object: Some(object) };
                assert!(truth.apply(change, began).is_empty());
            }
            let gone = Change { kind: "compositions", place: at("c"), object: None };
            assert_eq!(truth.apply(gone, began + passed).len(), wrong, "after {passed:?}");
            assert_eq!(truth.overtaken().len(), 1 - wrong);
        }
    }
}
