//! What a look says: reached, never, or waiting for something.

use eno_shared::api::{Composition, Content, Kind, ResourceSlice};
use eno_shared::names::{ENO_GROUP, ENO_VERSION};
use eno_shared::stuck::{Blocker, composition_blockers};
use eno_shared::{Lookup, usage};

use crate::cli::WaitFor;
use crate::failure::Failure;
use crate::finding::Finding;
use crate::snapshot::{Seen, Snapshot};

/// What a look says.
pub(in crate::cmd) enum State {
    /// It is in the state that is waited for.
    Reached,
    /// It will not come to be, and why.
    Never(String),
    /// Not yet.
    Waiting(Waiting),
}

/// What is waited for.
pub(in crate::cmd) struct Waiting {
    /// Uid of the object; empty where nobody could read it yet.
    pub uid: String,
    /// In one line.
    pub text: String,
    /// One line for each blocker, with its code.
    pub why: Vec<String>,
    /// The object could not be read.
    pub unreadable: bool,
}

/// What was read, and of whom.
pub(in crate::cmd) struct Asked<'a> {
    pub snapshot: &'a Snapshot,
    pub namespace: &'a str,
    pub name: &'a str,
    /// The uid of the first look: another one is another object.
    pub uid: Option<&'a str>,
}

/// Is it about a slice, and the name.
pub(super) fn target(words: &[String]) -> Result<(bool, String), Failure> {
    let (kind, name) = match words {
        [one] => one.split_once('/').unwrap_or((one, "")),
        [kind, name] => (kind.as_str(), name.as_str()),
        _ => ("", ""),
    };
    if name.is_empty() || name.contains('/') {
        return Err(Failure::local("expected TYPE/NAME, such as resourceslice/NAME or composition/NAME"));
    }
    let plain = kind.to_ascii_lowercase();
    let suffixes = [format!(".{ENO_VERSION}.{ENO_GROUP}"), format!(".{ENO_GROUP}")];
    let plain = suffixes.iter().find_map(|suffix| plain.strip_suffix(suffix.as_str())).unwrap_or(&plain);
    match plain {
        "slice" | "slices" | ResourceSlice::SINGULAR | ResourceSlice::PLURAL => Ok((true, name.to_owned())),
        "comp" | "comps" | Composition::SINGULAR | Composition::PLURAL => Ok((false, name.to_owned())),
        _ => Err(Failure::local(format_args!(
            "cannot wait for a {kind:?}: the type must be resourceslice or composition"
        ))),
    }
}

/// Of a slice.
pub(in crate::cmd) fn of_slice(asked: &Asked<'_>, state: WaitFor) -> State {
    let found = asked.snapshot.seen(asked.namespace, asked.name);
    let metadata = found.map(Seen::metadata);
    // An answer that is no slice says nothing of whether there is one.
    if let Some(why) = found.and_then(|seen| seen.unreadable.as_ref().filter(|_| seen.metadata().uid.is_empty())) {
        return unreadable(asked, why);
    }
    let Some((seen, metadata)) = found.zip(metadata.filter(|metadata| is_same(asked, &metadata.uid))) else {
        return gone(state);
    };
    let finding = Finding::of(seen, &asked.snapshot.namespaces, asked.snapshot.now);
    match state {
        WaitFor::Deleted if !metadata.is_deleting() => {
            let verdict = format!("{}: {}", finding.judgement.verdict.as_str(), finding.message());
            waiting(&metadata.uid, format!("nobody has deleted it yet; {verdict}"), &finding.blockers)
        }
        WaitFor::Deleted => blocked(&metadata.uid, finding.message(), &finding.blockers),
        WaitFor::Reconciled if metadata.is_deleting() => State::Never("it is being deleted".to_owned()),
        WaitFor::Reconciled => match &seen.slice.content {
            Content::Unread => waiting(&metadata.uid, "its content could not be read".to_owned(), &[]),
            Content::Read { resources, states, .. } => {
                let done = states.iter().filter(|state| state.reconciled).count();
                if done >= *resources && states.len() >= *resources {
                    return State::Reached;
                }
                let error = states.iter().find(|state| !state.reconciliation_error.is_empty());
                let error = error.map(|state| format!("; one says: {}", state.reconciliation_error));
                let text = format!("{done} of {resources} resources are reconciled{}", error.unwrap_or_default());
                waiting(&metadata.uid, text, &[])
            }
        },
    }
}

/// Of a composition.
pub(in crate::cmd) fn of_composition(asked: &Asked<'_>, state: WaitFor) -> State {
    let compositions = asked.snapshot.namespaces.compositions(asked.namespace);
    let composition = match compositions.get(asked.name) {
        Lookup::Found(composition) if is_same(asked, &composition.metadata.uid) => composition,
        Lookup::Found(_) | Lookup::Missing => return gone(state),
        Lookup::Unknown(why) => return unreadable(asked, &why),
    };
    let uid = &composition.metadata.uid;
    match state {
        WaitFor::Deleted if !composition.metadata.is_deleting() => {
            waiting(uid, "nobody has deleted it yet".to_owned(), &[])
        }
        WaitFor::Deleted => {
            let terminating = asked.snapshot.namespaces.terminating(asked.namespace);
            let blockers =
                composition_blockers(composition, &current_slices(asked, composition), compositions, terminating);
            blocked(uid, "its finalizers are off, and it is about to go".to_owned(), &blockers)
        }
        WaitFor::Reconciled if composition.metadata.is_deleting() => State::Never("it is being deleted".to_owned()),
        WaitFor::Reconciled => match unreconciled(asked, composition) {
            None => State::Reached,
            Some(why) => waiting(uid, why, &[]),
        },
    }
}

/// What is left to do for a live composition.
fn unreconciled(asked: &Asked<'_>, composition: &Composition) -> Option<String> {
    let status = &composition.status;
    if let Some(synthesis) = status.in_flight_synthesis.as_ref().filter(|synthesis| synthesis.canceled.is_none()) {
        return Some(format!("synthesis {} is in flight", synthesis.uuid));
    }
    let Some(current) = &status.current_synthesis else {
        return Some("it was never synthesized".to_owned());
    };
    if current.observed_composition_generation != composition.metadata.generation {
        return Some(format!("its latest change is not synthesized (generation {})", composition.metadata.generation));
    }
    if current.reconciled.is_some() {
        return None;
    }
    let (mut done, mut all) = (0, 0);
    for slice in asked.snapshot.slices.iter().filter(|seen| usage::lists(current, &seen.metadata().name)) {
        if let Content::Read { resources, states, .. } = &slice.slice.content {
            all += resources;
            done += states.iter().filter(|state| state.reconciled).count();
        }
    }
    Some(format!("{done} of {all} resources are reconciled"))
}

/// The slices of the current synthesis, as they were looked up.
fn current_slices<'a>(asked: &'a Asked<'_>, composition: &Composition) -> Vec<(String, Lookup<&'a ResourceSlice>)> {
    let names = composition.status.current_synthesis.iter().flat_map(|synthesis| &synthesis.resource_slices);
    let look_up = |name: &str| asked.snapshot.look_up(asked.namespace, name).map(|seen| &seen.slice);
    names.map(|slice| (slice.name.to_string(), look_up(&slice.name))).collect()
}

fn is_same(asked: &Asked<'_>, uid: &str) -> bool {
    asked.uid.is_none_or(|first| first == uid)
}

fn unreadable(asked: &Asked<'_>, why: &str) -> State {
    let (uid, text) = (asked.uid.unwrap_or_default().to_owned(), format!("it cannot be read: {why}"));
    State::Waiting(Waiting { uid, why: vec![text.clone()], text, unreadable: true })
}

fn gone(state: WaitFor) -> State {
    match state {
        WaitFor::Deleted => State::Reached,
        WaitFor::Reconciled => State::Never("it does not exist".to_owned()),
    }
}

fn blocked(uid: &str, otherwise: String, blockers: &[Blocker]) -> State {
    let texts: Vec<String> = blockers.iter().map(ToString::to_string).collect();
    waiting(uid, if texts.is_empty() { otherwise } else { texts.join("; ") }, blockers)
}

fn waiting(uid: &str, text: String, blockers: &[Blocker]) -> State {
    let mut why: Vec<String> = blockers.iter().map(|blocker| format!("{}: {blocker}", blocker.code())).collect();
    if why.is_empty() {
        why.push(text.clone());
    }
    State::Waiting(Waiting { uid: uid.to_owned(), text, why, unreadable: false })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use eno_shared::api::Metadata;

    use super::*;
    use crate::outbox::Outbox;
    use crate::snapshot::{Namespaces, Read};

    fn unread(name: &str) -> Snapshot {
        let metadata = Metadata { namespace: "ns".to_owned(), name: name.to_owned(), ..Metadata::default() };
        let seen = Seen { unreadable: Some("resourceslice x: no JSON".to_owned()), ..Seen::of_metadata(metadata) };
        Snapshot {
            now: jiff::Timestamp::now(),
            slices: vec![seen],
            slices_incomplete: None,
            missing: vec![],
            namespaces: Namespaces::new(Read::default(), BTreeMap::new()),
            pods: BTreeMap::new(),
            outbox: Outbox::default(),
        }
    }

    #[test]
    fn an_answer_that_is_no_slice_is_not_taken_for_a_slice_that_is_gone() {
        let snapshot = unread("x");
        for (uid, expected) in [(Some("its uid"), "its uid"), (None, "")] {
            for state in [WaitFor::Deleted, WaitFor::Reconciled] {
                let asked = Asked { snapshot: &snapshot, namespace: "ns", name: "x", uid };
                let State::Waiting(waiting) = of_slice(&asked, state) else { panic!("nobody knows: {uid:?}") };
                assert_eq!((waiting.uid.as_str(), waiting.unreadable), (expected, true));
                assert_eq!(waiting.text, "it cannot be read: resourceslice x: no JSON");
            }
        }
    }

    fn parse(words: &[&str]) -> Result<(bool, String), String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        target(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn knows_the_spellings_of_kubectl() {
        for slice in ["slice/x", "ResourceSlices/x", "resourceslices.eno.azure.io/x", "resourceslice.v1.eno.azure.io/x"]
        {
            assert_eq!(parse(&[slice]), Ok((true, "x".to_owned())), "{slice}");
        }
        assert_eq!(parse(&["comp", "x"]), Ok((false, "x".to_owned())));
    }

    #[test]
    fn says_what_it_cannot_wait_for() {
        assert!(parse(&["pod/x"]).unwrap_err().contains("cannot wait for a \"pod\""));
        assert!(parse(&["web"]).unwrap_err().contains("expected TYPE/NAME"));
        assert!(parse(&["comp/"]).unwrap_err().contains("expected TYPE/NAME"));
    }
}
