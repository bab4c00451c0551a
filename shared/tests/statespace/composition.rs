//! C4: every state of a composition, of its symphony and of two slices, when Eno's finalizer is to come off.

use eno_shared::admission::Outcome::{Allow, Deny, Retry};
use eno_shared::admission::composition::{Evidence, update, wanted};
use eno_shared::admission::{Answer, Outcome};
use eno_shared::api::{Composition, OwnerReference, ResourceSlice, Symphony};
use eno_shared::names::{
    DELETION_STRATEGY, DELETION_STRATEGY_ORPHAN, ENO_API_VERSION, FORCE_DELETE_WHEN_SYMPHONY_GONE,
};
use eno_shared::{Lookup, fixtures};

#[derive(Debug, Clone, Copy)]
struct End {
    deleting: bool,
    observed: bool,
    reconciled: bool,
    orphans: bool,
    /// It asks to go with its symphony.
    goes_with_symphony: bool,
    symphony: Found,
    /// `None`: it was never synthesized.
    slices: Option<[Found; 2]>,
}

/// What a live read says; of a slice, also whether its resources are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Done,
    Undone,
    Missing,
    Unknown,
}

const FOUND: [Found; 4] = [Found::Done, Found::Undone, Found::Missing, Found::Unknown];

fn every_end() -> impl Iterator<Item = End> {
    (0..32).flat_map(|bits: u8| {
        let is = move |bit: u8| bits & (1 << bit) != 0;
        FOUND.into_iter().flat_map(move |symphony| {
            slices().map(move |slices| End {
                deleting: is(0),
                observed: is(1),
                reconciled: is(2),
                orphans: is(3),
                goes_with_symphony: is(4),
                symphony,
                slices,
            })
        })
    })
}

fn lookup<T>(found: Found, object: T) -> Lookup<T> {
    match found {
        Found::Done | Found::Undone => Lookup::Found(object),
        Found::Missing => Lookup::Missing,
        Found::Unknown => Lookup::Unknown("timeout".into()),
    }
}

fn slices() -> impl Iterator<Item = Option<[Found; 2]>> {
    FOUND.into_iter().flat_map(|first| FOUND.map(|second| Some([first, second]))).chain([None])
}

impl End {
    fn composition(&self) -> Composition {
        let mut composition = fixtures::composition("web");
        composition.metadata.owner_references = vec![OwnerReference {
            api_version: ENO_API_VERSION.into(),
            kind: "Symphony".into(),
            name: "shop".into(),
            uid: "uid-shop".into(),
            controller: true,
        }];
        if self.deleting {
            fixtures::delete(&mut composition.metadata);
        }
        let annotations = &mut composition.metadata.annotations;
        if self.orphans {
            annotations.insert(DELETION_STRATEGY.into(), DELETION_STRATEGY_ORPHAN.into());
        }
        if self.goes_with_symphony {
            annotations.insert(FORCE_DELETE_WHEN_SYMPHONY_GONE.into(), "true".into());
        }
        let generation = composition.metadata.generation;
        composition.status.current_synthesis = self.slices.map(|_| {
            let mut current = fixtures::synthesis("current", &["web-0", "web-1"]);
            current.observed_composition_generation = if self.observed { generation } else { generation - 1 };
            current.reconciled = current.reconciled.filter(|_| self.reconciled);
            current
        });
        composition
    }

    /// Reads what is wanted, and no more.
    fn evidence(&self, composition: &Composition) -> Evidence {
        let wanted = wanted(composition);
        let slice = |name: &String| {
            let index = usize::from(name == "web-1");
            let found = self.slices.expect("slices are wanted of a current synthesis")[index];
            let mut slice = fixtures::slice(name, composition);
            slice.content = fixtures::content(1, usize::from(found == Found::Done));
            (name.clone(), lookup(found, slice))
        };
        Evidence {
            symphony: wanted.symphony.map(|_| lookup(self.symphony, Symphony::default())),
            slices: wanted.slices.iter().map(slice).collect::<Vec<(String, Lookup<ResourceSlice>)>>(),
        }
    }

    fn answer(&self) -> Answer {
        let composition = self.composition();
        update(&composition, &self.evidence(&composition))
    }

    /// Eno says of its own accord that the resources are gone.
    fn reconciled(&self) -> bool {
        self.observed && self.reconciled
    }

    fn slices_are(&self, found: Found) -> bool {
        self.slices.is_some_and(|slices| slices.contains(&found))
    }

    /// What the row says.
    fn expected(&self) -> Outcome {
        if !self.deleting {
            return Deny;
        }
        let goes = self.goes_with_symphony && self.symphony == Found::Missing;
        let proved = self.orphans || !(self.slices_are(Found::Undone) || self.slices_are(Found::Unknown));
        if self.slices.is_none() || goes || (self.reconciled() && proved) {
            return Allow;
        }
        let symphony_might_free = self.goes_with_symphony && self.symphony == Found::Unknown;
        let slice_might_free = self.reconciled() && !self.slices_are(Found::Undone);
        if symphony_might_free || slice_might_free { Retry } else { Deny }
    }
}

#[track_caller]
fn assert_of_every_end(invariant: impl Fn(&End, &Answer) -> bool) {
    for end in every_end() {
        let answer = end.answer();
        assert!(invariant(&end, &answer), "{end:?}: {answer:?}");
    }
}

#[test]
fn ends_a_composition_exactly_where_the_row_says() {
    assert_of_every_end(|end, answer| answer.outcome == end.expected());
}

#[test]
fn never_ends_a_live_composition() {
    assert_of_every_end(|end, answer| end.deleting || answer.outcome == Deny);
}

#[test]
fn never_ends_what_has_resources_left() {
    assert_of_every_end(|end, answer| {
        let left = end.slices.is_some() && !end.orphans && end.slices_are(Found::Undone);
        let goes = end.goes_with_symphony && end.symphony == Found::Missing;
        !left || goes || answer.outcome != Allow
    });
}

#[test]
fn warns_exactly_where_a_slice_of_a_reconciled_composition_is_missing() {
    assert_of_every_end(|end, answer| {
        let goes = end.goes_with_symphony && end.symphony == Found::Missing;
        let is_missing = answer.outcome == Allow && end.slices_are(Found::Missing) && !end.orphans && !goes;
        answer.warnings.len() == usize::from(is_missing)
            && (answer.ground.as_str() == "ResourcesMayBeOrphaned") == is_missing
    });
}

#[test]
fn names_the_composition_always() {
    assert_of_every_end(|_, answer| answer.composition.as_deref() == Some("web"));
}
