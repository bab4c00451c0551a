//! Compositions that are not being deleted.

use crate::*;

pub fn states_of_live_compositions() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let with = |change: &dyn Fn(&mut Composition)| {
        let mut web = staying();
        change(&mut web);
        web
    };
    let slice = slice("web-a", content(2, 0));
    let a = [("web-a", Lookup::Found(&slice))];
    let blocked = |web: &mut Composition, by: &str| {
        let blocked_by = vec![BlockedBy { name: by.into(), namespace: "ns".into() }];
        let reason = "WaitingOnDependencies".into();
        web.status.dependency_status = Some(DependencyStatus { blocked: true, reason, blocked_by });
        web.spec.depends_on = depending(by, "");
    };
    let simplified = |status: &str| with(&|web| web.status.simplified.status = status.into());
    let unreconciled = with(&|web| web.status.current_synthesis.as_mut().unwrap().reconciled = None);
    let ignoring = with(&|web| drop(web.metadata.annotations.insert(IGNORE_SIDE_EFFECTS.into(), "true".into())));
    let selecting = with(&|web| web.spec.synthesizer.has_selector = true);
    let long = with(&|web| {
        web.metadata.name = "x".repeat(64);
        *web = in_flight(web.clone());
    });
    let failing = with(&|web| {
        let canceled = Some(ago(5));
        web.status.in_flight_synthesis = Some(eno_shared::api::Synthesis { canceled, ..synthesis("s2", &[]) });
    });
    let mut pending = slice.clone();
    if let Content::Read { states, .. } = &mut pending.content {
        states[0].reconciled = false;
    }
    vec![
        state("reconciled", of_composition(&staying(), &a), &[]),
        state("in flight", of_composition(&in_flight(staying()), &a), &["SynthesisInFlight"]),
        state("given up", of_composition(&failing, &a), &["SynthesisFailing"]),
        state("name too long", of_composition(&long, &a), &["NameTooLong"]),
        state("label selector only", of_composition(&selecting, &a), &["SelectorIgnored"]),
        state("no synthesizer", of_composition(&simplified("MissingSynthesizer"), &a), &["SynthesizerMissing"]),
        state("no inputs", of_composition(&simplified("MissingInputs"), &a), &["InputsMissing"]),
        state("dependency", of_composition(&with(&|web| blocked(web, "db")), &a), &["DependenciesNotReady"]),
        state("depends on itself", of_composition(&with(&|web| blocked(web, "web")), &a), &["CircularDependency"]),
        state("all at work", of_composition(&unreconciled, &[("web-a", Lookup::Found(&pending))]), &["Unreconciled"]),
        state(
            "slice missing, new syntheses forbidden",
            of_composition(&ignoring, &[("web-a", Lookup::Missing)]),
            &["MissingSlice", "SideEffectsIgnored"],
        ),
        state("slice missing, Eno heals it", of_composition(&staying(), &[("web-a", Lookup::Missing)]), &[]),
    ]
}
