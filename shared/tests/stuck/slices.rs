//! Slices.

use crate::*;

pub fn states_of_slices() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let held = slice("web-a", content(2, 1));
    let with = |content| slice("web-a", content);
    let mut unseen = going();
    unseen.metadata.generation += 1;
    let mut ignoring = staying();
    ignoring.metadata.annotations.insert(IGNORE_SIDE_EFFECTS.into(), "true".into());
    let mut unowned = held.clone();
    unowned.metadata.owner_references.clear();
    let mut foreign = held.clone();
    foreign.metadata.finalizers = vec!["a/b".into()];
    let mut garbage = held.clone();
    garbage.metadata.deletion_timestamp = None;
    let mut kept = garbage.clone();
    kept.metadata.name = "web-b".into();
    vec![
        state("kept", of_slice(&kept, &[going()], None), &[]),
        state("garbage", of_slice(&garbage, &[], None), &["NobodyActs"]),
        state("owner gone", of_slice(&held, &[], None), &["NobodyActs"]),
        state("owner unknown", slice_blockers_unknown(&held), &[]),
        state("resources left", of_slice(&held, &[going()], None), &["ResourcesLeft"]),
        state("no state", of_slice(&with(stateless(2)), &[going()], None), &["NoReconcilerSeen"]),
        state(
            "all deleted, the composition at work",
            of_slice(&with(content(3, 3)), &[going()], None),
            &["NotReconciled"],
        ),
        state("states do not match", of_slice(&mismatched(), &[going()], None), &["StatusMismatch"]),
        state("deletion not seen", of_slice(&held, &[unseen], None), &["DeletionNotObserved"]),
        state("in flight", of_slice(&held, &[in_flight(staying())], None), &["SynthesisInFlight"]),
        state("live owner", of_slice(&held, &[staying()], Some(false)), &["ResynthesisNeeded"]),
        state(
            "live owner, namespace going",
            of_slice(&held, &[staying()], Some(true)),
            &["ResynthesisNeeded", "NamespaceTerminating"],
        ),
        state("live owner that ignores", of_slice(&held, &[ignoring], None), &["SideEffectsIgnored"]),
        state("no owner", of_slice(&unowned, &[], None), &["NoOwner"]),
        state("finalizer of others", of_slice(&foreign, &[], None), &["ForeignFinalizer"]),
    ]
}

fn mismatched() -> ResourceSlice {
    let mut slice = slice("web-a", content(1, 1));
    if let Content::Read { resources, .. } = &mut slice.content {
        *resources = 2;
    }
    slice
}

fn slice_blockers_unknown(slice: &ResourceSlice) -> Vec<Blocker> {
    let unknown = Compositions::partial([], "403");
    slice_blockers(slice, &judge(slice, &unknown, now()), &unknown, None)
}
