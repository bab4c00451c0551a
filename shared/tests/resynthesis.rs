//! When Eno may be asked for a new synthesis, and when it would not listen.

use eno_shared::api::{Composition, DependencyStatus, Metadata, Synthesizer};
use eno_shared::fixtures::{self, ago, delete, synthesis};
use eno_shared::names::{FORCE_RESYNTHESIS, IGNORE_SIDE_EFFECTS};
use eno_shared::resynthesis::{Refusal, harmless, heeded, latest, was_asked};

fn web() -> Composition {
    let mut web = fixtures::composition("web");
    web.status.current_synthesis = Some(synthesis("s1", &["web-a"]));
    web
}

fn synthesizer(generation: i64) -> Synthesizer {
    Synthesizer { metadata: Metadata { generation, ..Metadata::default() } }
}

#[test]
fn eno_listens_to_a_composition_at_rest() {
    assert_eq!(heeded(&web()), Ok(()));
    assert_eq!(latest(&web()).unwrap().uuid, "s1");
    let mut given_up = web();
    given_up.status.in_flight_synthesis = Some(synthesis("s2", &[]));
    given_up.status.in_flight_synthesis.as_mut().unwrap().canceled = Some(ago(5));
    assert_eq!(heeded(&given_up), Ok(()));
    assert_eq!(latest(&given_up).unwrap().uuid, "s2");
}

#[test]
fn says_why_eno_would_not_listen() {
    let changed = |change: fn(&mut Composition)| {
        let mut web = web();
        change(&mut web);
        heeded(&web).unwrap_err()
    };
    assert_eq!(changed(|web| delete(&mut web.metadata)), Refusal::Deleting);
    assert_eq!(changed(|web| web.metadata.finalizers.clear()), Refusal::NoFinalizer);
    assert_eq!(changed(|web| web.status.current_synthesis = None), Refusal::NeverSynthesized);
    let in_flight = changed(|web| web.status.in_flight_synthesis = Some(synthesis("s2", &[])));
    assert_eq!(in_flight, Refusal::InFlight { uuid: "s2".into() });
    for status in ["MissingInputs", "MismatchedInputs"] {
        let mut web = web();
        web.status.simplified.status = status.into();
        assert_eq!(heeded(&web), Err(Refusal::InputsNotReady { status: status.into() }));
    }
    let blocked = changed(|web| {
        let reason = "WaitingOnDependencies".to_owned();
        web.status.dependency_status = Some(DependencyStatus { blocked: true, reason, blocked_by: vec![] });
    });
    assert_eq!(blocked, Refusal::Blocked { reason: "WaitingOnDependencies".into() });
}

#[test]
fn what_changes_nothing_is_harmless() {
    let mut web = web();
    web.status.current_synthesis.as_mut().unwrap().observed_synthesizer_generation = 3;
    assert_eq!(harmless(&web, None), Ok(()));
    assert_eq!(harmless(&web, Some(&synthesizer(3))), Ok(()));
    assert_eq!(harmless(&web, Some(&synthesizer(4))), Err(Refusal::WouldChangeResources));
    web.metadata.generation += 1;
    assert_eq!(harmless(&web, None), Err(Refusal::WouldChangeResources));
    web.metadata.annotations.insert(IGNORE_SIDE_EFFECTS.into(), "true".into());
    assert_eq!(harmless(&web, None), Err(Refusal::SideEffectsIgnored));
    web.metadata.annotations.insert(IGNORE_SIDE_EFFECTS.into(), "false".into());
    web.status.current_synthesis = None;
    assert_eq!(harmless(&web, None), Err(Refusal::WouldChangeResources));
}

#[test]
fn an_answered_wish_is_none() {
    let mut web = web();
    assert!(!was_asked(&web));
    web.metadata.annotations.insert(FORCE_RESYNTHESIS.into(), "s1".into());
    assert!(was_asked(&web));
    web.status.current_synthesis.as_mut().unwrap().uuid = "s2".into();
    assert!(!was_asked(&web));
}
