//! Deletions of compositions that end in no other way.

use crate::*;

pub fn states_of_deletions() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let mut unowned = slice("web-a", content(2, 1));
    unowned.metadata.owner_references.clear();
    let mut forced = going();
    forced.metadata.annotations.insert(FORCE_DELETE_WHEN_SYMPHONY_GONE.into(), "true".into());
    let mut waiting = going();
    waiting.status.dependency_status = Some(DependencyStatus {
        blocked: true,
        reason: "WaitingOnDependents".into(),
        blocked_by: vec![BlockedBy { name: "api".into(), namespace: "ns".into() }],
    });
    let mut dependent = fixtures::composition("api");
    let edited = composition_blockers(&waiting, &[], &among(&[waiting.clone(), dependent.clone()]), None);
    dependent.spec.depends_on = depending("web", "ns");
    let depends = composition_blockers(&waiting, &[], &among(&[waiting.clone(), dependent]), None);
    let unknown = composition_blockers(&waiting, &[], &Compositions::partial([], "403"), None);
    vec![
        state(
            "orphan cascade",
            of_composition(&going(), &[("web-a", Lookup::Found(&unowned))]),
            &["SlicesUnowned", "ResourcesLeft"],
        ),
        state(
            "forced without a symphony",
            of_composition(&forced, &[("web-a", Lookup::Found(&slice("web-a", content(1, 0))))]),
            &["ResourcesLeft", "ForceDeleteIneffective"],
        ),
        state("dependent was edited", edited, &["StaleDependents"]),
        state("dependent is gone", of_composition(&waiting, &[]), &["StaleDependents"]),
        state("dependent depends", depends, &["DependentsExist"]),
        state("dependent unknown", unknown, &["DependentsExist"]),
    ]
}
