//! What the rules say in every situation, asked once for all tests.

use std::sync::LazyLock;

use eno_shared::admission::Outcome;
use eno_shared::admission::slice::{Dropped, delete, update};
use eno_shared::judge::releasable;
use eno_shared::{Compositions, Judgement, Verdict, fixtures, judge};

use super::facts::{BASE, Facts};
use super::mutations::subsets;

/// A situation, and what the rules say of it.
pub struct Case {
    pub names: Vec<&'static str>,
    pub facts: Facts,
    pub judged: Said,
    pub wants_content: bool,
    pub blamed: Blamed,
    pub releasable: Said,
    /// C1.
    pub delete: Outcome,
    /// C2, of the finalizer.
    pub strip: Outcome,
    /// C2, of the owner, while our cleanup runs, and while it does not.
    pub disown: Outcome,
    pub disown_without_cleanup: Outcome,
}

/// The composition that a reason names: no situation has more than two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blamed {
    Nobody,
    Owner,
    Neighbour,
}

impl Blamed {
    fn by(judgement: &Judgement) -> Self {
        match judgement.reason.composition() {
            None => Blamed::Nobody,
            Some("web") => Blamed::Owner,
            Some("api") => Blamed::Neighbour,
            Some(other) => panic!("there is no composition {other}"),
        }
    }
}

/// Verdict and reason, as the tables spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    pub verdict: Verdict,
    pub reason: &'static str,
}

impl Said {
    pub fn of(judgement: &Judgement) -> Self {
        Said { verdict: judgement.verdict, reason: judgement.reason.as_str() }
    }
}

pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    // Neighbouring subsets differ in the slice alone: most of the time goes into building compositions.
    let mut last = None;
    let judge = |(names, facts): (_, Facts)| {
        let key = (facts.slice.age_in_seconds(), Facts { content: BASE.content, slice: BASE.slice, ..facts });
        if !matches!(&last, Some((of, _)) if *of == key) {
            last = Some((key, facts.compositions()));
        }
        let (_, compositions) = last.as_ref().expect("just built");
        Case::among(names, facts, compositions)
    };
    subsets().map(judge).collect()
});

impl Case {
    fn among(names: Vec<&'static str>, facts: Facts, compositions: &Compositions) -> Self {
        let slice = facts.slice();
        let judgement = judge(&slice, compositions, fixtures::now());
        let without = |finalizer, owner, cleanup_runs| {
            update(&slice, Dropped { finalizer, owner }, compositions, cleanup_runs).outcome
        };
        Case {
            names,
            facts,
            judged: Said::of(&judgement),
            wants_content: judgement.wants_content,
            blamed: Blamed::by(&judgement),
            releasable: Said::of(&releasable(&slice, compositions)),
            delete: delete(&slice, compositions, fixtures::now()).outcome,
            strip: without(true, false, true),
            disown: without(false, true, true),
            disown_without_cleanup: without(false, true, false),
        }
    }
}

/// What the judge says in one more situation.
pub fn judged(facts: &Facts) -> (Said, Blamed) {
    let judgement = judge(&facts.slice(), &facts.compositions(), fixtures::now());
    (Said::of(&judgement), Blamed::by(&judgement))
}

/// Asserts that an invariant holds in every situation; else shows one of those with the fewest mutations.
#[track_caller]
pub fn assert_of_all(invariant: impl Fn(&Case) -> bool) {
    let broken: Vec<_> = CASES.iter().filter(|case| !invariant(case)).collect();
    let Some(Case { names, judged, releasable, delete, strip, disown, .. }) =
        broken.iter().min_by_key(|case| case.names.len())
    else {
        return;
    };
    panic!(
        "broken in {} of {} situations, for example {names:?}:\n{judged:?}, releasable {releasable:?}, \
         delete {delete:?}, strip {strip:?}, disown {disown:?}",
        broken.len(),
        CASES.len(),
    );
}
