//! States that no case names: the owner of a slice, another composition beside it, and the slice itself, in every way that
//! the rules tell apart.

use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION};
use serde_json::{Value, json};

use super::dump::Dump;

const NOW: &str = "2026-05-04T08:00:00Z";
const LONG_AGO: &str = "2026-05-03T08:00:00Z";
const SLICE: &str = "slice";

/// What became of a composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Live,
    /// Deleting; Eno has not seen it.
    Unseen,
    /// Deleting; Eno says that it is reconciled.
    Reconciled,
    /// Deleting, without Eno's finalizer.
    Finished,
}

const LIVES: [Life; 4] = [Life::Live, Life::Unseen, Life::Reconciled, Life::Finished];

/// How a composition uses the slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Not,
    Current,
    Previous,
    /// A synthesis in flight that the slice may be of.
    InFlight,
    /// A synthesis in flight that began after the slice was made.
    NewerInFlight,
}

const USES: [Use; 5] = [Use::Not, Use::Current, Use::Previous, Use::InFlight, Use::NewerInFlight];

/// Whom the slice names as its composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    Missing,
    Is,
    /// Another uid than that of the composition of its name.
    Replaced,
}

/// All of them.
pub fn all() -> Vec<Dump> {
    let mut all = vec![];
    // Alone: whoever owns the slice, in each state of it.
    for owner in [Owner::Nobody, Owner::Missing, Owner::Is, Owner::Replaced] {
        for life in LIVES {
            for used in USES {
                for deleted in [1, 2] {
                    let title = format!("{owner:?} {life:?} {used:?}, {deleted} of 2 resources deleted");
                    all.push(dump(title, owner, deleted, vec![composition("web", life, used)]));
                }
            }
        }
    }
    // Beside another that refers to the slice.
    for owner in [Owner::Missing, Owner::Is] {
        for (life, used) in LIVES.into_iter().flat_map(|life| USES[..4].iter().map(move |used| (life, *used))) {
            for other in LIVES.into_iter().flat_map(|life| [Use::Current, Use::Previous].map(|used| (life, used))) {
                let title = format!("{owner:?} {life:?} {used:?}, beside {other:?}");
                let compositions = vec![composition("web", life, used), composition("other", other.0, other.1)];
                all.push(dump(title, owner, 2, compositions));
            }
        }
    }
    all
}

fn dump(title: String, owner: Owner, deleted: usize, compositions: Vec<Value>) -> Dump {
    let named = match owner {
        Owner::Nobody => None,
        Owner::Missing => Some(("gone", "uid-gone")),
        Owner::Is => Some(("web", "uid-web")),
        Owner::Replaced => Some(("web", "uid-of-before")),
    };
    let owners = named.map(|(name, uid)| {
        json!([{"apiVersion": ENO_API_VERSION, "kind": "Composition", "name": name, "uid": uid, "controller": true}])
    });
    let state = |index| json!({"reconciled": true, "deleted": index < deleted});
    let slice = json!({
        "apiVersion": ENO_API_VERSION, "kind": "ResourceSlice",
        "metadata": {
            "name": SLICE, "uid": "uid-slice", "creationTimestamp": NOW, "finalizers": [CLEANUP_FINALIZER],
            "ownerReferences": owners,
        },
        "spec": {"synthesisUUID": "a", "resources": [{"manifest": "{}"}, {"manifest": "{}"}]},
        "status": {"resources": [state(0), state(1)]},
    });
    Dump { title, slice, compositions }
}

fn composition(name: &str, life: Life, used: Use) -> Value {
    let finalizers = if life == Life::Finished { vec![] } else { vec![CLEANUP_FINALIZER] };
    let deleted = (life != Life::Live).then_some(NOW);
    let observed = if life == Life::Unseen { 1 } else { 2 };
    let lists = |synthesis: Use| if used == synthesis { json!([{"name": SLICE}]) } else { json!([]) };
    let mut status = json!({
        "currentSynthesis": {
            "uuid": "b", "initialized": LONG_AGO, "reconciled": LONG_AGO, "observedCompositionGeneration": observed,
            "resourceSlices": lists(Use::Current),
        },
        "previousSynthesis": {"uuid": "a", "initialized": LONG_AGO, "resourceSlices": lists(Use::Previous)},
    });
    let in_flight = match used {
        Use::Not | Use::Current | Use::Previous => None,
        // A second past the margin for two clocks, and at it.
        Use::NewerInFlight => Some("2026-05-04T08:00:31Z"),
        Use::InFlight => Some("2026-05-04T08:00:30Z"),
    };
    if let Some(initialized) = in_flight {
        status["inFlightSynthesis"] = json!({"uuid": "c", "initialized": initialized, "attempts": 1});
    }
    json!({
        "apiVersion": ENO_API_VERSION, "kind": "Composition",
        "metadata": {
            "name": name, "uid": format!("uid-{name}"), "generation": 2, "finalizers": finalizers,
            "deletionTimestamp": deleted,
        },
        "spec": {"synthesizer": {"name": "none"}},
        "status": status,
    })
}
