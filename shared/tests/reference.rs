//! Our rules against Eno's own two conditions, over the whole state space: they agree, or differ for a reason that has a name.

mod reference {
    pub mod differences;
    pub mod eno;
}
// The situations of the state space.
#[path = "statespace/facts.rs"]
mod facts;
#[path = "statespace/mutations.rs"]
mod mutations;
#[path = "statespace/objects.rs"]
mod objects;

use std::collections::BTreeMap;

use eno_shared::{Reason, Verdict, fixtures, judge};
use mutations::subsets;
use reference::differences::{ALL, explaining, table};
use reference::eno::{Action, cleans_up};

/// What our controllers do upon a verdict.
fn ours(verdict: Verdict, reason: &Reason) -> Action {
    match (verdict, reason) {
        (Verdict::Collect, _) => Action::Delete,
        (Verdict::Release, Reason::NoFinalizer) | (Verdict::Keep | Verdict::Hold, _) => Action::Nothing,
        (Verdict::Release, _) => Action::RemoveOwnFinalizer,
        (Verdict::Wait, Reason::TooNew { until }) => Action::LookAgain(until.duration_since(fixtures::now()).as_secs()),
        (Verdict::Wait | Verdict::Unknown, _) => Action::TryAgain,
    }
}

#[test]
fn differs_from_eno_for_named_reasons_and_no_others() {
    let mut met: BTreeMap<&str, usize> = ALL.iter().map(|difference| (difference.name, 0)).collect();
    for (names, facts) in subsets() {
        let eno = cleans_up(&facts);
        let judgement = judge(&facts.slice(), &facts.compositions(), fixtures::now());
        let explaining = explaining(eno, judgement.verdict, &judgement.reason);
        let ours = ours(judgement.verdict, &judgement.reason);
        let neither_acts = [eno, ours].iter().all(|action| matches!(action, Action::Nothing | Action::TryAgain));
        let differs = eno != ours && !neither_acts;
        assert_eq!(
            explaining.len(),
            usize::from(differs),
            "{names:?}: Eno {eno:?}, we {judgement}; explained by {:?}",
            explaining.iter().map(|difference| difference.name).collect::<Vec<_>>()
        );
        for difference in explaining {
            *met.entry(difference.name).or_default() += 1;
        }
    }
    let never: Vec<_> = met.iter().filter(|(_, times)| **times == 0).map(|(name, _)| name).collect();
    assert!(never.is_empty(), "no situation shows {never:?}");
}

#[test]
fn the_documented_differences_are_those_that_are_tested() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/differences.md");
    let documented = std::fs::read_to_string(path).expect("docs/differences.md is part of the repository");
    let rows: String =
        documented.lines().filter(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
    assert_eq!(rows, table(), "docs/differences.md must hold exactly the table on the right");
}
